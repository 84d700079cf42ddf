//! Issue slots for a terminal: a row for each core, siblings side by side, and what SMT off would do.

use std::collections::BTreeSet;

use pacman_core::export::grid::{Column, Grid};
use pacman_metrics::slots::{SmtOff, Verdict};

use super::amount::{absent, percent};
use super::spread::{IN_FULL, Spread};
use crate::run::report::{CoreSlots, ProcessReport, RegionReport, RegionSlots, ThreadSlots};
use crate::slots::headings;
use crate::words::clean;

/// The slots of the first `shown` regions; empty if their events were not counted.
pub(super) fn section(
    process: &ProcessReport,
    shown: usize,
    each_thread: bool,
    width: usize,
) -> String {
    let regions: Vec<(&RegionReport, &RegionSlots)> = process.regions[..shown]
        .iter()
        .filter_map(|region| Some((region, region.slots.as_ref()?)))
        .collect();
    if regions.is_empty() {
        return String::new();
    }
    let cores = || regions.iter().flat_map(|(_, slots)| &slots.cores);
    let abreast = cores().map(|core| core.threads.len()).max().unwrap_or(1).clamp(1, ABREAST);
    let has_contention = cores()
        .flat_map(|core| &core.threads)
        .any(|thread| thread.shares.is_some_and(|shares| shares.smt_contention.is_some()));
    let mut heading = vec![Column::right("core", "")];
    for _ in 0..abreast {
        heading.push(Column::right("thread", ""));
        heading.extend(headings(figures(has_contention)));
    }
    heading.push(Column::label("region"));
    let mut table = Grid::new(heading);
    for (region, slots) in &regions {
        let mut name = clean(&region.name.short());
        if !each_thread && region.threads.len() > IN_FULL {
            for (word, of) in SPREAD {
                let mut cells = vec![word.to_owned(), String::new()];
                cells.extend(spread(slots, of, has_contention));
                cells.resize(1 + abreast * (1 + figures(has_contention)), String::new());
                cells.push(std::mem::take(&mut name));
                table.row(cells);
            }
            continue;
        }
        for core in &slots.cores {
            for (row, threads) in core.threads.chunks(abreast).enumerate() {
                let mut cells = vec![if row == 0 { place(core) } else { String::new() }];
                for number in 0..abreast {
                    cells.extend(thread(threads.get(number), has_contention));
                }
                cells.push(std::mem::take(&mut name));
                table.row(cells);
            }
        }
    }
    format!("\nIssue slots of each thread:\n{}{}", table.text(width), lines(&regions))
}

/// The verdicts, then the reasons for absent shares.
fn lines(regions: &[(&RegionReport, &RegionSlots)]) -> String {
    let mut text = String::new();
    let mut is_open = false;
    for (region, slots) in regions {
        let Some(off) = &slots.smt_off else { continue };
        is_open |= off.verdict == Verdict::Undecided;
        text.push_str(&format!("{}: {}\n", clean(&region.name.short()), sentence(off)));
    }
    if is_open {
        text.push_str("To decide, run with one thread a core (OMP_PLACES=cores) and compare.\n");
    }
    let absent: BTreeSet<String> = regions
        .iter()
        .flat_map(|(region, slots)| {
            slots.cores.iter().filter_map(|core| {
                let why = core.why_absent.as_ref()?;
                Some(format!(
                    "{}, core {}: no slots: {why}\n",
                    clean(&region.name.short()),
                    place(core)
                ))
            })
        })
        .collect();
    absent.iter().for_each(|line| text.push_str(line));
    text
}

/// The verdict on a region with SMT off, with its bounds and the reason.
pub(in crate::run) fn sentence(off: &SmtOff) -> String {
    let speed = format!("{:.2} to {:.2} of its speed", off.speed.low, off.speed.high);
    let verdict = match off.verdict {
        Verdict::Pays => "SMT off pays",
        Verdict::Costs => "SMT off costs",
        _ => "SMT off is undecided",
    };
    format!("{verdict}, {speed}: {}", off.reason)
}

fn place(core: &CoreSlots) -> String {
    core.place.map_or_else(|| "?".into(), |(_, core)| core.to_string())
}

fn thread(thread: Option<&ThreadSlots>, has_contention: bool) -> Vec<String> {
    let figures = figures(has_contention);
    let Some(thread) = thread else { return vec![String::new(); 1 + figures] };
    let mut cells = vec![format!("T{}", thread.thread)];
    cells.extend(match &thread.shares {
        Some(shares) => shares.parts()[..figures].iter().copied().map(percent).collect(),
        None => vec![absent(); figures],
    });
    cells
}

fn figures(has_contention: bool) -> usize {
    if has_contention { 5 } else { 4 }
}

type Part = fn(Spread) -> f64;

/// The rows of a wide team.
const SPREAD: [(&str, Part); 3] = [
    ("least", |spread| spread.least),
    ("median", |spread| spread.median),
    ("most", |spread| spread.most),
];

/// A figure of each kind of slot over all threads.
fn spread(slots: &RegionSlots, of: Part, has_contention: bool) -> Vec<String> {
    let threads = || slots.cores.iter().flat_map(|core| &core.threads);
    let part = |at: usize| {
        let values =
            threads().filter_map(|thread| Some((thread.thread, thread.shares?.parts()[at]?)));
        percent(Spread::of(values).map(of))
    };
    (0..figures(has_contention)).map(part).collect()
}

/// The most threads of a core in one row.
const ABREAST: usize = 2;
