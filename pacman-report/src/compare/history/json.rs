//! A history for programs, and for its page.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::reduced::Side;
use super::chain::{Change, History, Region, Run, Step};
use super::text;
use crate::document::{Quotient, Seconds};
use crate::run::{StateMember, thread_states};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a> {
    /// Name of the format.
    #[cfg_attr(test, schemars(extend("const" = "pacman-history")))]
    format: &'a str,
    /// Rises where a member changes its meaning or disappears.
    #[cfg_attr(test, schemars(extend("const" = 1)))]
    version: u32,
    /// The latest run against the one before, in a sentence.
    headline: String,
    /// Runs in the order as given.
    runs: Vec<RunDocument<'a>>,
    /// Regions of all runs, longest first.
    regions: Vec<RegionDocument<'a>>,
    /// The states of threads in regions, in the order in which they are shown.
    thread_states: Vec<StateMember<'a>>,
    /// Facts that a reader of the figures must know.
    notes: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RunDocument<'a> {
    /// Label of its reports, or the name of its file.
    label: &'a str,
    #[serde(flatten)]
    side: &'a Side,
    #[serde(flatten)]
    step: StepDocument<'a>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RegionDocument<'a> {
    /// Name of the region in the latest run that has it.
    name: &'a str,
    /// Its source file.
    file: Option<&'a str>,
    /// The region in each run; null in one that lacks it.
    runs: Vec<Option<RegionStep<'a>>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RegionStep<'a> {
    /// Executions.
    executions: f64,
    /// Part of a process's time.
    share: Quotient,
    #[serde(flatten)]
    step: StepDocument<'a>,
}

/// Medians over the reports of a run.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct StepDocument<'a> {
    /// Wall time.
    time_s: Seconds,
    /// Time over that of the run before; null without such a time.
    ratio: Option<Quotient>,
    /// Lower end of its 95 % interval; null if noise is not known.
    low: Option<Quotient>,
    /// Upper end of its 95 % interval.
    high: Option<Quotient>,
    /// Against the threshold; null in the first run, and of a region that the run before lacks.
    #[cfg_attr(test, schemars(extend("enum" = ["faster", "slower", "same", "unclear", null])))]
    verdict: Option<&'a str>,
    /// Useful part of the threads' time in regions; null if waits were not timed.
    useful: Option<Quotient>,
    /// Seconds of all threads in regions: useful, start, end, and waits by cause; empty if waits were not timed.
    states: BTreeMap<&'a str, Seconds>,
}

pub(super) fn document(history: &History) -> Document<'_> {
    Document {
        format: "pacman-history",
        version: 1,
        headline: text::headline(history),
        runs: history.runs.iter().map(run).collect(),
        regions: history.regions.iter().map(region).collect(),
        thread_states: thread_states(),
        notes: text::notes(history),
    }
}

fn run(run: &Run) -> RunDocument<'_> {
    RunDocument { label: &run.label, side: &run.side, step: step(&run.program) }
}

fn region<'a>(region: &'a Region) -> RegionDocument<'a> {
    let of = |own: &'a Step| RegionStep {
        executions: own.figures.executions,
        share: Quotient(own.share),
        step: step(own),
    };
    let runs = region.runs.iter().map(|own| own.as_ref().map(of)).collect();
    RegionDocument { name: &region.name, file: region.file.as_deref(), runs }
}

fn step(step: &Step) -> StepDocument<'_> {
    let ratio = step.change.and_then(|change| change.ratio);
    let interval = ratio.and_then(|ratio| ratio.interval);
    StepDocument {
        time_s: Seconds(step.figures.seconds),
        ratio: ratio.map(|ratio| Quotient(ratio.value)),
        low: interval.map(|(low, _)| Quotient(low)),
        high: interval.map(|(_, high)| Quotient(high)),
        verdict: step.change.map(|Change { verdict, .. }| verdict.word()),
        useful: step.useful().map(Quotient),
        states: step
            .figures
            .waits
            .iter()
            .map(|(cause, time)| (cause.as_str(), Seconds(*time)))
            .collect(),
    }
}
