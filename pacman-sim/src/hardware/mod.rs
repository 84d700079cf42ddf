//! The performance-monitoring registers of one core, as a model.
//!
//! A [`CorePmu`] holds the registers of all hardware contexts of a core and counts what
//! they are programmed for while [time passes](CorePmu::pass). It knows no operating
//! system, takes no lock and reads no clock: the same calls give the same counts. What
//! is programmed wrongly counts nothing, or something else, and a register write that
//! the processor would refuse is a [`Fault`].
//!
//! ```
//! use pacman_sim::hardware::{Activity, CorePmu, Ring, Slice};
//! use pacman_events::CpuModel;
//!
//! let mut core = CorePmu::new(CpuModel::named("skl").unwrap(), 2).unwrap();
//! core.write(0, 0x38d, 0x2)?; // fixed counter 0, instructions, in user mode
//! core.write(0, 0x38f, 1 << 32)?;
//! let slice = Slice { instructions: 700, ..Slice::of(Ring::User, 1000) };
//! core.pass(&[Activity::Active(slice), Activity::Halted { reference: 1000 }]);
//! assert_eq!(core.rdpmc(0, 1 << 30)?, 700);
//! assert_eq!(core.rdpmc(1, 1 << 30)?, 0);
//! # Ok::<(), pacman_sim::hardware::Fault>(())
//! ```
//!
//! # How a counter hears an occurrence
//! Everything that happens has the form of the selection that sees it, a [`Signal`]. A
//! counter hears a signal if both have the same event and the same filter (counter mask,
//! inversion, edge; on NetBurst threshold, complement, edge), and share a bit of the unit
//! mask or have the same one; that is so too where a unit mask is a code and not bits,
//! which no register tells. Filters are not computed: an occurrence of "three or more
//! uops in a cycle" is a signal of its own. An event that only some counters can count is
//! heard by those alone, as the event tables have it.
//!
//! # What is left out
//! Interrupts, PEBS and LBR, transactions (the selector bits of TSX fault, as where it is
//! disabled), topdown metrics (`PERF_METRICS`), cascaded NetBurst counters (the bits can
//! be written and start nothing), and AMD's counters outside the core.

mod access;
mod activity;
mod amd;
mod clock;
mod clocks;
mod core_pmu;
mod counter;
mod encoded;
mod intel;
mod intrinsic;
mod netburst;
mod rules;
mod select;
mod signal;
#[cfg(test)]
mod tests;

pub use access::Fault;
pub use activity::{Activity, Ring, Slice};
pub use clock::Clock;
pub use core_pmu::{Changed, CorePmu};
pub use select::Select;
pub use signal::{NetBurstSignal, Signal, Upstream};
