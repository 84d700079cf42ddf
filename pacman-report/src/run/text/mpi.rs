//! MPI over all ranks: the tree of factors in words, and the calls.

use pacman_core::export::grid::{Column, Grid};

use super::amount::{seconds, share};
use crate::run::report::{MpiCall, MpiFactor, MpiFactors, MpiSummary, ProcessReport, Report};
use crate::words::{clean, grouped};

/// The tree and the table of calls; empty without timed MPI calls.
pub(super) fn section(report: &Report, is_short: bool, width: usize) -> String {
    let MpiSummary { calls, times, .. } = &report.overview.mpi;
    if calls.is_empty() {
        return String::new();
    }
    let mut text = MpiFactors::of(times).map_or_else(String::new, |factors| {
        format!("\n{}", tree(&factors, &hosts(&report.overview.mpi)))
    });
    let shown = if is_short { calls.len().min(CALLS) } else { calls.len() };
    let calls_table = table(&calls[..shown], report.overview.mpi.seconds());
    text.push_str(&format!("\n{}", calls_table.text(width)));
    if shown < calls.len() {
        let left_out = calls.len() - shown;
        text.push_str(&super::amount::left_out_here(left_out, "MPI function"));
    }
    report.processes.iter().filter_map(by_thread).for_each(|line| text.push_str(&line));
    text
}

/// A line on a process in which several threads called MPI outside of regions.
fn by_thread(process: &ProcessReport) -> Option<String> {
    let threads = &process.mpi.as_ref()?.threads;
    let one = |&(thread, starts_regions, time): &(u32, bool, f64)| {
        let starts = if starts_regions { " (starts regions)" } else { "" };
        format!("thread {thread}{starts} {}", seconds(time))
    };
    let all: Vec<String> = threads.iter().map(one).collect();
    let pid = process.process.pid;
    let all = (all.len() > 1).then(|| all.join(", "))?;
    Some(format!("process {pid}{}: in MPI outside of regions: {all}\n", place(process)))
}

/// `, rank 2 of 4 on node7`, as far as it is known; empty for a process without a rank.
pub(super) fn place(process: &ProcessReport) -> String {
    let Some(rank) = process.process.rank else { return String::new() };
    let of = rank.ranks.map_or_else(String::new, |ranks| format!(" of {ranks}"));
    let host = process.process.host.as_deref().map(clean);
    let host = host.map_or_else(String::new, |host| format!(" on {host}"));
    format!(", rank {}{of}{host}", rank.rank)
}

/// The hosts of the processes that called MPI.
fn hosts(mpi: &MpiSummary) -> String {
    match mpi.hosts.len() {
        0 => String::new(),
        1 => format!(" on {}", clean(mpi.hosts.first().map_or("", String::as_str))),
        several => format!(" on {several} hosts"),
    }
}

/// The worst factor comes first.
fn tree(factors: &MpiFactors, hosts: &str) -> String {
    let ranks = format!("{} MPI processes", factors.processes);
    let mut lines = vec![match factors.parallel {
        Some(parallel) => {
            format!("{ranks}{hosts}: {} of their threads' time was useful work.", share(parallel))
        }
        None => format!("{ranks}{hosts}: {} of their time was outside of MPI.", share(factors.mpi)),
    }];
    for (at, (factor, value)) in factors.factors().into_iter().enumerate() {
        lines.push(format!("  {:<17}{:>7}  {}", name(factor), share(value), meaning(factor)));
        if at == 0 && value < 1.0 - WORTH {
            lines.push(format!("    {}", help(factor)));
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The part of the time from which on a loss is worth a word.
const WORTH: f64 = 0.01;

pub(in crate::run) fn name(factor: MpiFactor) -> &'static str {
    match factor {
        MpiFactor::LoadBalance => "MPI load balance",
        MpiFactor::Communication => "communication",
        MpiFactor::OpenMp => "OpenMP",
    }
}

pub(in crate::run) fn meaning(factor: MpiFactor) -> &'static str {
    match factor {
        MpiFactor::LoadBalance => "the rest: processes wait in MPI for the one that has most to do",
        MpiFactor::Communication => "the rest: MPI takes the time of that process as well",
        MpiFactor::OpenMp => "the rest: threads lose it outside of MPI, see each process",
    }
}

fn help(factor: MpiFactor) -> &'static str {
    match factor {
        MpiFactor::LoadBalance => "To help: give the processes equal work.",
        MpiFactor::Communication => {
            "To help: send less, send fewer and larger messages, or compute while messages travel."
        }
        MpiFactor::OpenMp => "To help: see the efficiency of each process below.",
    }
}

/// The calls of all processes; `all` has the seconds of all processes.
fn table(calls: &[MpiCall], all: f64) -> Grid {
    let mut table = Grid::new(vec![
        Column::right("in MPI", ""),
        Column::right("share", "%"),
        Column::right("calls", ""),
        Column::right("mean", ""),
        Column::right("in regions", ""),
        Column::label("function"),
    ]);
    for call in calls {
        let count = call.count + call.inside_count;
        let part = if all > 0.0 { 100.0 * call.total() / all } else { 0.0 };
        table.row(vec![
            seconds(call.total()),
            format!("{part:.1}"),
            grouped(count),
            seconds(call.total() / count.max(1) as f64),
            match call.inside_count {
                0 => "-".into(),
                _ => seconds(call.inside_seconds),
            },
            clean(&call.name),
        ]);
    }
    table
}

/// Functions on standard error.
const CALLS: usize = 10;
