//! A history in words and tables.

use std::collections::BTreeSet;

use pacman_core::export::grid::{Column, Grid, fitted};
use pacman_events::plural::number;
use pacman_events::shown::command_line;

use super::super::text::{change, interval};
use super::chain::{Change, History, Region, Run, Step};
use crate::run::{rounded, seconds, share};
use crate::words::clean;

/// The history in lines of at most `width` columns.
pub(super) fn write(history: &History, width: usize) -> String {
    let mut text = format!("{}\n\n{}", headline(history), runs(history).text(width));
    for (title, table) in [("changed regions", changes(history)), ("all regions", regions(history))]
    {
        if let Some(table) = table {
            text.push_str(&format!("\n{title}\n{}", table.text(width)));
        }
    }
    let notes = notes(history);
    if !notes.is_empty() {
        text.push('\n');
    }
    notes.iter().for_each(|note| text.push_str(&format!("{note}\n")));
    fitted(&text, width)
}

/// The latest run, against the one before and the first.
pub(super) fn headline(history: &History) -> String {
    let (first, last) = (&history.runs[0], &history.runs[history.runs.len() - 1]);
    let program = last.side.command.first().map_or("?", |path| path.as_str());
    let now = last.program.figures.seconds;
    let mut parts = vec![format!("{program}: {}", number(history.runs.len(), "run"))];
    let mut times = format!("{} in the latest, {}", seconds(now), last.label);
    if let Some(Change { ratio, .. }) = last.program.change {
        times.push_str(&format!(" ({} to the one before", change(ratio.map(|it| it.value))));
        let since = (first.program.figures.seconds > 0.0)
            .then(|| now / first.program.figures.seconds)
            .filter(|_| history.runs.len() > 2);
        if let Some(since) = since {
            times.push_str(&format!(", {} to the first", change(Some(since))));
        }
        times.push(')');
    }
    parts.push(times);
    let changed: Vec<String> = history
        .changes(history.runs.len() - 1)
        .map(|(region, _, Change { ratio, verdict })| {
            let ratio = change(ratio.map(|ratio| ratio.value));
            format!("{} {} ({ratio})", title(region), verdict.word())
        })
        .collect();
    if let Some(first) = changed.first() {
        let more = match changed.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        parts.push(format!("{first}{more}"));
    }
    clean(&parts.join("; "))
}

fn title(region: &Region) -> String {
    let file = region.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
    clean(&file.map_or_else(|| region.name.clone(), |file| format!("{}  {file}", region.name)))
}

fn percent(part: Option<f64>) -> String {
    part.map_or_else(|| "-".into(), |part| rounded(100.0 * part, 1))
}

/// Change, interval and verdict against the run before.
fn against(step: &Step) -> [String; 3] {
    match step.change {
        None => ["-", "-", "-"].map(String::from),
        Some(Change { ratio, verdict }) => {
            [change(ratio.map(|ratio| ratio.value)), interval(ratio), verdict.word().into()]
        }
    }
}

fn worst(step: &Step) -> String {
    step.worst().map_or_else(|| "-".into(), |(cause, part)| format!("{} {cause}", share(part)))
}

fn runs(history: &History) -> Grid {
    let mut table = Grid::new(vec![
        Column::left("run"),
        Column::left("date"),
        Column::right("reports", ""),
        Column::right("time", ""),
        Column::right("change", ""),
        Column::right("95 % interval", "%"),
        Column::left("verdict"),
        Column::right("efficiency", "%"),
        Column::right("useful", "%"),
        Column::label("most waiting"),
    ]);
    for run in &history.runs {
        let [change, interval, verdict] = against(&run.program);
        let efficiency = run.side.factors.as_ref().map(|factors| factors.tree.parallel);
        table.row(vec![
            clean(&run.label),
            run.side.began.get(..10).unwrap_or_default().to_owned(),
            run.side.reports.to_string(),
            seconds(run.program.figures.seconds),
            change,
            interval,
            verdict,
            percent(efficiency),
            percent(run.program.useful()),
            worst(&run.program),
        ]);
    }
    table
}

/// Each change of a region beyond threshold and noise.
fn changes(history: &History) -> Option<Grid> {
    let mut table = Grid::new(vec![
        Column::left("run"),
        Column::right("time", ""),
        Column::right("change", ""),
        Column::right("95 % interval", "%"),
        Column::left("verdict"),
        Column::label("region"),
    ]);
    let mut rows = 0;
    for (at, run) in history.runs.iter().enumerate() {
        for (region, step, _) in history.changes(at) {
            rows += 1;
            let [change, interval, verdict] = against(step);
            let time = seconds(step.figures.seconds);
            table.row(vec![clean(&run.label), time, change, interval, verdict, title(region)]);
        }
    }
    (rows > 0).then_some(table)
}

/// Each region in the first run that has it and in the latest.
fn regions(history: &History) -> Option<Grid> {
    let mut table = Grid::new(vec![
        Column::right("first", ""),
        Column::right("latest", ""),
        Column::right("change", ""),
        Column::right("share", "%"),
        Column::right("useful", "%"),
        Column::left("most waiting"),
        Column::right("runs", ""),
        Column::label("region"),
    ]);
    for region in &history.regions {
        let all: Vec<&Step> = region.runs.iter().flatten().collect();
        let [first, .., last] = all[..] else {
            table.row(alone(region, all[0]));
            continue;
        };
        let (before, now) = (first.figures.seconds, last.figures.seconds);
        table.row(vec![
            seconds(before),
            seconds(now),
            change((before > 0.0).then(|| now / before)),
            rounded(100.0 * last.share, 1),
            percent(last.useful()),
            worst(last),
            all.len().to_string(),
            title(region),
        ]);
    }
    (!history.regions.is_empty()).then_some(table)
}

/// The row of a region that one run has.
fn alone(region: &Region, step: &Step) -> Vec<String> {
    vec![
        seconds(step.figures.seconds),
        seconds(step.figures.seconds),
        "-".into(),
        rounded(100.0 * step.share, 1),
        percent(step.useful()),
        worst(step),
        "1".into(),
        title(region),
    ]
}

/// Facts that change how the figures are to be read.
pub(super) fn notes(history: &History) -> Vec<String> {
    let mut notes = vec![format!(
        "a verdict is against the run before, from {} on beyond noise",
        share(history.threshold)
    )];
    let runs = &history.runs;
    if runs.iter().any(|run| run.side.reports == 1) {
        notes.push(
            "runs of one report: intervals of their regions have the noise of executions, not that of whole runs; give \
             several reports one label (run --label) to know it"
                .into(),
        );
    }
    let busy = runs.iter().filter(|run| run.side.lacks_processors).count();
    if busy > 0 {
        notes.push(format!(
            "threads had no processor of their own in {}: changes from and to {} are unclear",
            number(busy, "run"),
            if busy == 1 { "it" } else { "them" }
        ));
    }
    for (what, of) in [
        ("hosts or processors", machine as fn(&Run) -> String),
        ("numbers of threads", threads),
        ("commands", |run| command_line(&run.side.command)),
    ] {
        let all: BTreeSet<String> = runs.iter().map(of).collect();
        if all.len() > 1 {
            let changed = runs.windows(2).filter(|pair| of(&pair[0]) != of(&pair[1]));
            let labels: Vec<String> = changed.map(|pair| clean(&pair[1].label)).collect();
            let few = labels.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
            let more = match labels.len().saturating_sub(3) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            notes.push(format!("the runs have different {what}: they change at {few}{more}"));
        }
    }
    notes
}

fn machine(run: &Run) -> String {
    format!("{} {:?}", run.side.host, run.side.processor)
}

fn threads(run: &Run) -> String {
    format!("{:?}", run.side.threads)
}
