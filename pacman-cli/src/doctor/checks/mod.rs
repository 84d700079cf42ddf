//! The events that this process can count on this machine, and the obstacles to others.
//!
//! Settings alone do not decide. Every kind of event is opened for the calling thread as a session
//! opens it, and must count. Settings only explain what failed, because one `errno` has many
//! causes.
//!

mod cause;
mod diagnosis;
mod examine;
mod finding;
mod hypervisor;
mod limits;
mod recorder;
mod remedy;
mod surroundings;
#[cfg(test)]
mod tests;
mod trial;

pub(crate) use cause::Cause;
pub(crate) use diagnosis::{Diagnosis, Verdict};
#[cfg(test)]
pub(crate) use finding::Check;
pub(crate) use finding::{Finding, Help, Outcome};
#[cfg(test)]
pub(crate) use surroundings::Limits;
