//! `pacman-pmu report`: the page of a report, or the history of many.

mod chain;
mod command;
mod json;
mod page;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use command::{ReportArgs, report};
#[cfg(test)]
pub(crate) use json::Document;
