//! The functions that the program finds instead of its runtime's.
//!
//! Most start a team ([`gomp`], [`kmpc`]). The library only watches the others. These are calls that matter to a
//! decision ([`watched`]), such as the ways out of the process. Calls in which threads wait, and those that create tasks, can be timed
//! ([`barriers`], [`waits`], [`tasks`]), and so can calls of MPI ([`mpi`]). Programs mark
//! phases by calls of Kokkos ([`kokkos`]) and of other tools ([`markers`]), and by sessions of PACMAN
//! ([`phases`]). Modules come to their end in [`unloads`].

// `stub.rs` finds them by their symbols; no code of this crate calls them. They have the names of the functions
// that they stand for, and symbols of their own: calls of the C library in this file must never come to one.
#![allow(unreachable_pub, non_snake_case)]

mod barriers;
mod call;
mod forward;
mod gomp;
mod kmpc;
mod kokkos;
mod markers;
mod mpi;
mod ompt;
mod ompt_waits;
mod phases;
mod tasks;
mod unloads;
mod waits;
mod watched;

pub(crate) use kokkos::settle_tool;
