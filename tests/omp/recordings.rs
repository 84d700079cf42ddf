//! The demands on the recordings of a program.

use std::path::Path;

use pacman_regions::{Ending, Recording, Region, Row};

use crate::catalogue::Program;
use crate::compilers::Flavour;
use crate::run::RunMode;

/// The faults of the recordings in a folder, one line each.
pub(crate) fn faults(
    folder: &Path,
    program: &Program,
    flavour: Flavour,
    threads: u32,
    mode: RunMode,
) -> Vec<String> {
    let (found, mut wrong) = Recording::found_in(folder).expect("the folder is there");
    if let Some(expected) = program.regions(flavour, threads) {
        let executions = |recording: &Recording| -> u64 {
            recording.regions.iter().map(|region| region.executions).sum()
        };
        let each: Vec<u64> = found.iter().map(executions).collect();
        if each.iter().sum::<u64>() != expected {
            wrong.push(format!("{expected} regions ran, and {each:?} are recorded"));
        }
    }
    for recording in &found {
        wrong.extend(of_process(recording, mode));
        for region in &recording.regions {
            let may_nest = program.may_nest(flavour);
            let may_drop = flavour == Flavour::ClangByOmpt;
            let mut faults = of_region(recording, region, program, mode, may_nest);
            let rows = region.rows.iter();
            faults.extend(rows.flat_map(|row| of_states(recording, row, mode, may_drop)));
            let place = format!("{} at {:#x}", region.entry, region.site.address);
            wrong.extend(faults.into_iter().map(|fault| format!("{place}: {fault}")));
        }
    }
    wrong
}

fn of_process(recording: &Recording, mode: RunMode) -> Vec<String> {
    let mut wrong = Vec::new();
    let events: Vec<&str> = recording.events.iter().map(|event| event.name.as_str()).collect();
    // A process without regions opened no events.
    if events != mode.events() && !recording.regions.is_empty() {
        wrong.push(format!("events {events:?} instead of {:?}", mode.events()));
    }
    if !recording.regions.is_empty() && recording.runtimes.is_empty() {
        wrong.push("regions, but no runtime".to_string());
    }
    let length = recording.process.seconds;
    for row in &recording.timeline.rows {
        let region = &recording.regions[row.region];
        let sum: f64 = row.seconds.iter().sum();
        // Regions of several roots overlap, and the last bin is written after the last end.
        if sum > region.seconds * 1.001 + 1e-6 {
            wrong.push(format!("a timeline of {sum} s for {} s", region.seconds));
        }
        if row.seconds.len() as f64 * recording.timeline.bin > 2.0 * length + 1.0 {
            wrong.push("a timeline longer than the process".to_string());
        }
    }
    wrong
}

/// The faults of the waits of a thread.
fn of_states(recording: &Recording, row: &Row, mode: RunMode, may_drop: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    let states = match (&row.states, mode.times_waits()) {
        (Some(states), true) => states,
        (None, true) => return vec![format!("thread {} has no states", row.thread)],
        (Some(_), _) => return vec![format!("thread {} has states", row.thread)],
        (None, _) => return wrong,
    };
    let inside: f64 = states.waits.iter().map(|wait| wait.seconds).sum();
    if inside > row.seconds + states.late_tasks + 1e-7 * row.executions as f64 {
        wrong.push(format!("thread {} waited {inside} of {} s", row.thread, row.seconds));
    }
    // Children of a fork have no clock from the part in which they began.
    if let Some((useful, waiting)) = states.useful_off.zip(states.waiting_off) {
        let most = row.seconds + states.late_tasks + 1e-7 * row.executions as f64;
        if useful + waiting > most {
            wrong.push(format!(
                "thread {} was off for {useful} and {waiting} of {most} s",
                row.thread
            ));
        }
    }
    let sites = recording.waits.as_ref().map_or(0, |waits| waits.sites.len());
    if states.waits.iter().any(|wait| wait.site >= sites) {
        wrong.push(format!("thread {} waited at unknown constructs", row.thread));
    }
    // LLVM 14 reports no end of a barrier that is cancelled.
    if states.dropped > 0 && !may_drop {
        wrong.push(format!("thread {} left {} waits", row.thread, states.dropped));
    }
    wrong
}

fn of_region(
    recording: &Recording,
    region: &Region,
    program: &Program,
    mode: RunMode,
    may_nest: bool,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |fact: bool, fault: String| {
        if !fact {
            wrong.push(fault);
        }
    };
    let teams: u64 = region.teams.iter().map(|team| team.executions).sum();
    let may_nest = if may_nest { region.executions } else { 0 };
    must(region.nested <= may_nest, format!("{} nested", region.nested));
    let times = region.shortest >= 0.0
        && region.shortest <= region.longest
        && region.longest <= region.seconds * 1.001 + 1e-9;
    must(times, format!("{} to {} of {} s", region.shortest, region.longest, region.seconds));
    must(region.runtime < recording.runtimes.len(), "an unknown runtime".to_string());
    must(!region.site.module.as_os_str().is_empty(), "no module".to_string());
    must(
        region.adaptation.is_some() == mode.adapts(),
        format!("adaptation {:?}", region.adaptation),
    );
    let widest = region.teams.iter().map(|team| team.threads).max().unwrap_or(0);
    // Members may have ended their parts where the team never did.
    let never_ended = region.executions == 0 && teams == 0;
    must(
        region.rows.len() == widest as usize || never_ended,
        format!("{} rows of teams of {widest}", region.rows.len()),
    );
    if let (Some(adaptation), true, RunMode::Narrowed) =
        (&region.adaptation, program.has_one_root, mode)
    {
        let narrower = region.teams.iter().filter(|team| team.threads < widest);
        let narrower: u64 = narrower.map(|team| team.executions).sum();
        // The runtime gives what it is asked for, and each execution is told as what it was.
        let told = adaptation.reduced == narrower && !adaptation.why.contains("did not get");
        must(told, format!("{narrower} narrower teams, and {adaptation:?}"));
    }
    let mut numbers: Vec<u32> = region.rows.iter().map(|row| row.thread).collect();
    numbers.sort_unstable();
    numbers.dedup();
    must(numbers.len() == region.rows.len(), format!("rows of threads {numbers:?}"));
    // The region that a process ends in has rows of members that were done already.
    let unfinished = u64::from(recording.process.ending == Ending::ExitInRegion);
    must(
        (teams..=teams + unfinished).contains(&region.executions),
        format!("{} executions by {teams} teams", region.executions),
    );
    for row in &region.rows {
        let there = region.teams.iter().filter(|team| team.threads > row.thread);
        let expected: u64 = there.map(|team| team.executions).sum();
        // Those of a sample are rounded by the size of the team.
        let rounded = if region.sampling.is_some() { region.teams.len() as u64 } else { 0 };
        must(
            (expected.saturating_sub(rounded)..=expected + unfinished + rounded)
                .contains(&row.executions),
            format!("thread {} ran {} of {expected} times", row.thread, row.executions),
        );
        must(
            row.counts.len() == recording.events.len() && row.counted <= row.executions,
            format!("thread {} counted {} {:?}", row.thread, row.counted, row.counts),
        );
        let countable = recording.events.iter().any(|event| event.uncounted.is_none());
        if countable && !program.may_go_uncounted {
            // A signal's handler may end the process between an execution's entry and its counts'.
            let counted = row.counted + unfinished >= row.executions;
            let times = format!("{} of {} times", row.counted, row.executions);
            must(counted, format!("thread {} counted {times}", row.thread));
        }
    }
    wrong
}
