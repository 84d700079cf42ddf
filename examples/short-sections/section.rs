//! Times a section of code by many runs, and leaves out those that something disturbed.
//!
//! Each run lies between two readings of a clock, whose cost is subtracted. After a batch of runs, which takes about
//! 100 µs, the rules of [`pacman_metrics::quality`] say whether the kernel or another thread disturbed it.

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;

use pacman_core::{Error, ErrorKind, Result};
use pacman_metrics::quality::{Flag, Reading, check};

/// The clock around a section, and the facts about the time between two batches.
pub(crate) trait Instrument {
    /// The CPU that the thread runs on; the same number for all unknown CPUs.
    fn cpu(&mut self) -> u32;

    /// The time before a section.
    fn begin(&mut self) -> u64;

    /// The time after a section, and the CPU at that moment.
    fn end(&mut self) -> (u64, u32);

    /// The time, and the kernel's work for the thread so far.
    fn kernel(&mut self) -> Reading;

    /// Ticks of a chain of additions, which takes some microseconds; `None` if it cannot be measured.
    fn pace(&mut self) -> Option<u64>;
}

/// The plan for timing a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) nanos_per_tick: f64,
    /// The number of runs, 1 or more.
    pub(crate) repetitions: usize,
    /// Ticks for which the section runs uncounted at first.
    pub(crate) warm_up: u64,
    /// The longest time of a batch, in ticks.
    pub(crate) batch: u64,
}

/// The time of a section, in ticks without the cost of reading the clock.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Timed {
    pub(crate) nanos_per_tick: f64,
    /// The time of an empty section, which is subtracted from every run.
    pub(crate) overhead: u64,
    /// An upper bound of the clock's step, as empty sections show it.
    pub(crate) step: Option<u64>,
    /// The least, the quartiles and the most of the kept runs.
    pub(crate) figures: [u64; 5],
    pub(crate) kept: usize,
    /// The kept runs that do not differ from an empty section.
    pub(crate) at_floor: usize,
    /// The number of discarded runs by reason.
    pub(crate) discarded: BTreeMap<&'static str, usize>,
    /// The CPUs of the kept runs; empty if they are not known.
    pub(crate) cpus: BTreeSet<u32>,
    /// Ticks of a chain of additions when the core was fastest, and slowest.
    pub(crate) paces: Option<(u64, u64)>,
}

impl Timed {
    pub(crate) fn nanos(&self, ticks: u64) -> f64 {
        ticks as f64 * self.nanos_per_tick
    }

    /// The warnings about these figures.
    pub(crate) fn caveats(&self) -> Vec<&'static str> {
        let median = self.figures[2];
        [
            (self.cpus.len() > 1, "the thread was not bound, and ran on several CPUs"),
            (
                self.paces.is_some_and(|(least, most)| differ(least, most)),
                "the core's frequency changed between the runs",
            ),
            (median < self.overhead, "shorter than reading the clock"),
            (
                self.step.is_some_and(|step| step > median / 10),
                "the clock's steps are coarse against it",
            ),
        ]
        .into_iter()
        .filter_map(|(holds, caveat)| holds.then_some(caveat))
        .collect()
    }
}

/// One run: ticks with their overhead, and the CPUs. No ticks if the clock went back.
#[derive(Clone, Copy)]
struct Run {
    ticks: Option<u64>,
    cpus: [u32; 2],
}

/// The measurements between two batches.
#[derive(Clone, Copy)]
struct Edge {
    kernel: Reading,
    pace: Option<u64>,
}

/// Times a section by this plan.
///
/// # Errors
/// [`ErrorKind::NotComputable`] if every run was disturbed; the text gives the reasons.
pub(crate) fn time<I: Instrument, T>(
    instrument: &mut I,
    plan: &Plan,
    mut section: impl FnMut() -> T,
) -> Result<Timed> {
    let batch = warm_up(instrument, plan, &mut section);
    // Written once, so that the kernel has no new page to map while a section runs.
    let mut runs = vec![Run { ticks: None, cpus: [0; 2] }; batch.min(plan.repetitions)];
    let mut verdicts = Verdicts::with_capacity(plan.repetitions);
    let mut empty_runs = Vec::with_capacity(2 * CALIBRATIONS);
    calibrate(instrument, &mut empty_runs);
    let mut left = plan.repetitions;
    let mut before = Edge::read(instrument);
    verdicts.pace(before.pace);
    while left > 0 {
        let size = left.min(runs.len());
        for run in &mut runs[..size] {
            *run = once(instrument, &mut section);
        }
        let after = Edge::read(instrument);
        verdicts.pace(after.pace);
        let disturbance = before.disturbance(&after, 1e9 / plan.nanos_per_tick);
        for run in &runs[..size] {
            match run.kept().and_then(|ticks| disturbance.map_or(Ok(ticks), Err)) {
                Ok(ticks) => verdicts.kept.push((ticks, run.cpus[1])),
                Err(reason) => verdicts.discard(reason),
            }
        }
        left -= size;
        // The next batch must not include the time of this edge.
        before = Edge { kernel: instrument.kernel(), ..after };
    }
    calibrate(instrument, &mut empty_runs);
    verdicts.finish(plan, empty_runs)
}

/// Runs the section for the time of the warm-up. Returns the number of runs in a batch.
fn warm_up<I: Instrument, T>(
    instrument: &mut I,
    plan: &Plan,
    section: &mut impl FnMut() -> T,
) -> usize {
    let start = instrument.begin();
    let mut least = u64::MAX;
    loop {
        let run = once(instrument, section);
        least = least.min(run.ticks.unwrap_or(u64::MAX));
        if instrument.end().0.saturating_sub(start) >= plan.warm_up {
            return (plan.batch / least.max(1)).clamp(1, LARGEST_BATCH) as usize;
        }
    }
}

/// Times empty sections, to measure the cost of the readings.
fn calibrate<I: Instrument>(instrument: &mut I, empty_runs: &mut Vec<u64>) {
    let empty = |_| once(instrument, &mut || ()).ticks;
    empty_runs.extend((0..CALIBRATIONS).filter_map(empty));
}

/// Inlined, so that empty and full sections are read in the same way.
#[inline(always)]
fn once<I: Instrument, T>(instrument: &mut I, section: &mut impl FnMut() -> T) -> Run {
    let before = instrument.cpu();
    let begin = instrument.begin();
    black_box(section());
    let (end, after) = instrument.end();
    Run { ticks: end.checked_sub(begin), cpus: [before, after] }
}

impl Run {
    fn kept(&self) -> Result<u64, &'static str> {
        match self.cpus {
            [before, after] if before != after => Err(Flag::Migrated.text()),
            _ => self.ticks.ok_or(Flag::NonMonotonic.text()),
        }
    }
}

impl Edge {
    fn read<I: Instrument>(instrument: &mut I) -> Edge {
        let pace = instrument.pace();
        Edge { kernel: instrument.kernel(), pace }
    }

    /// The disturbance of the batch between two edges, if there was one.
    fn disturbance(&self, after: &Edge, base_hz: f64) -> Option<&'static str> {
        let quality = check(&self.kernel, &after.kernel, base_hz);
        let flag = quality.ok().and_then(|quality| quality.flags.first().copied());
        flag.map(Flag::text).or_else(|| {
            let (one, other) = self.pace.zip(after.pace)?;
            differ(one, other).then_some(FREQUENCY_CHANGED)
        })
    }
}

/// Collects runs.
pub(crate) struct Verdicts {
    /// Ticks with the overhead, and the CPU.
    pub(crate) kept: Vec<(u64, u32)>,
    discarded: BTreeMap<&'static str, usize>,
    paces: Option<(u64, u64)>,
}

impl Verdicts {
    pub(crate) fn with_capacity(runs: usize) -> Verdicts {
        Verdicts { kept: Vec::with_capacity(runs), discarded: BTreeMap::new(), paces: None }
    }

    fn discard(&mut self, reason: &'static str) {
        *self.discarded.entry(reason).or_default() += 1;
    }

    fn pace(&mut self, ticks: Option<u64>) {
        let Some(ticks) = ticks else { return };
        let (least, most) = self.paces.unwrap_or((ticks, ticks));
        self.paces = Some((least.min(ticks), most.max(ticks)));
    }

    /// Discards the runs far above the others, and computes the figures of the rest.
    pub(crate) fn finish(mut self, plan: &Plan, mut empty_runs: Vec<u64>) -> Result<Timed> {
        empty_runs.sort_unstable();
        let overhead = empty_runs.first().copied().unwrap_or(0);
        self.kept.sort_unstable();
        if !self.kept.is_empty() {
            let [_, lower, _, upper, _] = five(&self.kept);
            // Tukey's outer fence. If all runs agree to the tick, the fence lies one overhead of
            // the readings above them.
            let fence = upper.saturating_add((3 * (upper - lower)).max(overhead));
            let within = self.kept.partition_point(|(ticks, _)| *ticks <= fence);
            (within..self.kept.len()).for_each(|_| self.discard(FAR_ABOVE));
            self.kept.truncate(within);
        }
        if self.kept.is_empty() {
            let reasons: Vec<String> =
                self.discarded.iter().map(|(reason, runs)| format!("{runs}: {reason}")).collect();
            return Err(Error::new(
                ErrorKind::NotComputable,
                format!(
                    "the time of the section is not computable because every run was discarded \
                     ({}); bind the thread, or try a machine with less to do",
                    reasons.join("; ")
                ),
            ));
        }
        let cpus = self.kept.iter().map(|(_, cpu)| *cpu).filter(|cpu| *cpu != u32::MAX);
        Ok(Timed {
            nanos_per_tick: plan.nanos_per_tick,
            overhead,
            step: step(&empty_runs),
            figures: five(&self.kept).map(|ticks| ticks.saturating_sub(overhead)),
            kept: self.kept.len(),
            at_floor: self.kept.partition_point(|(ticks, _)| *ticks <= overhead),
            cpus: cpus.collect(),
            discarded: self.discarded,
            paces: self.paces,
        })
    }
}

/// The longest step that a clock may have, from sorted times of the same section.
///
/// If a step is not a whole number of ticks, rounding at both ends gives it up to three lengths.
/// They are at most two ticks apart. Five lengths that close together prove a finer clock. The
/// function ignores the longest hundredth, so that it does not take an interrupt for a step.
pub(crate) fn step(sorted: &[u64]) -> Option<u64> {
    let mut distinct = sorted[..sorted.len() - sorted.len() / 100].to_vec();
    distinct.dedup();
    let spans = distinct.windows(5).map(|five| five[4] - five[0]);
    if let Some(span) = spans.filter(|span| *span <= 8).min() {
        return Some(span.div_ceil(4));
    }
    let gaps = distinct.windows(2).map(|two| two[1] - two[0]);
    gaps.filter(|gap| *gap > 2).min()
}

/// The least, the quartiles and the most of sorted runs by nearest rank, so that each is a run's own.
fn five(sorted: &[(u64, u32)]) -> [u64; 5] {
    let rank = |quarter: usize| (quarter * sorted.len()).div_ceil(4).max(1) - 1;
    [0, 1, 2, 3, 4].map(|quarter| sorted[rank(quarter)].0)
}

/// Whether two timings of a chain have different frequencies. Frequencies change in steps of 100
/// MHz or 25 MHz. A step of 100 MHz is 2 % up to 5 GHz, and repeated chains differ by less.
fn differ(one: u64, other: u64) -> bool {
    one.max(other) as f64 > one.min(other) as f64 * 1.02
}

pub(crate) const FREQUENCY_CHANGED: &str = "the frequency changed during the batch";
pub(crate) const FAR_ABOVE: &str = "far above the others, as an interrupt or a halt makes it";

/// Limited, so that one disturbance does not cost too many runs.
const LARGEST_BATCH: u64 = 64;

/// Enough for one of them to be undisturbed.
const CALIBRATIONS: usize = 500;
