//! Proves from a region's machine code that thread numbers serve only its static loops.
//!
//! [`prove`] answers the questions for numbers that are proved to do so. [The
//! proof](https://docs.rs/crate/pacman-omp/latest/source/src/code/README.md) is beside the code.

mod arithmetic;
mod callee;
mod exceptions;
mod frame;
mod graph;
mod instructions;
mod interpreter;
mod operands;
mod proof;
mod state;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use callee::{Callee, Code, Tables};
pub(crate) use graph::Unproved;
pub(crate) use proof::prove;
