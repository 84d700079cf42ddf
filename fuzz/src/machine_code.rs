//! The reader of machine code, compiled from its sources.
//!
//! `pacman-omp` is no dependency: a program that links with it has its OpenMP calls interposed.

#[allow(unused_imports)]
#[path = "../../pacman-omp/src/code/mod.rs"]
mod reader;

pub(crate) use reader::{Calls, Code, Tables, called_function, prove, prove_function};
