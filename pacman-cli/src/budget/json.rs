//! A budget as JSON; `pacman-pmu budget --help` describes the fields.

use pacman_metrics::budget::{self, CostTable};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Document<'a> {
    processor: &'a str,
    clock_hz: f64,
    cycles: u64,
    time_s: f64,
    lines: Vec<Line<'a>>,
    uncounted: &'a [&'static str],
    unexplained_cycles: i64,
    instructions_per_cycle: f64,
    fair_share: f64,
    budget_used: f64,
    headroom: f64,
    stall_budget_used: f64,
    remedies: Vec<Remedy<'a>>,
    caveat: Option<&'a str>,
    source: &'a str,
}

#[derive(Serialize)]
struct Line<'a> {
    event: &'a str,
    meaning: &'a str,
    cost: u32,
    count: u64,
    cycles: u64,
    time_s: f64,
    share: f64,
}

#[derive(Serialize)]
struct Remedy<'a> {
    remedy: &'a str,
    gain: Option<f64>,
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
        headroom: budget.headroom,
        stall_budget_used: budget.stalls_used,
        remedies: remedies.collect(),
        caveat: table.caveat,
        source: table.source,
    }
}
