//! The report for trace viewers, in the Chrome trace event format.

mod document;
mod event;
mod executions;
mod phases;
mod pids;
mod rates;
#[cfg(test)]
mod tests;
mod timeline;
mod totals;

pub(super) use document::{stream, write};
