//! Whether a call in which threads may wait was a wait.
//!
//! A wait is what the runtime makes a thread wait: the thread sleeps or spins in the call. A thread that does
//! neither works, however long other threads have its processor meanwhile.

use pacman_regions::Cause;

use super::processor::Doings;
use super::roots;

/// The threads for which a thread may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Company {
    /// Its team has other members.
    pub(crate) is_team: bool,
    /// Its region is inside of another.
    pub(crate) is_nested: bool,
    /// The runtime may yield the processor while it waits, so that a switch does not tell whether it waited.
    pub(crate) yields: bool,
}

/// The most nanoseconds that a thread ran which was in a call without waiting: up to
/// [`LEAST`](super::processor::LEAST) ticks of work before it, the call, and a switch to another thread.
const MOST_FREE: u64 = 40_000;

impl Company {
    /// Nothing is known.
    pub(crate) const ANY: Company = Company { is_team: true, is_nested: true, yields: true };

    /// Whether another thread may make the thread wait at such a construct. A team of one meets nobody at its
    /// own constructs. All threads of the process share locks.
    pub(super) fn can_wait(self, cause: Cause) -> bool {
        match cause {
            Cause::Mpi => true,
            Cause::Critical | Cause::Lock | Cause::Atomic => {
                self.is_team || self.is_nested || roots::are_several()
            }
            _ => self.is_team,
        }
    }

    /// Whether the thread waited in a call, by what it did since shortly before. `None` of a call that was too
    /// short to ask the kernel.
    pub(super) fn waited(self, cause: Cause, doings: Option<Doings>) -> bool {
        let can_wait = self.can_wait(cause);
        let Some(Doings { ran, switches }) = doings.filter(|_| cause != Cause::Mpi) else {
            return can_wait;
        };
        // A thread that spins loses the processor at the end of its time slice only, or again and again.
        let was_free = switches.involuntary == 1 && ran < MOST_FREE && !self.yields;
        switches.voluntary > 0 || can_wait && !was_free
    }
}

#[cfg(test)]
mod tests {
    use super::super::thread_clock::Switches;
    use super::*;

    const TEAM: Company = Company { is_team: true, is_nested: false, yields: false };
    const ALONE: Company = Company { is_team: false, ..TEAM };

    fn doings(ran: u64, voluntary: u64, involuntary: u64) -> Option<Doings> {
        Some(Doings { ran, switches: Switches { voluntary, involuntary } })
    }

    #[test]
    fn a_team_of_one_waits_for_nobody() {
        for cause in Cause::ALL.iter().copied().filter(|cause| *cause != Cause::Mpi) {
            assert!(!ALONE.waited(cause, None), "{cause:?}");
            assert!(!ALONE.waited(cause, doings(9_000, 0, 1)), "{cause:?} and a busy machine");
            assert!(!ALONE.waited(cause, doings(900_000, 0, 0)), "{cause:?} and a first call");
            assert!(ALONE.waited(cause, doings(9_000, 1, 0)), "{cause:?}: a detached task");
            assert!(TEAM.waited(cause, None), "{cause:?}");
        }
        let nested = Company { is_nested: true, ..ALONE };
        assert!(nested.waited(Cause::Critical, None) && !nested.waited(Cause::Barrier, None));
        assert!(ALONE.waited(Cause::Mpi, None), "for other processes");
    }

    #[test]
    fn a_free_lock_of_a_thread_without_a_processor_is_no_wait() {
        assert!(!TEAM.waited(Cause::Lock, doings(9_000, 0, 1)));
        assert!(TEAM.waited(Cause::Lock, doings(9_000, 1, 1)), "it slept");
        assert!(TEAM.waited(Cause::Lock, doings(2_000_000, 0, 1)), "it span");
        assert!(TEAM.waited(Cause::Lock, doings(20_000, 0, 0)), "it span for a short time");
        let yielding = Company { yields: true, ..TEAM };
        assert!(yielding.waited(Cause::Lock, doings(9_000, 0, 1)), "it may have yielded");
        assert!(TEAM.waited(Cause::Mpi, doings(9_000, 0, 1)), "its time is that in MPI");
    }
}
