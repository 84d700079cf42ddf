//! A model of one core's performance-monitoring registers.
//!
//! A [`CorePmu`] has the registers of all hardware contexts of a core, and counts the programmed
//! events while [time passes](CorePmu::pass). It calls no operating system, takes no lock and reads
//! no clock, so the same calls give the same counts. A wrongly programmed counter counts nothing or
//! another event. A register write that the processor would refuse is a [`Fault`].
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
//! # The match of signals and counters
//! Each occurrence is a [`Signal`], which has the form of a counter's selection. A counter counts a
//! signal if both have the same event and filter, and if their unit masks are equal or share a bit.
//! The filter is counter mask, inversion and edge; on NetBurst it is threshold, complement and
//! edge. The rule for unit masks is the same if the mask is a code and not bits, because no
//! register shows the difference. The model does not compute filters: an occurrence of "three or
//! more uops in a cycle" is another signal than one of "uops". The event tables say which counters
//! can count an event, and other counters do not count it.
//!
//! # Limits of the model
//! The model lacks interrupts, PEBS and LBR, and AMD's counters outside the core. It lacks transactions: the selector bits of TSX fault, as on processors with
//! TSX disabled. It lacks cascaded NetBurst counters: their bits can be written and have no effect.

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
