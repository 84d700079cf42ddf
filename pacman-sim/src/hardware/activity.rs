//! The activity of a hardware context while time passes.

use super::signal::Signal;

/// The activity of one hardware context in a stretch of time.
#[derive(Clone, Copy, Debug)]
pub enum Activity<'a> {
    /// It ran.
    Active(Slice<'a>),
    /// It did not.
    Halted {
        /// TSC ticks that went by.
        reference: u64,
    },
}

/// The work of a context that ran.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    /// The privilege ring it ran in, all the time.
    pub ring: Ring,
    /// Instructions that it retired.
    pub instructions: u64,
    /// Core clock cycles in which it was not halted.
    pub core_cycles: u64,
    /// The same time in TSC ticks.
    pub reference_cycles: u64,
    /// TSC ticks that went by.
    pub reference: u64,
    /// The other signals, with the number of their occurrences. A signal that the fields above have
    /// ([`Signal::Instructions`], [`Signal::Clock`]) is ignored here.
    pub signals: &'a [(Signal, u64)],
}

/// A privilege ring, as counters distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ring {
    /// CPL 0.
    Kernel,
    /// CPL 1 to 3.
    User,
}

impl<'a> Slice<'a> {
    /// `reference` TSC ticks of running in `ring`, at the TSC's frequency, in which
    /// nothing else happened.
    pub fn of(ring: Ring, reference: u64) -> Slice<'a> {
        Slice {
            ring,
            instructions: 0,
            core_cycles: reference,
            reference_cycles: reference,
            reference,
            signals: &[],
        }
    }
}

impl<'a> Activity<'a> {
    /// Its work, if it ran.
    pub(super) fn slice(&self) -> Option<&Slice<'a>> {
        match self {
            Activity::Active(slice) => Some(slice),
            Activity::Halted { .. } => None,
        }
    }
}
