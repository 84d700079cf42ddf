//! Proves from a region's machine code that thread numbers serve only its static loops.
//!
//! [`prove`] answers the questions for numbers that are proved to do so. `README.md` beside this file has
//! the proof.

mod arithmetic;
mod callee;
mod exceptions;
mod frame;
mod graph;
mod instructions;
mod interpreter;
mod later;
mod operands;
mod operation;
mod program;
mod proof;
mod reach;
mod registers;
mod state;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use callee::{Code, Tables};
pub(crate) use graph::Unproved;
pub(crate) use proof::{prove, prove_function};
pub(crate) use reach::{Calls, called_function};
