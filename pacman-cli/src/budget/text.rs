//! A budget for a person: the article's table, and what follows from it.

use pacman_metrics::budget::{Budget, CostTable};

/// The whole answer, ending in a newline.
pub(super) fn budget(budget: &Budget, table: &CostTable, clock_hz: f64) -> String {
    let issue = budget.issue;
    let percent = |part: f64| 100.0 * part;
    let mut lines = vec![
        format!("{} at {:.3} GHz", table.title, clock_hz / 1e9),
        String::new(),
        format!(
            "{:34}{:>5}{:>14}{:>16}{:>10}{:>7}",
            "", "cost", "count", "cycles", "time s", "share"
        ),
    ];
    lines.extend(budget.lines.iter().map(|row| {
        let start = format!("{:34}{:>5}{:>14}", row.meaning, row.cost, row.count);
        format!("{start}{:>16}{:>10.4}{:>6.1}%", row.cycles, row.seconds, percent(row.share))
    }));
    let (unexplained, cycles) = (budget.unexplained as f64, budget.cycles as f64);
    for (name, cycles, seconds, part) in [
        ("unexplained", budget.unexplained, unexplained / clock_hz, unexplained / cycles),
        ("run", budget.cycles as i64, budget.seconds, 1.0),
    ] {
        lines.push(format!("{name:53}{cycles:>16}{seconds:>10.4}{:>6.1}%", percent(part)));
    }
    lines.extend([
        String::new(),
        format!(
            "issue budget: {:.1}% of its cycles where {:.1}% are its fair share of {} contexts; {:.0}% used",
            percent(budget.instructions / issue.alone),
            percent(issue.fair() / issue.alone),
            issue.contexts,
            percent(budget.used)
        ),
        format!(
            "stall budget: {:.0}% used of the {:.1}% of its cycles that are its siblings' anyway",
            percent(budget.stalls_used),
            percent(issue.stall_budget())
        ),
        format!("headroom: at most {:.2} times as fast on this core", budget.headroom),
        String::new(),
    ]);
    for (rank, remedy) in budget.remedies.iter().enumerate() {
        let gain = match remedy.gain {
            Some(gain) => format!("at most {gain:.2} times"),
            None => "in proportion".into(),
        };
        lines.push(format!("{}. {} ({gain}): {}", rank + 1, remedy.kind.title(), remedy.why));
    }
    lines.push(String::new());
    if !budget.uncounted.is_empty() {
        let uncounted = budget.uncounted.join(", ");
        lines.push(format!("not counted, so stalls are at least these: {uncounted}"));
    }
    lines.push(format!("costs are estimates ({})", table.source));
    lines.extend(table.caveat.map(str::to_owned));
    lines.join("\n") + "\n"
}
