//! Faults to inject into a simulated machine.

/// A fault at one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The call fails with this `errno`, if it is one that can.
    Errno(i32),
    /// The thread is preempted: another program runs that many instructions on its
    /// context, and the thread's events come back on other counters where they can.
    Preempt(u64),
    /// The thread is moved to another hardware context.
    Migrate(u32),
    /// Another tool takes every counter of the thread's context, and keeps it.
    Steal,
    /// Sets every counter of the thread's context to this number of events before its wrap.
    NearWrap(u64),
    /// The sibling context, or whichever one is named, is taken offline.
    Unplug(u32),
}

/// The faults to come, by the number of the call that meets them.
#[derive(Debug, Default)]
pub(super) struct Faults {
    calls: u64,
    planned: Vec<(u64, Fault)>,
}

impl Faults {
    /// Plans `fault` for the call after `calls` more.
    pub(super) fn plan(&mut self, calls: u64, fault: Fault) {
        self.planned.push((self.calls + calls, fault));
    }

    /// The number of calls so far.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    /// One more call; the fault that it meets.
    pub(super) fn next(&mut self) -> Option<Fault> {
        let call = self.calls;
        self.calls += 1;
        let at = self.planned.iter().position(|(when, _)| *when == call)?;
        Some(self.planned.swap_remove(at).1)
    }

    /// Whether every planned fault has happened.
    pub(super) fn all_met(&self) -> bool {
        self.planned.is_empty()
    }
}
