//! The engine of `libpacman_omp.so`, which is preloaded into unmodified programs, counts the work of every
//! thread in every parallel region, and chooses how many threads a region gets.
//!
//! `pacman-pmu run -- ./app` sets it up; `pacman_regions` has the protocol between the two. The preloaded library
//! (`stub/stub.c`) loads this one where there is something to observe ([`stub`]). An
//! execution passes these modules:
//!
//! 1. [`entry`]: the program calls its runtime (libgomp or libomp) and finds the preloaded library's function of
//!    that name, which jumps to this library's. [`interpose`] finds the runtime of the caller, and [`runtime`] has the real function.
//! 2. [`region`] finds the region by the compiler's function for its body.
//!    [`team::Decision`] says what is done with the execution, of the [`plan`] of the process.
//! 3. [`adapt`] may choose another number of threads, if the user allows it.
//! 4. [`execution`] lets the real runtime start the [`team`]. The team runs this library's body, which calls
//!    the program's.
//! 5. [`worker`]: each thread of the team reads its counters before and after the program's body, and
//!    adds the difference to its own rows ([`rows`]). It takes no lock and allocates nothing. With
//!    RDPMC it makes no system call.
//!    Where events do not fit at once, [`set_rotation`] changes the event set from part to part.
//!    With an overhead budget [`sampling`] chooses the executions of short regions that are timed.
//!    On request, or for adaptation, [`waits`] times the waits inside the part. [`marks`] does the same
//!    for [`phases`] that the program marks by calls of Kokkos, LIKWID, PAPI or PACMAN's own sessions. For traces
//!    [`execution_log`] keeps the first single executions.
//! 6. [`arena`]: memory that outlives the process holds the rows and the facts of regions
//!    ([`recording`]). So the end of the process has little left to do ([`lifecycle`]).
//!
//! State is below, behaviour above: [`process`], [`region`], [`team`] and [`worker`] hold state, of which [`adapted`],
//! [`packing`], [`phases`] and [`waits`] define parts. [`adapt`], [`marks`] and [`execution`] act on it. [`ending`],
//! [`entry`] and [`lifecycle`] are on top. Imports between modules have no cycle.
//!
//! The library writes nothing to the program's standard output. If it cannot record, it writes one
//! line to standard error. After any failure the program runs as if the library were not there.
//!
//! The library is empty on other processors than x86-64 and AArch64. Its entries pass on arguments that stable
//! Rust cannot name, so the entries are in assembly ([`arch`]).
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
// Entries have the names and the contracts of the runtimes' functions.
#![allow(clippy::missing_safety_doc)]
// The library has no Rust interface: only its developers read these pages.
#![allow(rustdoc::private_intra_doc_links)]

mod adapt;
mod adapted;
mod arch;
mod arena;
mod block_time;
mod counting;
mod defect;
mod ending;
mod energy;
mod entry;
mod execution;
mod execution_log;
mod first_region;
mod floating;
mod fork;
mod function;
mod heap;
mod interpose;
mod isolation;
mod lifecycle;
mod listed;
mod loaded;
mod lock;
mod machine;
mod mappings;
mod marks;
mod module;
mod nesting;
mod notes;
mod once;
mod packing;
mod phases;
mod plan;
mod process;
mod recording;
mod region;
mod rows;
mod runtime;
mod sampling;
mod scheduling;
mod scope;
mod seen;
mod set_rotation;
mod spin;
mod stub;
mod symbols;
mod team;
#[cfg(not(test))]
mod thread_exit;
mod tls;
mod unload;
mod unreached;
mod users;
mod waits;
mod worker;
