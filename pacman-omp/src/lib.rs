//! `libpacman_omp.so`: preloaded into a program that was built without it, the library counts
//! what every thread does in every parallel region, and chooses how many threads a region gets.
//!
//! `pacman-pmu run -- ./app` sets it up; `pacman_regions` has what passes between the two. The
//! way of an execution through the modules:
//!
//! 1. [`entry`]: the program calls the runtime (libgomp or libomp) and finds this library's
//!    function of that name. [`runtime`] knows the real one, and [`callers`] whose it is.
//! 2. [`region`] finds the region by the function that the compiler made of its body.
//! 3. [`adapt`] may choose another number of threads, unless one of its guards forbids it.
//! 4. [`team`] has the real runtime start the team with a body of ours around the program's.
//! 5. [`worker`]: each thread of the team counts its own begin and end there, into rows of its
//!    own ([`rows`]); no lock, no allocation, no system call where RDPMC works.
//! 6. [`arena`]: the rows, and what [`recording`] tells of regions, are in memory that outlives the
//!    process, so that nothing is left to do at its end ([`process`]).
//!
//! Nothing here writes to the program's standard output, or to its standard error but for the one line
//! that nothing can be recorded; whatever fails leaves the program running as if the library were not
//! there.
//!
//! On processors other than x86-64 the library is empty: its entries pass arguments on that no
//! stable Rust can name, and do so in assembly.
#![cfg(target_arch = "x86_64")]
// Entries have the runtimes' names, and their contracts are the runtimes'.
#![allow(clippy::missing_safety_doc)]
// A library without a Rust interface: who reads this page works on it.
#![allow(rustdoc::private_intra_doc_links)]

mod adapt;
mod arena;
mod counting;
mod entry;
mod fork;
mod function;
mod heap;
mod interpose;
mod isolation;
mod module;
mod nesting;
mod process;
mod recording;
mod region;
mod rows;
mod runtime;
mod sanitizers;
mod team;
mod tls;
mod worker;
mod worksharing;

use pacman_core::floating;
