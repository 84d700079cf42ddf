//! The report for monitoring systems, as OpenMetrics text.

mod document;
mod family;
mod sample;
#[cfg(test)]
mod tests;

pub(super) use document::{stream, write};
