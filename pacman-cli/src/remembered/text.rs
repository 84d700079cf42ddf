//! Memories as tables.

use pacman_events::plural::number;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use pacman_core::export::grid::{Column, Grid};
use pacman_events::shown::{shown, shown_path};
use pacman_regions::{ProgramMemory, RegionMemory};

use super::store::Kept;
use crate::terminal::Terminal;
use pacman_report::words::grouped;
use pacman_report::words::{seconds, share};

/// A line for each program.
pub(super) fn list(out: &mut dyn Write, directory: &Path, all: &[Kept]) -> io::Result<()> {
    if all.is_empty() {
        return writeln!(out, "nothing is kept in {}", shown_path(directory));
    }
    let columns =
        [("program", true), ("regions", false), ("runs", false), ("age", false), ("machine", true)];
    let mut grid = Grid::new(columns.map(column).to_vec());
    for kept in all {
        let age = age(kept.changed);
        grid.row(match &kept.memory {
            Ok(memory) => {
                let runs = memory.regions.iter().map(|region| region.runs);
                let runs = runs.chain(memory.starts.iter().map(|start| start.runs)).max();
                let runs = runs.unwrap_or(0);
                let regions = memory.regions.len().to_string();
                let (program, machine) = (shown(&memory.of.program), shown(&memory.of.machine));
                vec![program.to_string(), regions, grouped(runs), age, machine.to_string()]
            }
            Err(why) => vec![String::new(), String::new(), String::new(), age, why.clone()],
        });
    }
    write!(out, "{}\nin {}\n", grid.text(Terminal::stdout().width()), shown_path(directory))
}

/// The regions of one program, on each machine and of each build.
pub(super) fn show(out: &mut dyn Write, all: &[&Kept]) -> io::Result<()> {
    for kept in all {
        let memory = match &kept.memory {
            Ok(memory) => memory,
            Err(why) => {
                writeln!(out, "{why}")?;
                continue;
            }
        };
        let of = &memory.of;
        let (program, machine) = (shown(&of.program), shown(&of.machine));
        let build = shown(&of.build_id[..of.build_id.len().min(8)]).to_string();
        writeln!(out, "{program} (build {build}) on {machine}, {} ago\n", age(kept.changed))?;
        let columns = [
            ("threads", false),
            ("default", false),
            ("best", true),
            ("of default", false),
            ("measured", false),
            ("executions", false),
            ("runs", false),
            ("region", true),
        ];
        let mut grid = Grid::new(columns.map(column).to_vec());
        memory.regions.iter().for_each(|region| grid.row(row(region)));
        if !memory.regions.is_empty() {
            writeln!(out, "{}", grid.text(Terminal::stdout().width()))?;
        }
        if !memory.starts.is_empty() {
            writeln!(out, "{}", starts(memory).text(Terminal::stdout().width()))?;
        }
    }
    Ok(())
}

/// The runs by the number of threads that they started with.
fn starts(memory: &ProgramMemory) -> Grid {
    let columns = [
        ("threads", false),
        ("execution", false),
        ("others", true),
        ("runs", false),
        ("arguments", true),
    ];
    let mut grid = Grid::new(columns.map(column).to_vec());
    for start in &memory.starts {
        let others = start.expected.iter();
        let others = others.map(|(threads, ratio)| format!("{threads}: {}", share(*ratio)));
        grid.row(vec![
            start.threads.to_string(),
            seconds(start.cost),
            others.collect::<Vec<_>>().join(", "),
            grouped(start.runs),
            shown(&start.arguments).to_string(),
        ]);
    }
    grid
}

fn row(region: &RegionMemory) -> Vec<String> {
    let cost = match region.objective.as_str() {
        "time" => seconds(region.default_cost),
        objective => format!("{:.3e} ({})", region.default_cost, shown(objective)),
    };
    let (best, ratio) = region.best().map_or(("the default", 1.0), |(on, ratio)| (on, ratio));
    let name = if region.name.is_empty() { &region.region } else { &region.name };
    vec![
        region.threads.to_string(),
        cost,
        shown(best).to_string(),
        format!("{ratio:.3}"),
        (region.ratios.len() + 1).to_string(),
        grouped(region.executions),
        grouped(region.runs),
        shown(name).to_string(),
    ]
}

fn column((name, left): (&str, bool)) -> Column {
    // Both tables end with words.
    if name == "machine" || name == "region" {
        Column::label(name)
    } else if left {
        Column::left(name)
    } else {
        Column::right(name, "")
    }
}

/// The time since then, in its largest unit.
fn age(then: SystemTime) -> String {
    // A clock may have been set back.
    let passed = SystemTime::now().duration_since(then).unwrap_or(Duration::ZERO).as_secs();
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let (length, unit) =
        units.into_iter().find(|(length, _)| passed >= 2 * length).unwrap_or((1, "second"));
    number(passed / length, unit)
}
