//! The result of a timing: figures of the kept runs, and the other runs by reason.

use pacman_events::plural::number;
use std::collections::BTreeSet;
use std::fmt;

use super::pace::{self, Pace};
use super::plan::Plan;
use crate::clock::ClockSource;
use pacman_events::{Error, ErrorKind, Result};

/// The time of a section, in ticks without the cost of reading the clock.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Timed {
    /// The source of the ticks.
    pub source: ClockSource,
    /// The length of one tick in nanoseconds.
    pub nanos_per_tick: f64,
    /// The time of an empty section in ticks, which is subtracted from every run.
    pub overhead: u64,
    /// An upper bound of the clock's step in ticks, as estimated from empty sections.
    ///
    /// The rounding of two readings may add to it. `None` if the empty sections do not show it.
    pub step: Option<u64>,
    /// The shortest of the kept runs.
    pub minimum: u64,
    /// A quarter of the kept runs took no longer.
    pub lower_quartile: u64,
    /// Half of the kept runs took no longer.
    pub median: u64,
    /// Three quarters of the kept runs took no longer.
    pub upper_quartile: u64,
    /// The longest of the kept runs.
    pub maximum: u64,
    /// The number of kept runs.
    pub kept: usize,
    /// The number of kept runs that do not differ from an empty section.
    pub at_floor: usize,
    /// The discarded runs by reason, without reasons that no run had.
    pub discarded: Vec<Discarded>,
    /// The CPUs of the kept runs, in order; empty if they are not known.
    pub cpus: Vec<u32>,
    /// The core's speed during the runs, if it was measured.
    pub pace: Option<Pace>,
}

/// Runs that were left out for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Discarded {
    /// The reason.
    pub reason: Discard,
    /// The number of runs.
    pub runs: usize,
}

/// The reason to discard a run; the first one that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Discard {
    /// The run ended on another CPU than it began.
    Migrated,
    /// The clock went back: the two CPUs' counters do not agree.
    ClockWentBack,
    /// Another thread ran, during this run or one of its batch.
    Switched,
    /// The kernel had to find memory, during this run or one of its batch.
    Faulted,
    /// The core's frequency differed before and after the run's batch.
    FrequencyChanged,
    /// The run took far longer than the others: an interrupt, a halt, or a guest of the same host.
    FarAbove,
}

/// A warning about the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Caveat {
    /// The runs were on several CPUs.
    SeveralCpus,
    /// The core's frequency changed between the runs: ticks are not the same cycles throughout.
    FrequencyDrifted,
    /// The median is below the cost of reading the clock. The section overlaps with the readings,
    /// which hides its own cost.
    BelowOverhead,
    /// The clock's step may be at least a tenth of the median.
    CoarseClock,
    /// The clock is the system's, which is not ordered against the section.
    SystemClock,
}

impl Timed {
    /// Converts ticks to nanoseconds.
    pub fn nanos(&self, ticks: u64) -> f64 {
        ticks as f64 * self.nanos_per_tick
    }

    /// The warnings about these figures.
    pub fn caveats(&self) -> Vec<Caveat> {
        let drifted = self.pace.is_some_and(|pace| pace.drift() > pace::TOLERANCE);
        [
            (self.cpus.len() > 1, Caveat::SeveralCpus),
            (drifted, Caveat::FrequencyDrifted),
            (self.median < self.overhead, Caveat::BelowOverhead),
            (self.step.is_some_and(|step| step > self.median / 10), Caveat::CoarseClock),
            (self.source == ClockSource::Monotonic, Caveat::SystemClock),
        ]
        .into_iter()
        .filter_map(|(holds, caveat)| holds.then_some(caveat))
        .collect()
    }
}

impl Discard {
    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Discard::Migrated => "the thread moved to another CPU",
            Discard::ClockWentBack => "the clock went back",
            Discard::Switched => "another thread ran in the batch",
            Discard::Faulted => "a page fault in the batch",
            Discard::FrequencyChanged => "the frequency changed during the batch",
            Discard::FarAbove => "far above the others, as an interrupt or a halt makes it",
        }
    }
}

impl Caveat {
    /// The caveat in words.
    pub fn text(self) -> &'static str {
        match self {
            Caveat::SeveralCpus => "the thread was not bound, and ran on several CPUs",
            Caveat::FrequencyDrifted => "the core's frequency changed between the runs",
            Caveat::BelowOverhead => "shorter than reading the clock",
            Caveat::CoarseClock => "the clock's steps are coarse against it",
            Caveat::SystemClock => "timed by the system's clock, which orders nothing",
        }
    }
}

/// `3 runs: the thread moved to another CPU`.
impl fmt::Display for Discarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", number(self.runs, "run"), self.reason.text())
    }
}

/// Collects runs.
pub(super) struct Verdicts {
    /// Ticks with the overhead.
    kept: Vec<(u64, u32)>,
    discarded: Vec<Discarded>,
    paces: Option<(u64, u64)>,
}

impl Verdicts {
    pub(super) fn with_capacity(runs: usize) -> Verdicts {
        Verdicts { kept: Vec::with_capacity(runs), discarded: Vec::new(), paces: None }
    }

    pub(super) fn keep(&mut self, ticks: u64, cpu: u32) {
        self.kept.push((ticks, cpu));
    }

    pub(super) fn discard(&mut self, reason: Discard) {
        match self.discarded.iter_mut().find(|known| known.reason == reason) {
            Some(known) => known.runs += 1,
            None => self.discarded.push(Discarded { reason, runs: 1 }),
        }
    }

    pub(super) fn pace(&mut self, ticks: Option<u64>) {
        let Some(ticks) = ticks else { return };
        let (least, most) = self.paces.unwrap_or((ticks, ticks));
        self.paces = Some((least.min(ticks), most.max(ticks)));
    }

    /// Discards the runs far above the others, and computes the figures of the rest.
    pub(super) fn finish(mut self, plan: &Plan, mut empty_runs: Vec<u64>) -> Result<Timed> {
        empty_runs.sort_unstable();
        let overhead = empty_runs.first().copied().unwrap_or(0);
        self.kept.sort_unstable();
        if !self.kept.is_empty() {
            let [lower, _, upper] = quartiles(&self.kept);
            // Tukey's outer fence. If all runs agree to the tick, the fence lies one overhead of
            // the readings above them.
            let fence = upper.saturating_add((3 * (upper - lower)).max(overhead));
            let within = self.kept.partition_point(|(ticks, _)| *ticks <= fence);
            (within..self.kept.len()).for_each(|_| self.discard(Discard::FarAbove));
            self.kept.truncate(within);
        }
        self.discarded.sort_by_key(|discarded| discarded.reason);
        let Some(&(maximum, _)) = self.kept.last() else {
            let reasons: Vec<String> = self.discarded.iter().map(Discarded::to_string).collect();
            return Err(Error::new(
                ErrorKind::NotComputable,
                format!(
                    "the time of the section is not computable because every run was discarded \
                     ({}); bind the thread, or try a machine with less to do",
                    reasons.join("; ")
                ),
            ));
        };
        let [lower_quartile, median, upper_quartile] = quartiles(&self.kept);
        let net = |ticks: u64| ticks.saturating_sub(overhead);
        let cpus: BTreeSet<u32> = self.kept.iter().map(|(_, cpu)| *cpu).collect();
        Ok(Timed {
            source: plan.source,
            nanos_per_tick: plan.nanos_per_tick,
            overhead,
            step: step(&empty_runs),
            minimum: net(self.kept[0].0),
            lower_quartile: net(lower_quartile),
            median: net(median),
            upper_quartile: net(upper_quartile),
            maximum: net(maximum),
            kept: self.kept.len(),
            at_floor: self.kept.partition_point(|(ticks, _)| *ticks <= overhead),
            discarded: self.discarded,
            cpus: cpus.into_iter().filter(|cpu| *cpu != u32::MAX).collect(),
            pace: self.paces.map(Pace::of_chains),
        })
    }
}

/// The longest step that a clock may have, from sorted times of the same section.
///
/// If a step is not a whole number of ticks, rounding at both ends gives it up to three lengths.
/// They are at most two ticks apart. Five lengths that close together prove a finer clock. The
/// function ignores the longest hundredth, so that it does not take an interrupt for a step.
pub(super) fn step(sorted: &[u64]) -> Option<u64> {
    let mut distinct = sorted[..sorted.len() - sorted.len() / 100].to_vec();
    distinct.dedup();
    let spans = distinct.windows(5).map(|five| five[4] - five[0]);
    if let Some(span) = spans.filter(|span| *span <= 8).min() {
        return Some(span.div_ceil(4));
    }
    let gaps = distinct.windows(2).map(|two| two[1] - two[0]);
    gaps.filter(|gap| *gap > 2).min()
}

/// The quartiles of sorted runs by nearest rank, so that each is a run's own.
fn quartiles(sorted: &[(u64, u32)]) -> [u64; 3] {
    [1, 2, 3].map(|quarter| sorted[(quarter * sorted.len()).div_ceil(4) - 1].0)
}
