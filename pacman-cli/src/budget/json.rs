//! A budget as JSON; `pacman-pmu budget --help` describes the fields.

use pacman_metrics::budget::{self, CostTable};
use serde::Serialize;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a> {
    /// Processor in words.
    processor: &'a str,
    /// Rate of the clock.
    clock_hz: f64,
    /// Cycles of the run.
    cycles: u64,
    /// Seconds of the run.
    time_s: f64,
    /// Events with their costs, in the order of the table.
    lines: Vec<Line<'a>>,
    /// Events of the table that the file lacks.
    uncounted: &'a [&'static str],
    /// Cycles of no line; below 0 where the costs are too high.
    unexplained_cycles: i64,
    /// Instructions of the context in a cycle.
    instructions_per_cycle: f64,
    /// Instructions in a cycle that are due to it among its siblings.
    fair_share: f64,
    /// Instructions in a cycle as a part of the fair share.
    budget_used: f64,
    /// Possible speed-up before the fair share is used up; null if it is unbounded.
    headroom: Option<f64>,
    /// Stalls as a part of the siblings' slots.
    stall_budget_used: f64,
    /// Remedies, the most effective first.
    remedies: Vec<Remedy<'a>>,
    /// Limit of the figures.
    caveat: Option<&'a str>,
    /// Source of the costs.
    source: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Line<'a> {
    /// Name of the event.
    event: &'a str,
    /// Meaning of the event.
    meaning: &'a str,
    /// Cycles of one.
    cost: u32,
    /// Number of the events.
    count: u64,
    /// Cycles of all.
    cycles: u64,
    /// Seconds of all.
    time_s: f64,
    /// Part of the time of the run.
    share: f64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Remedy<'a> {
    /// The remedy in words.
    remedy: &'a str,
    /// Speed-up at most; null where unbounded.
    gain: Option<f64>,
    /// Reason for the gain.
    why: &'a str,
}

pub(super) fn budget<'a>(
    budget: &'a budget::Budget,
    table: &'a CostTable,
    clock_hz: f64,
) -> Document<'a> {
    let lines = budget.lines.iter().map(|line| Line {
        event: line.event,
        meaning: line.meaning,
        cost: line.cost,
        count: line.count,
        cycles: line.cycles,
        time_s: line.seconds,
        share: line.share,
    });
    let remedies = budget.remedies.iter().map(|remedy| Remedy {
        remedy: remedy.kind.title(),
        gain: remedy.gain,
        why: &remedy.why,
    });
    Document {
        processor: table.title,
        clock_hz,
        cycles: budget.cycles,
        time_s: budget.seconds,
        lines: lines.collect(),
        uncounted: &budget.uncounted,
        unexplained_cycles: budget.unexplained,
        instructions_per_cycle: budget.instructions,
        fair_share: budget.issue.fair(),
        budget_used: budget.used,
        headroom: Some(budget.headroom).filter(|factor| factor.is_finite()),
        stall_budget_used: budget.stalls_used,
        remedies: remedies.collect(),
        caveat: table.caveat,
        source: table.source,
    }
}
