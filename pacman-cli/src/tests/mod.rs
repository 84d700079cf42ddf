//! The parts that tests of several commands share, and documents against their schemas and the manual.

pub(crate) mod platform;
pub(crate) mod schemas;
pub(crate) mod snapshot;
