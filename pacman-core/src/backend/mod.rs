//! The interface between a session and the driver that counts for it. Only this library and its
//! command use it: it may change at any time.
//!
//! A [`Backend`] opens [`Counters`] for one thread, and the thread reads them. Differences between
//! backends are data ([`Caps`]), so no code asks for a backend's name.

pub(crate) mod beside;
mod counting;
mod forks;
pub mod msr;
pub mod perf;
pub(crate) mod summed;

pub use crate::seam::Target;
pub use counting::{
    Backend, Caps, Counters, EventSums, MAX_EVENTS, NoUserReads, ReadPath, Reading,
};
pub(crate) use counting::{add_differences, too_many, without_last_zeros};
pub use forks::install_atfork;
