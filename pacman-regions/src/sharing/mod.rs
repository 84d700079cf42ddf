//! How programs divide the contexts of a machine among themselves.
//!
//! Each process that takes part has a slot in a [`Table`], a file in memory that the processes of one user
//! map. It contains the contexts that the process may use, and the number of threads that it wants. Every
//! process computes the same [`shares`] from that, so none has to ask another. A process that was killed is found by its number
//! and start.

mod fairness;
mod table;

pub use fairness::shares;
pub use table::{Mask, Member, Owner, Table};
