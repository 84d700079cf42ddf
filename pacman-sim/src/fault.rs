//! Faults to inject into a simulated machine.

/// A fault at one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The call fails with this `errno`, if it can fail with it.
    Errno(i32),
    /// The thread is preempted. Another program runs that many instructions on its context, and the
    /// thread's events return on other counters if possible.
    Preempt(u64),
    /// The thread is moved to another hardware context.
    Migrate(u32),
    /// Another tool takes every counter of the thread's context permanently.
    Steal,
    /// Sets every counter of the thread's context to this number of events before its wrap.
    NearWrap(u64),
    /// The sibling context, or the named one, goes offline.
    Unplug(u32),
}

/// The planned faults, by the number of their call.
#[derive(Debug, Default)]
pub(super) struct Faults {
    calls: u64,
    planned: Vec<(u64, Fault)>,
    /// The calls that enable or disable a group, which change event sets.
    switches: u64,
    planned_at_switch: Option<(u64, Fault)>,
}

impl Faults {
    /// Plans `fault` for the call after `calls` more.
    pub(super) fn plan(&mut self, calls: u64, fault: Fault) {
        self.planned.push((self.calls + calls, fault));
    }

    /// Plans `fault` for the call after `switches` more that enable or disable a group.
    pub(super) fn plan_at_switch(&mut self, switches: u64, fault: Fault) {
        self.planned_at_switch = Some((self.switches + switches, fault));
    }

    /// Counts one more call that enables or disables a group, and returns its fault.
    pub(super) fn next_switch(&mut self) -> Option<Fault> {
        let switch = self.switches;
        self.switches += 1;
        self.planned_at_switch.take_if(|(when, _)| *when == switch).map(|(_, fault)| fault)
    }

    /// The number of calls so far.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    /// Counts one more call, and returns its fault.
    pub(super) fn next(&mut self) -> Option<Fault> {
        let call = self.calls;
        self.calls += 1;
        let at = self.planned.iter().position(|(when, _)| *when == call)?;
        Some(self.planned.swap_remove(at).1)
    }

    /// Whether every planned fault has happened.
    pub(super) fn all_met(&self) -> bool {
        self.planned.is_empty() && self.planned_at_switch.is_none()
    }
}
