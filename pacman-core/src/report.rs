//! What a session saw, as plain data: phases × threads, counts and caveats.
//!
//! A report is a copy taken at one moment; taking it disturbs no thread. The
//! [`export`](crate::export) module turns it into a table, CSV or JSON.

use crate::backend::ReadPath;
use crate::topology::CoreType;

pub use crate::session::Stat;

/// Everything a session knows at one moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The session's name.
    pub session: String,
    /// The counted events, in the order they were asked for.
    pub events: Vec<EventColumn>,
    /// The names of the phases, in the order they were first named.
    pub phases: Vec<String>,
    /// Every thread that ever attached, in order of attaching.
    pub threads: Vec<ThreadReport>,
    /// Nanoseconds since the session started.
    pub age: u64,
    /// The counts come from a simulated machine, not from this one.
    pub simulated: bool,
    /// What the reader must know: one line each.
    pub notes: Vec<String>,
}

/// One counted event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventColumn {
    /// The canonical name, such as `INSTRUCTIONS`.
    pub name: String,
    /// What one count is, such as `instructions` or `ns`.
    pub unit: &'static str,
    /// A hardware counter counts it.
    pub hardware: bool,
}

/// What one thread did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ThreadReport {
    /// The number the session gave it, from 0, in order of attaching.
    pub number: usize,
    /// The kernel's thread id.
    pub tid: i32,
    /// The thread's name, if it had one when it attached.
    pub name: Option<String>,
    /// Where the thread was when it attached.
    pub place: Option<PlaceReport>,
    /// How the thread's time in the session ended.
    pub state: ThreadState,
    /// Nanoseconds that the thread was attached, until now if it still is.
    pub attached: u64,
    /// How its counters are read.
    pub read_path: ReadPath,
    /// Its phases, in the order of [`Report::phases`], those it never ran left out.
    pub phases: Vec<PhaseReport>,
    /// Its single samples in order, if the session keeps a log.
    pub log: Vec<LoggedSample>,
    /// Samples that found no room in the log.
    pub log_dropped: u64,
    /// What went wrong on this thread: one line each.
    pub notes: Vec<String>,
}

/// A thread's hardware context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlaceReport {
    /// Linux's number of the logical CPU.
    pub cpu: u32,
    /// The package.
    pub package: u32,
    /// The core, counted over the machine.
    pub core: u32,
    /// The context's position among its core's siblings.
    pub sibling: u32,
    /// The NUMA node.
    pub node: u32,
    /// The core's kind on hybrid processors.
    pub core_type: CoreType,
    /// The session bound the thread there; otherwise it merely ran there when it
    /// attached, and may have moved since.
    pub bound: bool,
}

/// How a thread's time in the session ended, if it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadState {
    /// Still attached.
    Attached,
    /// Detached as it should.
    Detached,
    /// The thread ended while attached; it was detached for it.
    Exited,
}

/// What one phase cost one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PhaseReport {
    /// The phase, as an index into [`Report::phases`].
    pub phase: usize,
    /// Finished executions; those inside one of the same phase are not among them.
    pub executions: u64,
    /// Executions inside another of the same phase: their cost is the outer one's.
    pub recursions: u64,
    /// Executions that ended by a panic; they are counted.
    pub panics: u64,
    /// Wall time in nanoseconds.
    pub time: Stat,
    /// One entry per event, in the order of [`Report::events`].
    pub counts: Vec<CountReport>,
}

/// What one event counted in one phase on one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CountReport {
    /// As counted.
    pub raw: Stat,
    /// The sum as estimated for the whole time, where the kernel let the group
    /// count for a part of it only; `None` where raw is exact, or where the
    /// group never ran and there is nothing to estimate from.
    pub scaled: Option<u64>,
    /// Nanoseconds the group was enabled; 0 where it could not be off.
    pub enabled: u64,
    /// Nanoseconds of these that it counted.
    pub running: u64,
}

/// One logged execution of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedSample {
    /// The phase, as an index into [`Report::phases`].
    pub phase: usize,
    /// Nanoseconds from the session's start to the begin.
    pub begin: u64,
    /// Nanoseconds from the session's start to the end.
    pub end: u64,
    /// One count per event, raw.
    pub counts: Vec<u64>,
}

impl CountReport {
    /// A count from its raw values and the times its group was on the counters.
    pub(crate) fn new(raw: Stat, enabled: u64, running: u64) -> CountReport {
        let scaled = (running > 0 && running < enabled).then(|| {
            // 128 bits: a count of 2^48 times an hour of nanoseconds needs 90.
            let estimate = u128::from(raw.sum) * u128::from(enabled) / u128::from(running);
            u64::try_from(estimate).unwrap_or(u64::MAX)
        });
        CountReport { raw, scaled, enabled, running }
    }

    /// The best figure for the whole time: scaled if there is one, else raw;
    /// `None` if the group never counted.
    pub fn value(&self) -> Option<u64> {
        if self.enabled > 0 && self.running == 0 {
            return None;
        }
        Some(self.scaled.unwrap_or(self.raw.sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_scaled_only_when_time_was_missed() {
        let raw = Stat { sum: 1 << 48, min: 1, max: 1 << 40 };
        assert_eq!(CountReport::new(raw, 0, 0).value(), Some(1 << 48));
        assert_eq!(CountReport::new(raw, 500, 500).scaled, None);
        let half = CountReport::new(raw, 7_200_000_000_000, 3_600_000_000_000);
        assert_eq!((half.scaled, half.raw.sum), (Some(1 << 49), 1 << 48));
        assert_eq!(CountReport::new(raw, 500, 0).value(), None, "never ran: no figure");
    }
}
