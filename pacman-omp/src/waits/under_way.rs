//! A call in which a thread may wait, under way.

use pacman_regions::Cause;

/// A wait that has begun. Its end needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OpenWait {
    /// On request, with the return address of the call.
    Timed { begun: u64, cause: Cause, caller: u64 },
    /// For adaptation.
    Measured { begun: u64, cause: Cause },
}

/// A call in which the thread may wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnderWay {
    /// The stack address of the call; 0 if the thread works.
    pub(super) frame: usize,
    pub(super) cause: Cause,
    /// Since when the thread has been in the call, or has gone on with it after a task.
    pub(super) since: u64,
    /// The ticks of tasks, and of time in which the thread did not wait.
    pub(super) apart: u64,
    /// The thread has waited in it.
    pub(super) has_waited: bool,
}

/// The thread is in no such call.
pub(super) const WORKS: UnderWay =
    UnderWay { frame: 0, cause: Cause::Barrier, since: 0, apart: 0, has_waited: false };
