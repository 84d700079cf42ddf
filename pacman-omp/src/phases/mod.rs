//! Phases that the program marks by calls of another tool's interface: Kokkos', LIKWID's or PAPI's.
//!
//! A phase belongs to the thread that begins it. Its times and counts are of that thread alone. Phases
//! may be inside each other or overlap, and may be inside regions or around them. The kernels of Kokkos
//! also give the regions inside them their labels.

mod kernels;
mod labels;
mod marks;
pub(crate) mod names;
mod state;

pub(crate) use labels::labelled;
pub(crate) use marks::{End, begin, end};
pub(crate) use state::PhaseState;
