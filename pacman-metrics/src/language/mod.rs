//! Metrics as text, so that a user adds one in a file.
//!
//! A file has one metric a line: name, unit, expression, a line of text and, if there is one, a
//! source, separated by `|`. What follows a `#` at the begin of a line says nothing.
//!
//! ```text
//! # name       | unit                 | expression                       | text
//! ipc          | instructions / cycle | INSTRUCTIONS / CYCLES            | how much a cycle does
//! wide-issue   | 1                    | UOPS_ISSUED.ANY:c=4 / CYCLES     | cycles that issue four
//! faults       | faults per second    | "page-faults" * 1e9 / NANOSECONDS | how often memory is missing
//! ```
//!
//! An expression has numbers, `+ - * /`, parentheses, `min(…)` and `max(…)`, and names:
//!
//! - A **bare name** begins with a letter or `_` and goes on over letters, digits and `_ . : =`,
//!   so modifiers belong to it (`UOPS_ISSUED.ANY:c=1`) and a hyphen does not: `A-B` subtracts.
//! - A **quoted name** is whatever stands between two `"`, for names with other signs in them:
//!   `"task-clock"`, `"cpu/event=0x3c,umask=0/u"`.
//! - Three names are no events: `TSC` (ticks of the time stamp counter over the sample),
//!   `NANOSECONDS` (its length) and `BASE_HZ` (the frequency at which the TSC ticks).
//!
//! A metric has a value of 0 or more, or it has none and says why: nothing comes out infinite.

mod builtin;
mod check;
mod evaluate;
mod expression;
mod file;
mod metric;
mod parse;
mod token;

#[cfg(test)]
mod tests;

pub use self::builtin::builtin;
pub use self::check::Countable;
pub use self::expression::Expression;
pub use self::metric::Metric;
