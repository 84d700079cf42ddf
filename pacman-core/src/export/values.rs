//! Values that several formats write: a count or why there is none, and codes.

use crate::backend::ReadPath;
use crate::report::{CountReport, EventSetRotation, PhaseReport, Report, ThreadState};

/// The reason why a count is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// The group was enabled, but the kernel never let it count.
    NeverCounted,
    /// No execution has finished, so there is nothing to sum up.
    NotFinished,
    /// The row holds no such count.
    NotRecorded,
    /// Sets rotate, and no execution has counted the event's set yet.
    NotSampled,
}

impl Absent {
    /// The reason's word in JSON.
    pub(super) fn code(self) -> &'static str {
        match self {
            Absent::NeverCounted => "never-counted",
            Absent::NotFinished => "not-finished",
            Absent::NotRecorded => "not-recorded",
            Absent::NotSampled => "not-sampled",
        }
    }
}

/// The count of event number `event` in a row, or the reason why it is absent.
pub(super) fn count_of(row: &PhaseReport, event: usize) -> Result<&CountReport, Absent> {
    if row.executions == 0 {
        return Err(Absent::NotFinished);
    }
    let count = row.counts.get(event).ok_or(Absent::NotRecorded)?;
    if count.samples == 0 {
        return Err(Absent::NotSampled);
    }
    if count.value().is_none() {
        return Err(Absent::NeverCounted);
    }
    Ok(count)
}

/// The name of a phase. A report that was changed by hand may lack it.
pub(super) fn phase_name(report: &Report, phase: usize) -> &str {
    report.phases.get(phase).map_or("?", String::as_str)
}

/// The only set that counts an event; `None` if every set does.
pub(super) fn only_set(report: &Report, event: usize) -> Option<usize> {
    let mut sets = (0..report.sets.len()).filter(|set| report.sets[*set].events.contains(&event));
    let set = sets.next()?;
    (report.sets.len() > 1 && sets.next().is_none()).then_some(set)
}

/// A thread's state as the exchange formats spell it.
pub(super) fn state_code(state: ThreadState) -> &'static str {
    match state {
        ThreadState::Attached => "attached",
        ThreadState::Detached => "detached",
        ThreadState::Exited => "exited",
    }
}

/// The rotation's name in the exchange formats.
pub(super) fn rotation_code(rotation: EventSetRotation) -> &'static str {
    match rotation {
        EventSetRotation::PerExecution => "per-execution",
        EventSetRotation::Staggered => "staggered",
    }
}

/// A read path as the exchange formats spell it.
pub(super) fn read_path_code(path: ReadPath) -> &'static str {
    match path {
        ReadPath::Rdpmc => "rdpmc",
        ReadPath::ReadCall => "read",
    }
}
