//! The report of a session as plain data: phases × threads, counts and caveats.
//!
//! A report is a copy taken at one moment; taking it disturbs no thread. The
//! [`export`](crate::export) module turns it into a table, CSV or JSON.

use crate::backend::ReadPath;
use crate::platform::is_of_core_type;
use crate::provenance::Provenance;
use pacman_topology::CoreType;

pub use crate::plausible::implausible;
pub use crate::stat::Stat;

/// The rule by which executions count the sets of a session whose events do not fit at once.
///
/// Sets change between outermost executions of phases, never inside one. On each thread
/// each phase goes through all sets, independent of other phases. A phase that runs only
/// inside others counts the sets of those.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventSetRotation {
    /// Execution *i* of a phase on a thread counts set *i* mod *n*: all threads
    /// begin with set 0, and each can be compared with the others at any time.
    PerExecution,
    /// Execution *i* of a phase on thread *k* counts set (*i* + *k*) mod *n*: as many
    /// threads as there are sets see all events in one execution. For threads that do
    /// the same work, as those of a team do.
    Staggered,
}

/// Everything a session knows at one moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The session's name.
    pub session: String,
    /// The counted events, in the order they were asked for; behind them, on a hybrid processor,
    /// the part that each core type counted.
    pub events: Vec<EventColumn>,
    /// The sets in which the events were counted: one where they fit at once.
    pub sets: Vec<EventSet>,
    /// The rule of rotation, where sets rotated.
    pub rotation: Option<EventSetRotation>,
    /// The names of the phases, in the order they were first named.
    pub phases: Vec<String>,
    /// Every thread that ever attached, in order of attaching. A session keeps the rows of the
    /// first 1,024 threads that end. The last row has the sums of all that end later.
    pub threads: Vec<ThreadReport>,
    /// Nanoseconds since the session started.
    pub age: u64,
    /// Where, when and by which version it was counted.
    pub provenance: Provenance,
    /// The counts come from a simulated machine, not from this one.
    pub simulated: bool,
    /// Warnings for the reader: one line each.
    pub notes: Vec<String>,
}

/// One counted event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventColumn {
    /// The canonical name, such as `INSTRUCTIONS`.
    pub name: String,
    /// The unit of one count, such as `instructions` or `ns`.
    pub unit: &'static str,
    /// A hardware counter counts it.
    pub hardware: bool,
    /// Why its counts may be wrong, if they may: the kernel's driver is not trusted here.
    pub doubt: Option<&'static str>,
    /// The [installed table](crate::event::Event::installed_table) that gave it its code, if one did.
    pub table: Option<String>,
    /// The PMU of the only core type that counts it, such as `cpu_core`, on a hybrid processor.
    pub core_pmu: Option<String>,
    /// The event of which this is the part that one core type counted, as an index into
    /// [`Report::events`]; `None` for an event that counts on all cores, or that was asked for alone.
    pub part_of: Option<usize>,
}

impl EventColumn {
    /// The name as a heading, with a question mark behind it if the counts may be wrong.
    pub fn title(&self) -> String {
        format!("{}{}", self.name, if self.doubt.is_some() { DOUBTED } else { "" })
    }
}

/// The mark of an event whose counts may be wrong.
pub const DOUBTED: &str = "?";

/// Events that were counted together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventSet {
    /// Indices into [`Report::events`], ascending.
    pub events: Vec<usize>,
}

/// The part of one thread.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ThreadReport {
    /// The number the session gave it, from 0, in order of attaching.
    pub number: usize,
    /// How many threads the row stands for: 1, or those that ended and share the last row. That
    /// one has the number of the first of them and the thread id -1.
    pub threads: usize,
    /// The kernel's thread id.
    pub tid: i32,
    /// The thread's name, if it had one when it attached.
    pub name: Option<String>,
    /// The thread's place when it attached.
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
    /// The failures on this thread: one line each.
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

/// The cost of one phase on one thread.
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
    /// Executions that were begun and have not ended: they are in no other figure.
    pub open: u64,
    /// Executions that were set aside because a value of theirs is impossible: they are in no
    /// other figure.
    pub implausible: Option<Implausible>,
    /// Wall time in nanoseconds.
    pub time: Stat,
    /// One entry per event, in the order of [`Report::events`].
    pub counts: Vec<CountReport>,
    /// One entry per set, in the order of [`Report::sets`]: the cost of the executions that
    /// counted it.
    pub sets: Vec<SetReport>,
}

/// Executions with values that the machine cannot have counted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Implausible {
    /// The number of these executions.
    pub executions: u64,
    /// The event whose value was impossible in the first of them, as an index into
    /// [`Report::events`]; `None` for its time.
    pub event: Option<usize>,
    /// The impossible value, in words.
    pub why: String,
}

/// The executions of a phase on one thread that counted one set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetReport {
    /// Finished executions.
    pub executions: u64,
    /// Wall time in nanoseconds.
    pub time: Stat,
    /// One entry per event of the set, in the order of [`EventSet::events`], raw.
    pub counts: Vec<Stat>,
}

/// The count of one event in one phase on one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CountReport {
    /// As counted, over the executions that counted the event.
    pub raw: Stat,
    /// The number of these executions: all that finished, unless sets rotate.
    pub samples: u64,
    /// The estimated sum for all executions and their whole time. The raw sum is less if some
    /// executions counted another set, or if the kernel multiplexed the group. `None` if the raw
    /// sum is exact, or if there is nothing to estimate from.
    pub scaled: Option<u64>,
    /// Nanoseconds that the group was enabled; 0 if it is always on its counters.
    pub enabled_ns: u64,
    /// Nanoseconds of these that it counted.
    pub running_ns: u64,
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
    /// The set that it counted, as an index into [`Report::sets`].
    pub set: usize,
    /// One count per event of the set, raw.
    pub counts: Vec<u64>,
}

/// With this count of one event, it is odd that another one never happened.
const MANY: u64 = 1_000_000;

/// A line for each hardware event that stayed at 0 while another event was counted often in the
/// same executions. This hardly ever happens on a machine that counts both.
///
/// Takes hardware events and their sums. [`Report::notes`] has these lines already.
///
/// ```
/// use pacman_core::report::zero_count_warnings;
/// let lines = zero_count_warnings(&[("CYCLES", 5_000_000), ("STALL_CYCLES", 0)]);
/// assert!(lines[0].starts_with("STALL_CYCLES stayed at 0 over 5000000 CYCLES: "));
/// assert!(zero_count_warnings(&[("CYCLES", 900), ("STALL_CYCLES", 0)]).is_empty(), "too little to tell");
/// ```
pub fn zero_count_warnings(counts: &[(&str, u64)]) -> Vec<String> {
    let is_zero = |name: &str| counts.iter().any(|(event, count)| *event == name && *count == 0);
    let zero_count_warning = |(event, _): &(&str, u64)| {
        // No thread need have run on a core type, so its events are held against each other.
        let beside = counts.iter().filter(|(other, _)| core_pmu(other) == core_pmu(event));
        let (most, count) = beside.max_by_key(|(_, count)| *count)?;
        // The line of the whole event says it for its parts.
        let is_told = part_in_name(event).is_some_and(|(_, whole)| is_zero(whole));
        (*count >= MANY && !is_told).then(|| {
            format!(
                "{event} stayed at 0 over {count} {most}: this machine may not count it, as \
                 hypervisors let only some events through"
            )
        })
    };
    counts.iter().filter(|(_, count)| *count == 0).filter_map(zero_count_warning).collect()
}

/// The PMU of the only core type that counts the event of this name.
fn core_pmu(name: &str) -> Option<&str> {
    Some(part_in_name(name)?.0)
}

/// The PMU and the whole event of a name such as `cpu_core/CYCLES/`.
fn part_in_name(name: &str) -> Option<(&str, &str)> {
    let (pmu, rest) = name.split_once('/')?;
    Some((pmu, rest.strip_suffix('/')?)).filter(|_| is_of_core_type(pmu))
}

impl Report {
    /// The hardware events that stayed at 0, each by its number and with its line of
    /// [`zero_count_warnings`], for all threads.
    ///
    /// Another event's count is the largest of a single phase and set. Phases may be part of one
    /// another, so that their sum could be more than was counted. Events of one core type are held
    /// against each other: no thread need have run there.
    pub(crate) fn zero_count_warnings(&self) -> Vec<(usize, String)> {
        let Report { events, sets, phases, threads, .. } = self;
        // By set, phase, and place in the set.
        let zeros = |set: &EventSet| vec![vec![0u64; set.events.len()]; phases.len()];
        let mut sums: Vec<Vec<Vec<u64>>> = sets.iter().map(zeros).collect();
        for row in threads.iter().flat_map(|thread| &thread.phases) {
            for (sums, counted) in sums.iter_mut().zip(&row.sets) {
                // A report that was changed by hand may lack the phase.
                let of_phase = sums.get_mut(row.phase).into_iter().flatten();
                for (sum, stat) in of_phase.zip(&counted.counts) {
                    *sum = sum.saturating_add(stat.sum);
                }
            }
        }
        // The largest count of a hardware event of the set in one phase, and that event's place.
        let most = |set: usize, beside: &EventColumn| {
            let counts_alike =
                |event: usize| events[event].hardware && events[event].core_pmu == beside.core_pmu;
            let each = |sums: &Vec<u64>| {
                let all = sets[set].events.iter().copied().zip(sums.iter().copied());
                all.filter(|(event, _)| counts_alike(*event)).max_by_key(|(_, sum)| *sum)
            };
            sums[set].iter().filter_map(each).max_by_key(|(_, sum)| *sum)
        };
        let with = |event: usize| {
            let place = move |set: usize| sets[set].events.iter().position(|of| *of == event);
            (0..sets.len()).filter_map(move |set| Some((set, place(set)?)))
        };
        let stays_at_zero =
            |event| with(event).all(|(set, place)| sums[set].iter().all(|sums| sums[place] == 0));
        let mut lines = Vec::new();
        for (event, column) in events.iter().enumerate().filter(|(_, column)| column.hardware) {
            // The line of the whole event says it for its parts.
            if !stays_at_zero(event) || column.part_of.is_some_and(stays_at_zero) {
                continue;
            }
            let most = with(event).filter_map(|(set, _)| most(set, column));
            if let Some((other, sum)) = most.max_by_key(|(_, sum)| *sum) {
                let counts = [(&*events[other].name, sum), (&*column.name, 0)];
                lines.extend(zero_count_warnings(&counts).into_iter().map(|line| (event, line)));
            }
        }
        lines
    }
}

impl LoggedSample {
    /// The count of event number `event` of `report` in this execution; `None` if it was not in the
    /// set.
    pub fn count(&self, report: &Report, event: usize) -> Option<u64> {
        let place = report.sets.get(self.set)?.events.iter().position(|of| *of == event)?;
        self.counts.get(place).copied()
    }
}

impl CountReport {
    /// Estimates a count from its raw values. They come from `samples` of `executions`, and from
    /// `running` of `enabled` nanoseconds.
    pub(crate) fn new(
        raw: Stat,
        [samples, executions]: [u64; 2],
        [running, enabled]: [u64; 2],
    ) -> CountReport {
        let mut whole = u128::from(raw.sum);
        let mut scaled = false;
        for (part, all) in [(running, enabled), (samples, executions)] {
            if part > 0 && part < all {
                // 128 bits: a count of 2^48 times an hour of nanoseconds needs 90.
                whole = (whole * u128::from(all) / u128::from(part)).min(u64::MAX.into());
                scaled = true;
            }
        }
        let counted = samples > 0 && (running > 0 || enabled == 0);
        let scaled = (scaled && counted).then_some(whole as u64);
        CountReport { raw, samples, scaled, enabled_ns: enabled, running_ns: running }
    }

    /// The best figure for all executions: scaled if there is one, else raw. `None` if no execution
    /// counted the event, or if the group never counted.
    pub fn value(&self) -> Option<u64> {
        if self.samples == 0 || self.enabled_ns > 0 && self.running_ns == 0 {
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
        let over = |running, enabled| CountReport::new(raw, [9, 9], [running, enabled]);
        assert_eq!(over(0, 0).value(), Some(1 << 48));
        assert_eq!(over(500, 500).scaled, None);
        let half = over(3_600_000_000_000, 7_200_000_000_000);
        assert_eq!((half.scaled, half.raw.sum), (Some(1 << 49), 1 << 48));
        assert_eq!(over(0, 500).value(), None, "never ran: no figure");
    }

    #[test]
    fn counts_are_estimated_for_executions_that_counted_something_else() {
        let raw = Stat { sum: 1000, min: 90, max: 110 };
        let of = |samples, executions| CountReport::new(raw, [samples, executions], [0, 0]);
        assert_eq!((of(10, 10).scaled, of(10, 10).value()), (None, Some(1000)));
        assert_eq!((of(10, 25).scaled, of(10, 25).value()), (Some(2500), Some(2500)));
        let both = CountReport::new(raw, [10, 20], [1, 3]);
        assert_eq!((both.scaled, both.samples), (Some(6000), 10));
        let never = CountReport::new(Stat::default(), [0, 7], [0, 0]);
        assert_eq!((never.scaled, never.value()), (None, None), "not sampled is not zero");
    }
}
