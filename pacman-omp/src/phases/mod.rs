//! Phases that the program marks by calls of an interface for tools: Kokkos', LIKWID's, PAPI's or PACMAN's
//! own.
//!
//! A phase belongs to the thread that begins it. Its times and counts are of that thread alone. Phases
//! may be inside each other or overlap, and may be inside regions or around them. The kernels of Kokkos
//! also give the regions inside them their labels. [`marks`](crate::marks) begins and ends them.

pub(crate) mod kernels;
pub(crate) mod names;
mod state;

pub(crate) use names::Mark;
pub(crate) use state::{PhaseState, Phases};
