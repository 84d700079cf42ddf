//! Metrics as text, so that users can add their own in a file.
//!
//! Each line of a file defines one metric. Its parts are name, unit, expression, description and
//! optionally a source, separated by `|`. A line that begins with `#` is a comment.
//!
//! ```text
//! # name       | unit                 | expression                       | text
//! ipc          | instructions / cycle | INSTRUCTIONS / CYCLES            | how much a cycle does
//! wide-issue   | 1                    | UOPS_ISSUED.ANY:c=4 / CYCLES     | cycles that issue four
//! faults       | faults per second    | "page-faults" * 1e9 / NANOSECONDS | how often memory is missing
//! ```
//!
//! An expression has numbers, `+ - * /`, parentheses, functions and names. The functions are `min(…)`,
//! `max(…)` and `part(A, B)`: A over B, without a value where the part is more than the whole.
//!
//! - A **bare name** begins with a letter or `_`, followed by letters, digits and `_ . : =`. So it
//!   includes modifiers (`UOPS_ISSUED.ANY:c=1`), but no hyphen: `A-B` subtracts.
//! - A **quoted name** stands between two `"` and may have other characters:
//!   `"task-clock"`, `"cpu/event=0x3c,umask=0/u"`.
//! - Four names mean quantities, not events: `TSC` (ticks of the time stamp counter over the
//!   sample), `NANOSECONDS` (the sample's length), `BASE_HZ` (the frequency of the TSC) and
//!   `CONTEXTS` (the contexts of the core that ran all the time of the sample). The value of a core
//!   comes from the sums over these contexts.
//!
//! The value of a metric is finite and at least 0. Otherwise there is an error with the reason. [`Applied`]
//! computes metrics over the rows of a table.

mod alternatives;
mod applied;
mod builtin;
mod check;
mod count;
mod evaluate;
mod expression;
mod file;
mod metric;
mod parse;
mod token;

#[cfg(test)]
mod tests;

pub use self::alternatives::one_of_each_name;
pub use self::applied::Applied;
pub use self::builtin::{builtin, named, of_any_event};
pub use self::check::Countable;
pub use self::count::{Count, Figure};
pub use self::expression::Expression;
pub use self::metric::Metric;
