//! Lists of objects as columns: one object with a list for each member, so that names stand once.
//!
//! The type of a row defines its members. Text, reader and schema of the columns follow from it.

mod list;
mod read;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod tests;
mod write;

pub use list::Rows;
pub use write::Columns;
