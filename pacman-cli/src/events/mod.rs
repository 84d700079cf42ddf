//! `pacman-pmu list` and `pacman-pmu encode`: what events there are, and what each is
//! to the hardware.

mod encode;
mod json;
mod list;
mod register;
mod tables;
#[cfg(test)]
mod tests;

pub(crate) use encode::{EncodeArgs, encode};
pub(crate) use json::refusal;
pub(crate) use list::{ListArgs, list};
pub(crate) use tables::{Loaded, Tables};
