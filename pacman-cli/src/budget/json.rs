//! A budget as JSON; `pacman-pmu budget --help` describes the fields.

use pacman_metrics::budget::{Budget, CostTable};
use serde_json::{Value, json};

pub(super) fn budget(budget: &Budget, table: &CostTable, clock_hz: f64) -> Value {
    let lines = budget.lines.iter().map(|line| {
        json!({
            "event": line.event,
            "meaning": line.meaning,
            "cost": line.cost,
            "count": line.count,
            "cycles": line.cycles,
            "time_s": line.seconds,
            "share": line.share,
        })
    });
    let remedies = budget.remedies.iter().map(
        |remedy| json!({ "remedy": remedy.kind.title(), "gain": remedy.gain, "why": remedy.why }),
    );
    json!({
        "processor": table.title,
        "clock_hz": clock_hz,
        "cycles": budget.cycles,
        "time_s": budget.seconds,
        "lines": lines.collect::<Vec<Value>>(),
        "uncounted": budget.uncounted,
        "unexplained_cycles": budget.unexplained,
        "instructions_per_cycle": budget.instructions,
        "fair_share": budget.issue.fair(),
        "budget_used": budget.used,
        "headroom": budget.headroom,
        "stall_budget_used": budget.stalls_used,
        "remedies": remedies.collect::<Vec<Value>>(),
        "caveat": table.caveat,
        "source": table.source,
    })
}
