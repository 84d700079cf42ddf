//! Runs a section: warm-up, calibration and batches.

use std::hint::black_box;

use super::instrument::{Instrument, KernelWork};
use super::pace;
use super::plan::Plan;
use super::timed::{Discard, Timed, Verdicts};
use pacman_events::Result;

/// One run: ticks with their overhead, and the CPU. No ticks if the clock went back.
#[derive(Clone, Copy, Debug)]
struct Run {
    ticks: Option<u64>,
    before: u32,
    after: u32,
}

/// The measurements at the edge of a batch.
#[derive(Clone, Copy, Debug)]
struct Edge {
    kernel: KernelWork,
    pace: Option<u64>,
}

pub(super) fn run<I: Instrument, T>(
    instrument: &mut I,
    plan: &Plan,
    mut section: impl FnMut() -> T,
) -> Result<Timed> {
    let batch = warm_up(instrument, plan, &mut section);
    // Written once, so that the kernel has no new page to map while a section runs.
    let empty = Run { ticks: None, before: 0, after: 0 };
    let mut runs = vec![empty; batch.min(plan.repetitions as usize)];
    let mut verdicts = Verdicts::with_capacity(plan.repetitions as usize);
    let mut empty_runs = Vec::with_capacity(2 * CALIBRATIONS);
    calibrate(instrument, &mut empty_runs);
    let mut left = plan.repetitions as usize;
    let mut before = Edge::read(instrument);
    verdicts.pace(before.pace);
    while left > 0 {
        let size = left.min(runs.len());
        for run in &mut runs[..size] {
            *run = once(instrument, &mut section);
        }
        let after = Edge::read(instrument);
        verdicts.pace(after.pace);
        let spoilt = Edge::between(&before, &after);
        for run in &runs[..size] {
            match run.kept().and_then(|ticks| spoilt.map_or(Ok(ticks), Err)) {
                Ok(ticks) => verdicts.keep(ticks, run.after),
                Err(reason) => verdicts.discard(reason),
            }
        }
        left -= size;
        // The next batch must not include the time of this edge.
        before = Edge { pace: after.pace, ..Edge::read_kernel(instrument) };
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
    Run { ticks: end.checked_sub(begin), before, after }
}

impl Run {
    fn kept(&self) -> Result<u64, Discard> {
        if self.before != self.after {
            return Err(Discard::Migrated);
        }
        self.ticks.ok_or(Discard::ClockWentBack)
    }
}

impl Edge {
    fn read<I: Instrument>(instrument: &mut I) -> Edge {
        let pace = instrument.pace();
        Edge { kernel: instrument.kernel(), pace }
    }

    fn read_kernel<I: Instrument>(instrument: &mut I) -> Edge {
        Edge { kernel: instrument.kernel(), pace: None }
    }

    /// The disturbance between two edges, if there was one.
    fn between(before: &Edge, after: &Edge) -> Option<Discard> {
        if before.kernel.switches != after.kernel.switches {
            return Some(Discard::Switched);
        }
        if before.kernel.faults != after.kernel.faults {
            return Some(Discard::Faulted);
        }
        match (before.pace, after.pace) {
            (Some(one), Some(other)) if pace::differ(one, other) => Some(Discard::FrequencyChanged),
            _ => None,
        }
    }
}

/// Limited, so that one disturbance does not cost too many runs.
const LARGEST_BATCH: u64 = 64;

/// Enough for one of them to be undisturbed.
const CALIBRATIONS: usize = 500;
