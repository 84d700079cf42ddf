//! Rows that are in memory.

/// Rows, as a reader of their columns sees them.
#[derive(Debug)]
pub struct Rows<T>(pub(crate) Vec<T>);
