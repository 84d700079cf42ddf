//! A budget for a person: the article's table, and what follows from it.

use std::fmt::Write;

use pacman_metrics::budget::{Budget, CostTable};

/// The whole answer, ending in a newline.
pub(super) fn budget(budget: &Budget, table: &CostTable, clock_hz: f64) -> String {
    let mut text = String::new();
    let out = &mut text;
    let issue = budget.issue;
    line(out, format_args!("{} at {:.3} GHz", table.title, clock_hz / 1e9));
    line(out, format_args!(""));
    line(
        out,
        format_args!(
            "{:34}{:>5}{:>14}{:>16}{:>10}{:>7}",
            "", "cost", "count", "cycles", "time s", "share"
        ),
    );
    for row in &budget.lines {
        line(
            out,
            format_args!(
                "{:34}{:>5}{:>14}{:>16}{:>10.4}{:>6.1}%",
                row.meaning,
                row.cost,
                row.count,
                row.cycles,
                row.seconds,
                100.0 * row.share
            ),
        );
    }
    let cycles = budget.cycles as f64;
    let unexplained = budget.unexplained as f64;
    line(
        out,
        format_args!(
            "{:53}{:>16}{:>10.4}{:>6.1}%",
            "unexplained",
            budget.unexplained,
            unexplained / clock_hz,
            100.0 * unexplained / cycles
        ),
    );
    line(
        out,
        format_args!("{:53}{:>16}{:>10.4}{:>6.1}%", "run", budget.cycles, budget.seconds, 100.0),
    );
    line(out, format_args!(""));
    line(
        out,
        format_args!(
            "issue budget: {:.1}% of its cycles where {:.1}% are its fair share of {} contexts; \
             {:.0}% used",
            100.0 * budget.instructions / issue.alone,
            100.0 * issue.fair() / issue.alone,
            issue.contexts,
            100.0 * budget.used
        ),
    );
    line(
        out,
        format_args!(
            "stall budget: {:.0}% used of the {:.1}% of its cycles that are its siblings' anyway",
            100.0 * budget.stalls_used,
            100.0 * issue.stall_budget()
        ),
    );
    line(out, format_args!("headroom: at most {:.2} times as fast on this core", budget.headroom));
    line(out, format_args!(""));
    for (rank, remedy) in budget.remedies.iter().enumerate() {
        let gain = match remedy.gain {
            Some(gain) => format!("at most {gain:.2} times"),
            None => "in proportion".into(),
        };
        let title = remedy.kind.title();
        line(out, format_args!("{}. {title} ({gain}): {}", rank + 1, remedy.why));
    }
    line(out, format_args!(""));
    if !budget.uncounted.is_empty() {
        let uncounted = budget.uncounted.join(", ");
        line(out, format_args!("not counted, so stalls are at least these: {uncounted}"));
    }
    line(out, format_args!("costs are estimates ({})", table.source));
    if let Some(caveat) = table.caveat {
        line(out, format_args!("{caveat}"));
    }
    text
}

/// Writes one line. A write to a string cannot fail.
fn line(out: &mut String, words: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "{words}");
}
