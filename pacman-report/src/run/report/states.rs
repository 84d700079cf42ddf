//! The states of a region's threads: useful work, and waits by cause.

use std::collections::BTreeMap;

use pacman_regions::{Cause, Region, Row, WaitSite};
use serde::{Serialize, Serializer};

use super::thread_state::ThreadState;
use super::total::total_of;
use crate::document::{nanoseconds, optional_nanoseconds};
use crate::run::names::Name;

/// A waiting construct with its name.
#[derive(Debug)]
pub(in crate::run) struct SiteReport {
    pub(in crate::run) site: WaitSite,
    pub(in crate::run) name: Name,
}

impl SiteReport {
    /// `solver.c:12` where it is known, else the name.
    pub(in crate::run) fn place(&self) -> String {
        match (&self.name.file, self.name.line) {
            (Some(file), Some(line)) => format!("{}:{line}", crate::run::names::last(file)),
            _ => self.name.short(),
        }
    }
}

/// The reason why a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::run) enum Reason {
    /// The start of its part: the runtime wakes the threads.
    Start,
    /// The end of the region.
    End,
    /// A construct, by its index in the process's sites.
    Site(usize, Cause),
}

impl Reason {
    /// Whether it is a call of MPI.
    pub(in crate::run) fn is_mpi(self) -> bool {
        matches!(self, Reason::Site(_, Cause::Mpi))
    }

    /// Its construct, as an index in the process's sites.
    pub(in crate::run) fn site(self) -> Option<usize> {
        match self {
            Reason::Site(site, _) => Some(site),
            Reason::Start | Reason::End => None,
        }
    }

    /// The name in JSON.
    pub(in crate::run) fn word(self) -> &'static str {
        match self {
            Reason::Start => "start",
            Reason::End => "end",
            Reason::Site(_, cause) => cause.word(),
        }
    }
}

/// The states of one thread, in seconds.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::run) struct ThreadStates {
    #[serde(skip)]
    pub(in crate::run) thread: u32,
    /// Wall time of the executions that it took part in.
    #[serde(skip)]
    pub(in crate::run) there: f64,
    /// Seconds of useful work.
    #[serde(rename = "useful_s", serialize_with = "nanoseconds")]
    pub(in crate::run) useful: f64,
    /// Seconds from the start of the region to the start of the thread's part.
    #[serde(rename = "starting_s", serialize_with = "nanoseconds")]
    pub(in crate::run) starting: f64,
    /// Seconds at the end of the region.
    #[serde(rename = "end_s", serialize_with = "nanoseconds")]
    pub(in crate::run) end: f64,
    /// Seconds in tasks that the thread ran at the end of the region; part of `useful_s`.
    #[serde(rename = "late_tasks_s", serialize_with = "nanoseconds")]
    late_tasks: f64,
    /// Seconds of `useful_s` [on no processor](observe.md#time-on-no-processor); null if the kernel's clock of the thread could not be
    /// read.
    #[serde(rename = "useful_off_s", serialize_with = "optional_nanoseconds")]
    pub(in crate::run) useful_off: Option<f64>,
    /// Seconds of `waits` on no processor; null like those.
    #[serde(rename = "waiting_off_s", serialize_with = "optional_nanoseconds")]
    pub(in crate::run) waiting_off: Option<f64>,
    /// Waits by construct, by its index in `sites`.
    #[serde(serialize_with = "by_site")]
    #[cfg_attr(test, schemars(with = "BTreeMap<String, Wait>"))]
    pub(in crate::run) waits: Vec<(usize, Cause, Wait)>,
    /// Waits that the thread left without their end; no figure has them.
    dropped: u64,
    /// Tasks that the library could not follow.
    unseen_tasks: u64,
}

/// The waits of a thread at a construct.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::run) struct Wait {
    /// Number of waits.
    pub(in crate::run) count: u64,
    /// Seconds, without tasks that the thread ran meanwhile.
    #[serde(rename = "time_s", serialize_with = "nanoseconds")]
    pub(in crate::run) seconds: f64,
}

impl From<&pacman_regions::Wait> for Wait {
    fn from(wait: &pacman_regions::Wait) -> Wait {
        Wait { count: wait.count, seconds: wait.seconds }
    }
}

fn by_site<S: Serializer>(waits: &[(usize, Cause, Wait)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(waits.iter().map(|(site, _, wait)| (site, wait)))
}

impl ThreadStates {
    fn of(region: &Region, row: &Row, sites: &[SiteReport]) -> Option<ThreadStates> {
        let states = row.states.as_ref()?;
        let teams = region.teams.iter().filter(|team| team.threads > row.thread);
        let there = total_of(teams.map(|team| team.seconds));
        let cause = |site: usize| sites.get(site).map_or(Cause::Worksharing, |one| one.site.cause);
        let waits: Vec<(usize, Cause, Wait)> =
            states.waits.iter().map(|wait| (wait.site, cause(wait.site), wait.into())).collect();
        let inside = total_of(waits.iter().map(|wait| wait.2.seconds));
        let useful = (row.seconds - inside).max(0.0) + states.late_tasks;
        // Clocks of two threads are read at different moments: a little below 0 is 0.
        let end = (there - states.starting - row.seconds - states.late_tasks).max(0.0);
        let (thread, starting) = (row.thread, states.starting);
        // No state is off the processor for longer than it takes.
        let useful_off = states.useful_off.map(|off| off.min(useful));
        let waiting_off = states.waiting_off.map(|off| off.min(inside));
        Some(ThreadStates {
            thread,
            there,
            useful,
            starting,
            end,
            late_tasks: states.late_tasks,
            useful_off,
            waiting_off,
            waits,
            dropped: states.dropped,
            unseen_tasks: states.unseen_tasks,
        })
    }

    /// Seconds without useful work, outside of MPI.
    pub(in crate::run) fn idle(&self) -> f64 {
        let reasons = self.by_reason().filter(|(reason, _)| !reason.is_mpi());
        total_of(reasons.map(|(_, seconds)| seconds))
    }

    /// Seconds in MPI.
    pub(in crate::run) fn in_mpi(&self) -> f64 {
        self.waited(ThreadState::of(Cause::Mpi))
    }

    /// Seconds by reason.
    pub(in crate::run) fn by_reason(&self) -> impl Iterator<Item = (Reason, f64)> {
        let ends = [(Reason::Start, self.starting), (Reason::End, self.end)];
        let sites = self.waits.iter();
        ends.into_iter()
            .chain(sites.map(|&(site, cause, wait)| (Reason::Site(site, cause), wait.seconds)))
    }

    /// Seconds of waits in this state.
    pub(in crate::run) fn waited(&self, state: &ThreadState) -> f64 {
        let of = self.waits.iter().filter(|(_, cause, ..)| *ThreadState::of(*cause) == *state);
        total_of(of.map(|wait| wait.2.seconds))
    }
}

/// The time that threads lose, in seconds of all threads together.
///
/// TALP takes the time in MPI apart. It divides the rest of the time in which a thread does no useful
/// work: the part that every thread loses is lost to scheduling, the rest to uneven load.
#[derive(Clone, Debug, Default)]
pub(in crate::run) struct Losses {
    /// The time of all threads.
    pub(in crate::run) there: f64,
    /// In MPI, or waiting for MPI calls of the thread that starts regions.
    pub(in crate::run) mpi: f64,
    pub(in crate::run) uneven: f64,
    pub(in crate::run) common: f64,
    /// The same by reason: uneven and common.
    pub(in crate::run) reasons: BTreeMap<Reason, (f64, f64)>,
}

impl Losses {
    fn of(threads: &[ThreadStates]) -> Losses {
        let there = total_of(threads.iter().map(|thread| thread.there));
        let mpi = total_of(threads.iter().map(ThreadStates::in_mpi));
        let outside_mpi = |thread: &ThreadStates| thread.there - thread.in_mpi();
        let idle = total_of(threads.iter().map(ThreadStates::idle));
        // Threads with other times in the region are compared by their share of it.
        let least = |of: &dyn Fn(&ThreadStates) -> f64| {
            let shares = threads.iter().filter(|thread| outside_mpi(thread) > 0.0);
            let least =
                shares.map(|thread| of(thread) / outside_mpi(thread)).fold(f64::INFINITY, f64::min);
            if least.is_finite() { least * (there - mpi).max(0.0) } else { 0.0 }
        };
        let common = least(&ThreadStates::idle).min(idle);
        let mut totals: BTreeMap<Reason, f64> = BTreeMap::new();
        for (reason, seconds) in threads.iter().flat_map(ThreadStates::by_reason) {
            *totals.entry(reason).or_default() += seconds;
        }
        let reasons = totals.into_iter().map(|(reason, total)| {
            let of = |thread: &ThreadStates| -> f64 {
                let own = thread.by_reason().filter(|(other, _)| *other == reason);
                total_of(own.map(|(_, seconds)| seconds))
            };
            let common = least(&of).min(total);
            (reason, (total - common, common))
        });
        Losses { there, mpi, uneven: idle - common, common, reasons: reasons.collect() }
    }

    /// Adds a part of other losses.
    pub(super) fn add(&mut self, other: &Losses, part: f64) {
        self.there += part * other.there;
        self.mpi += part * other.mpi;
        self.uneven += part * other.uneven;
        self.common += part * other.common;
        for (reason, (uneven, common)) in &other.reasons {
            let own = self.reasons.entry(*reason).or_default();
            *own = (own.0 + part * uneven, own.1 + part * common);
        }
    }

    /// The reason with the most time, and its part of all threads' time.
    pub(in crate::run) fn worst(&self) -> Option<(Reason, f64)> {
        let all = self.reasons.iter().map(|(reason, (uneven, common))| (*reason, uneven + common));
        let worst = all.max_by(|one, other| one.1.total_cmp(&other.1))?;
        (self.there > 0.0 && worst.1 > 0.0).then(|| (worst.0, worst.1 / self.there))
    }
}

/// The waits of all threads of a region for one reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::run) struct WaitSum {
    pub(in crate::run) reason: Reason,
    /// The number of waits; not known of those at the start and the end of the region.
    pub(in crate::run) count: Option<u64>,
    pub(in crate::run) seconds: f64,
}

/// The states of a region's threads.
#[derive(Debug)]
pub(in crate::run) struct RegionStates {
    pub(in crate::run) threads: Vec<ThreadStates>,
    pub(in crate::run) losses: Losses,
}

impl RegionStates {
    /// Seconds of useful time of all threads, and those of them on no processor, if the kernel's clock
    /// could be read.
    pub(in crate::run) fn useful_time(&self) -> (f64, Option<f64>) {
        let useful = total_of(self.threads.iter().map(|thread| thread.useful));
        (useful, self.threads.iter().map(|thread| thread.useful_off).sum())
    }

    /// Seconds of waits at constructs on no processor, of all threads.
    pub(in crate::run) fn waiting_off(&self) -> Option<f64> {
        self.threads.iter().map(|thread| thread.waiting_off).sum()
    }

    /// The part of the useful time that the threads were on a processor.
    pub(in crate::run) fn processor_share(&self) -> Option<f64> {
        let (useful, off) = self.useful_time();
        share_on(useful, off?)
    }

    /// The waits of all threads by reason, the longest first.
    pub(in crate::run) fn waits(&self) -> Vec<WaitSum> {
        let mut sums: BTreeMap<Reason, WaitSum> = BTreeMap::new();
        for thread in &self.threads {
            let counts =
                [None, None].into_iter().chain(thread.waits.iter().map(|wait| Some(wait.2.count)));
            for ((reason, seconds), count) in thread.by_reason().zip(counts) {
                let sum =
                    sums.entry(reason).or_insert(WaitSum { reason, count: None, seconds: 0.0 });
                sum.seconds += seconds;
                sum.count = count.map(|count| count + sum.count.unwrap_or(0));
            }
        }
        let mut sums: Vec<WaitSum> = sums.into_values().filter(|sum| sum.seconds > 0.0).collect();
        sums.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        sums
    }

    /// `None` if waits were not timed.
    pub(super) fn of(region: &Region, sites: &[SiteReport]) -> Option<RegionStates> {
        let mut rows: Vec<&Row> = region.rows.iter().collect();
        rows.sort_by_key(|row| row.thread);
        let threads: Option<Vec<ThreadStates>> =
            rows.iter().map(|row| ThreadStates::of(region, row, sites)).collect();
        let threads = threads.filter(|threads| !threads.is_empty())?;
        Some(RegionStates { losses: Losses::of(&threads), threads })
    }
}

/// The part of `seconds` without `off`.
pub(super) fn share_on(seconds: f64, off: f64) -> Option<f64> {
    (seconds > 0.0).then(|| (1.0 - off / seconds).clamp(0.0, 1.0))
}
