//! A comparison in words and tables.

use pacman_events::plural::{self, number};
use std::collections::{BTreeMap, BTreeSet};

use pacman_core::export::grid::{Column, Grid, fitted};
use pacman_events::shown::command_line;
use pacman_metrics::language::{Count, named};

use super::comparison::{Comparison, Key, Pair};
use super::figures::Figures;
use super::noise::{Ratio, Verdict};
use super::reduced::Side;
use crate::run::{FIGURES, Figure, of_unit, rounded, seconds, share, signed};
use crate::words::clean;

/// The comparison in lines of at most `width` columns.
pub(super) fn write(comparison: &Comparison, threshold: f64, least: f64, width: usize) -> String {
    let mut text = format!("{}\n\n", summary(comparison, threshold, least));
    text.push_str(&format!("before  {}\n", about(&comparison.before)));
    text.push_str(&format!("after   {}\n", about(&comparison.after)));
    if let Some(table) = factors(comparison) {
        text.push_str(&format!("\n{}", table.text(width)));
    }
    text.push_str(&format!("\n{}", times(comparison).text(width)));
    for table in [waits(comparison), figures(comparison), counts(comparison)].into_iter().flatten()
    {
        text.push_str(&format!("\n{}", table.text(width)));
    }
    for line in unmatched(comparison) {
        text.push_str(&format!("{line}\n"));
    }
    for note in notes(comparison) {
        text.push_str(&format!("{note}\n"));
    }
    fitted(&text, width)
}

/// The regions of one side.
fn unmatched(comparison: &Comparison) -> Vec<String> {
    let sides = [(&comparison.only_before, "before"), (&comparison.only_after, "after")];
    let line = |key: &Key, side: &str| format!("only {side}, {}: {}", share(key.share), title(key));
    sides.iter().flat_map(|(keys, side)| keys.iter().map(move |key| line(key, side))).collect()
}

/// One sentence: what got slower or faster.
pub(super) fn summary(comparison: &Comparison, threshold: f64, least: f64) -> String {
    let named = |verdict: Verdict| -> Vec<String> {
        let changed = comparison.regions.iter();
        let changed = changed.filter(|(key, pair)| pair.verdict == verdict && key.share >= least);
        let one = |(key, pair): &(Key, Pair)| {
            format!("{} ({})", title(key), change(pair.ratio.map(|ratio| ratio.value)))
        };
        changed.map(one).collect()
    };
    let (slower, faster) = (named(Verdict::Slower), named(Verdict::Faster));
    let mut parts = Vec::new();
    for (regions, word) in [(&slower, "slower"), (&faster, "faster")] {
        if let Some(first) = regions.first() {
            let more = match regions.len() {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            parts.push(format!("{word}: {first}{more}"));
        }
    }
    if comparison.regions.is_empty() {
        parts.push("no region of one side is on the other: nothing is compared".to_owned());
    } else if let Some(doubt) = comparison.doubts.first() {
        parts.push(format!("unclear: {doubt}"));
    } else if parts.is_empty() {
        let unclear = comparison.regions.iter().filter(|(key, _)| key.share >= least);
        let unclear = unclear.filter(|(_, pair)| pair.verdict == Verdict::Unclear).count();
        let threshold = share(threshold);
        parts.push(match unclear {
            0 => format!("no region differs by more than {threshold}"),
            _ => format!(
                "no region differs by more than {threshold} beyond noise; {unclear} {} unclear",
                plural::is(unclear)
            ),
        });
    }
    let alone = comparison.only_before.len() + comparison.only_after.len();
    if alone > 0 && !comparison.regions.is_empty() {
        let (regions, are) = (number(alone, "region"), plural::is(alone));
        parts.push(format!("{regions} {are} on one side only"));
    }
    let whole = &comparison.whole;
    format!(
        "{} -> {} ({}); {}",
        seconds(whole.before.seconds),
        seconds(whole.after.seconds),
        change(whole.ratio.map(|ratio| ratio.value)),
        parts.join("; ")
    )
}

fn about(side: &Side) -> String {
    let processor = side.processor.as_deref().unwrap_or("unknown processor");
    clean(&format!(
        "{}; {}; {}; {}, {processor}; {}",
        command_line(&side.command),
        number(side.reports, "report"),
        threads(side),
        side.host,
        match side.began == side.last_began {
            true => side.began.clone(),
            false => format!("{} to {}", side.began, side.last_began),
        }
    ))
}

/// `2 and 4 threads`.
fn threads(side: &Side) -> String {
    let sizes: Vec<String> = side.threads.iter().map(u32::to_string).collect();
    match &sizes[..] {
        [] => "no regions".to_owned(),
        [_] => side.threads.iter().map(|size| number(*size, "thread")).collect(),
        [all @ .., last] => format!("{} and {last} threads", all.join(", ")),
    }
}

pub(super) fn title(key: &Key) -> String {
    let file = key.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
    clean(&file.map_or_else(|| key.name.clone(), |file| format!("{}  {file}", key.name)))
}

/// `+12.3 %`.
pub(super) fn change(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".into(), |ratio| format!("{} %", signed(100.0 * (ratio - 1.0), 1)))
}

pub(super) fn interval(ratio: Option<Ratio>) -> String {
    ratio.and_then(|ratio| ratio.interval).map_or_else(
        || "-".into(),
        |(low, high)| [low, high].map(|end| signed(100.0 * (end - 1.0), 1)).join(" to "),
    )
}

/// The factors of the efficiency tree, side by side.
fn factor_rows(comparison: &Comparison) -> Vec<(&'static str, f64, f64)> {
    let (Some(before), Some(after)) = (&comparison.before.factors, &comparison.after.factors)
    else {
        return Vec::new();
    };
    let names = ["parallel efficiency", "MPI", "serialization", "load balance", "scheduling"];
    let parts = before.tree.parts().into_iter().zip(after.tree.parts());
    let rows = names.into_iter().zip(parts).map(|(name, (one, other))| (name, one, other));
    let mut rows: Vec<_> = rows.collect();
    rows.retain(|(name, before, after)| *name != "MPI" || before.min(*after) < 1.0);
    if let Some((before, after)) = before.processor_share.zip(after.processor_share) {
        rows.push(("processor share", before, after));
    }
    rows
}

fn factors(comparison: &Comparison) -> Option<Grid> {
    let rows = factor_rows(comparison);
    let mut table = Grid::new(vec![
        Column::right("before", "%"),
        Column::right("after", "%"),
        Column::label("factor"),
    ]);
    for (name, before, after) in &rows {
        let cell = |part: &f64| rounded(100.0 * part, 1);
        table.row(vec![cell(before), cell(after), (*name).into()]);
    }
    (!rows.is_empty()).then_some(table)
}

fn times(comparison: &Comparison) -> Grid {
    let mut table = Grid::new(vec![
        Column::right("before", ""),
        Column::right("after", ""),
        Column::right("change", ""),
        Column::right("95 % interval", "%"),
        Column::right("share", "%"),
        Column::left("verdict"),
        Column::label("region"),
    ]);
    for (key, pair) in &comparison.regions {
        table.row(vec![
            seconds(pair.before.seconds),
            seconds(pair.after.seconds),
            change(pair.ratio.map(|ratio| ratio.value)),
            interval(pair.ratio),
            rounded(100.0 * key.share, 1),
            pair.verdict.word().into(),
            title(key),
        ]);
    }
    table
}

/// Causes of waiting in a pair whose time differs most, and useful time.
fn waits(comparison: &Comparison) -> Option<Grid> {
    let mut table = Grid::new(vec![
        Column::right("before", ""),
        Column::right("after", ""),
        Column::right("change", ""),
        Column::left("threads' time"),
        Column::label("region"),
    ]);
    let mut rows = 0;
    for (key, pair) in &comparison.regions {
        for (cause, before, after) in causes(pair) {
            rows += 1;
            table.row(vec![
                seconds(before),
                seconds(after),
                if before > 0.0 { change(Some(after / before)) } else { "-".into() },
                cause,
                title(key),
            ]);
        }
    }
    (rows > 0).then_some(table)
}

/// Useful time, then the causes of waiting by their time on either side; those below 1 % are left out.
fn causes(pair: &Pair) -> Vec<(String, f64, f64)> {
    let all = |waits: &BTreeMap<String, f64>| waits.values().sum::<f64>();
    let least = 0.01 * all(&pair.before.waits).max(all(&pair.after.waits));
    let names: BTreeSet<&String> =
        pair.before.waits.keys().chain(pair.after.waits.keys()).collect();
    let value =
        |waits: &BTreeMap<String, f64>, name: &String| waits.get(name).copied().unwrap_or(0.0);
    let mut rows: Vec<(String, f64, f64)> = names
        .into_iter()
        .map(|name| (name.clone(), value(&pair.before.waits, name), value(&pair.after.waits, name)))
        .filter(|(_, before, after)| before.max(*after) >= least && before.max(*after) > 0.0)
        .collect();
    rows.sort_by(|one, other| {
        let is_useful = |row: &(String, f64, f64)| row.0 == "useful";
        let most = |row: &(String, f64, f64)| row.1.max(row.2);
        is_useful(other).cmp(&is_useful(one)).then(most(other).total_cmp(&most(one)))
    });
    rows
}

/// The figures with columns in reports of `run`, where they differ.
fn figures(comparison: &Comparison) -> Option<Grid> {
    let mut table = Grid::new(vec![
        Column::right("before", ""),
        Column::right("after", ""),
        Column::left("figure"),
        Column::label("region"),
    ]);
    let mut rows = 0;
    for (key, pair) in &comparison.regions {
        for (title, before, after) in different(pair) {
            rows += 1;
            table.row(vec![before, after, title, self::title(key)]);
        }
    }
    (rows > 0).then_some(table)
}

/// The titles of the figures that differ, with their values before and after.
pub(super) fn different(pair: &Pair) -> Vec<(String, String, String)> {
    let one = |figure: &Figure| {
        let of = |side: &Figures| {
            let value = side.measured.get(figure.name).copied()?;
            Some(of_unit(Some(value), figure.unit))
        };
        let (before, after) = (of(&pair.before)?, of(&pair.after)?);
        let title = figure.heading?.join(" ").trim().to_owned();
        (before != after).then_some((title, before, after))
    };
    FIGURES.iter().filter_map(one).collect()
}

fn counts(comparison: &Comparison) -> Option<Grid> {
    let events: BTreeSet<&String> = comparison
        .regions
        .iter()
        .flat_map(|(_, pair)| {
            pair.before.counts.keys().filter(|event| pair.after.counts.contains_key(*event))
        })
        .collect();
    if events.is_empty() {
        return None;
    }
    let mut heading: Vec<Column> =
        events.iter().map(|event| Column::right(event, "change")).collect();
    heading.push(Column::right("IPC", "change"));
    heading.push(Column::label("region"));
    let mut table = Grid::new(heading);
    for (key, pair) in &comparison.regions {
        let mut cells: Vec<String> =
            events.iter().map(|event| change(pair.ratio_of(event))).collect();
        cells.push(change(ipc(pair)));
        cells.push(title(key));
        table.row(cells);
    }
    Some(table)
}

/// IPC after over before.
pub(super) fn ipc(pair: &Pair) -> Option<f64> {
    let ipc = |counts: &BTreeMap<String, f64>| {
        Some(
            named("ipc")?
                .figure(|event| counts.get(event).map(|count| Count::from(*count)))
                .ok()?
                .value,
        )
    };
    let (before, after) = (ipc(&pair.before.counts)?, ipc(&pair.after.counts)?);
    (before > 0.0).then(|| after / before)
}

/// Facts that change how the figures are to be read.
pub(super) fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    if comparison.before.reports.min(comparison.after.reports) == 1 {
        notes.push(
            "one report a side: intervals have the noise of executions, not that of whole runs; compare \
             five reports a side to know it"
                .to_owned(),
        );
    }
    let (before, after) = (&comparison.before, &comparison.after);
    if (&before.host, &before.processor) != (&after.host, &after.processor) {
        notes.push("the sides ran on different hosts or processors".to_owned());
    }
    if before.threads != after.threads {
        let (before, after) = (threads(before), threads(after));
        notes.push(format!("the sides ran with different teams: {before}, then {after}"));
    }
    for (function, there, here) in &comparison.changed {
        notes.push(format!(
            "{function} has {} before and {here} after: those are matched that moved by the \
             same number of lines",
            number(*there, "region")
        ));
    }
    let estimates: BTreeSet<&str> =
        before.estimates.union(&after.estimates).map(String::as_str).collect();
    if !estimates.is_empty() {
        let events = estimates.into_iter().collect::<Vec<_>>().join(", ");
        notes.push(format!("the counts of {events} are estimates: event sets took turns"));
    }
    notes
        .extend(comparison.doubts.iter().map(|doubt| format!("all verdicts are unclear: {doubt}")));
    notes
}
