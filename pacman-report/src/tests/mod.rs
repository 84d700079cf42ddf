//! Documents against their schemas and the manual.

pub(crate) mod schemas;
