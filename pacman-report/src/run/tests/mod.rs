//! The runs of the tests.

pub(crate) mod made;
