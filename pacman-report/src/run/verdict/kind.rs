//! The kinds of loss that a verdict names.

use pacman_regions::Cause;

use crate::run::report::{Factor, Reason, ThreadState};

/// The greatest cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum Kind {
    /// Other programs took the processors.
    Busy,
    /// More threads than contexts.
    Crowded,
    /// Threads share cores, and others do not or cores have no thread.
    SharedCores,
    /// Siblings take each other's issue slots.
    Contention,
    Serial,
    Imbalance,
    /// Waits that have a remedy of their own.
    Wait(&'static ThreadState),
    /// Losses that all threads have alike.
    Common,
    /// Nothing costs much.
    Little,
}

impl Kind {
    /// The name in JSON.
    pub(in crate::run) fn word(self) -> &'static str {
        match self {
            Kind::Busy => "busy-machine",
            Kind::Crowded => "more-threads-than-contexts",
            Kind::SharedCores => "shared-cores",
            Kind::Contention => "smt-contention",
            Kind::Serial => "serial",
            Kind::Imbalance => "imbalance",
            Kind::Wait(state) => state.name,
            Kind::Common => "common",
            Kind::Little => "little",
        }
    }

    /// The kind of waiting for that reason, of the part that not all threads have or all have.
    pub(super) fn of(reason: Reason, is_uneven: bool) -> Kind {
        let cause = match reason {
            Reason::Start => return Kind::Common,
            Reason::End => None,
            Reason::Site(_, cause) => Some(cause),
        };
        let state = cause.map(ThreadState::of).filter(|state| state.blame.is_some());
        match state {
            Some(state) => Kind::Wait(state),
            None if is_uneven => Kind::Imbalance,
            None => Kind::Common,
        }
    }

    /// Whether threads that meet wait for one that has waited so.
    pub(super) fn is_passed_on(self) -> bool {
        matches!(self, Kind::Wait(state) if state.blame.as_ref().is_some_and(|blame| blame.is_passed_on))
    }

    /// The subject of the sentence.
    pub(super) fn subject(self) -> &'static str {
        match self {
            Kind::Serial => "Serial code",
            Kind::Imbalance => "Uneven work",
            Kind::Wait(ThreadState { blame: Some(blame), .. }) => blame.subject,
            _ => "Starting threads and letting them meet",
        }
    }

    /// The factor of the efficiency tree whose advice fits.
    pub(super) fn factor(self) -> Factor {
        match self {
            Kind::Serial => Factor::Serialization,
            Kind::Wait(state) if *state == *ThreadState::of(Cause::Mpi) => Factor::Mpi,
            Kind::Common => Factor::Scheduling,
            _ => Factor::LoadBalance,
        }
    }
}
