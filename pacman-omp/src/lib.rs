//! `libpacman_omp.so`, preloaded into an unmodified program, counts the work of every thread in every
//! parallel region, and chooses how many threads a region gets.
//!
//! `pacman-pmu run -- ./app` sets it up; `pacman_regions` has the protocol between the two. An
//! execution passes these modules:
//!
//! 1. [`entry`]: the program calls its runtime (libgomp or libomp) and finds this library's function of
//!    that name. [`runtime`] knows the real function, [`interpose`] the runtime of the caller.
//! 2. [`region`] finds the region by the compiler's function for its body.
//! 3. [`adapt`] may choose another number of threads, unless a guard forbids it.
//! 4. [`team`] has the real runtime start the team, with a body of ours around the program's.
//! 5. [`worker`]: each thread of the team counts its own begin and end there, into rows of its own
//!    ([`rows`]), without lock, allocation, or, with RDPMC, system call.
//! 6. [`arena`]: the rows, and the facts of regions ([`recording`]), are in memory that outlives the
//!    process, so that the end of the process has little left to do ([`lifecycle`]).
//!
//! State is below, behaviour above: [`process`], [`region`] and [`worker`] hold state that [`adapt`],
//! [`team`] and [`worksharing`] act on. [`lifecycle`] is on top. No two files import each other, in
//! however many steps.
//!
//! The library writes nothing to the program's standard output, and to standard error only the line
//! that recording is impossible. After any failure the program runs as if the library were not there.
//!
//! The library is empty on processors other than x86-64: its entries pass on arguments that stable
//! Rust cannot name, in assembly.
#![cfg(target_arch = "x86_64")]
// Entries have the names of the runtimes' functions, and their contracts.
#![allow(clippy::missing_safety_doc)]
// The library has no Rust interface, so its readers work on it.
#![allow(rustdoc::private_intra_doc_links)]

mod adapt;
mod arena;
mod counting;
mod entry;
mod first_region;
mod fork;
mod function;
mod heap;
mod interpose;
mod isolation;
mod lifecycle;
mod machine;
mod module;
mod nesting;
mod notes;
mod once;
mod process;
mod program;
mod recording;
mod region;
mod rows;
mod runtime;
mod sanitizers;
mod seen;
mod team;
mod tls;
mod worker;
mod worksharing;

use pacman_core::floating;
