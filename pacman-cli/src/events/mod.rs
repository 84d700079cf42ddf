//! `pacman-pmu list`, `encode` and `events`: the events of a processor, their encodings and their newer lists.

mod encode;
mod json;
mod list;
mod provenance;
mod register;
mod tables;
#[cfg(test)]
mod tests;
mod update;

pub(crate) use encode::{EncodeArgs, encode};
pub(crate) use json::refusal;
#[cfg(test)]
pub(crate) use json::{Answer, Refusal};
#[cfg(test)]
pub(crate) use list::{Event, Processor};
pub(crate) use list::{ListArgs, list};
pub(crate) use tables::{Loaded, Tables, model};
pub(crate) use update::{EventsArgs, events};
