//! The report for monitoring systems, as OpenMetrics text.

mod document;
mod family;
#[cfg(test)]
mod tests;

pub(super) use document::{stream, write};
