//! The counting seam: what a session asks of whatever counts for it.
//!
//! A [`Backend`] opens [`Counters`] for one thread; the thread reads them. What
//! differs between backends is data ([`Caps`]); nobody asks a backend's name.

pub(crate) mod beside;
mod counting;
mod forks;
pub mod msr;
pub mod perf;
mod rdpmc;
pub(crate) mod summed;

pub(crate) use counting::add_differences;
pub use counting::{Backend, Caps, Counters, EventSums, MAX_EVENTS, ReadPath, Reading, Target};
pub use forks::install_atfork;
