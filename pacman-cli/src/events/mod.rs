//! `pacman-pmu list` and `pacman-pmu encode`: the events of a processor and their encodings.

mod encode;
mod json;
mod list;
mod register;
mod tables;
#[cfg(test)]
mod tests;

pub(crate) use encode::{EncodeArgs, encode};
pub(crate) use json::refusal;
#[cfg(test)]
pub(crate) use json::{Answer, Refusal};
#[cfg(test)]
pub(crate) use list::{Event, Processor};
pub(crate) use list::{ListArgs, list};
pub(crate) use tables::{Loaded, Tables};
