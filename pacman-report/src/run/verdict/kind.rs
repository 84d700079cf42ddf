//! The kinds of loss that a verdict names.

use pacman_regions::Cause;

use crate::run::report::{Factor, Reason};

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
    Lock,
    Chunks,
    Ordered,
    Tasks,
    Mpi,
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
            Kind::Lock => "lock",
            Kind::Chunks => "chunks",
            Kind::Ordered => "ordered",
            Kind::Tasks => "tasks",
            Kind::Mpi => "mpi",
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
        match cause {
            Some(Cause::Critical | Cause::Atomic | Cause::Lock) => Kind::Lock,
            Some(Cause::Chunks) => Kind::Chunks,
            Some(Cause::Ordered) => Kind::Ordered,
            Some(Cause::Taskwait | Cause::Taskgroup) => Kind::Tasks,
            Some(Cause::Mpi) => Kind::Mpi,
            _ if is_uneven => Kind::Imbalance,
            _ => Kind::Common,
        }
    }

    /// The subject of the sentence.
    pub(super) fn subject(self) -> &'static str {
        match self {
            Kind::Serial => "Serial code",
            Kind::Imbalance => "Uneven work",
            Kind::Lock => "Waiting for a lock",
            Kind::Chunks => "Asking for chunks of loops",
            Kind::Ordered => "Waiting for an ordered part",
            Kind::Tasks => "Waiting for tasks",
            Kind::Mpi => "MPI",
            _ => "Starting threads and letting them meet",
        }
    }

    /// The factor of the efficiency tree whose advice fits.
    pub(super) fn factor(self) -> Factor {
        match self {
            Kind::Serial => Factor::Serialization,
            Kind::Mpi => Factor::Mpi,
            Kind::Common => Factor::Scheduling,
            _ => Factor::LoadBalance,
        }
    }
}
