//! Lists of objects as columns: one object with a list for each member, so that names stand once.
//!
//! The type of a row defines its members. Text, reader and schema of the columns follow from it.

mod read;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod tests;
mod write;

pub use write::Columns;

/// Rows that are in memory, as a reader of their columns sees them.
#[derive(Debug)]
pub struct Rows<T>(pub(crate) Vec<T>);
