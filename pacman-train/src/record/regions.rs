//! The phases of an unmodified OpenMP program: its parallel regions.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::Path;

use pacman_regions::{Options, Recording, Region};

use super::phases::{Found, Phase, column};
use pacman_cli::error::{CliError, CliResult};
use pacman_cli::recording::{self, Memory, Name, Names, preload, tell_apart};
use pacman_events::plural::number;
use pacman_report::implausible::{LeftOut, leave_out, note};

/// The environment variables that make a program record its regions to `memory`.
pub(super) fn environment(
    library: &Path,
    memory: &Memory,
    events: &str,
) -> Vec<(&'static str, OsString)> {
    let mut options = Options { events: events.into(), ..Options::default() };
    memory.add_to(&mut options);
    let mut variables = options.variables();
    variables.extend(preload(library));
    variables
}

/// The regions of all processes that recorded, or why there are none.
pub(super) fn of(found: recording::Found, threads: u32) -> CliResult<Found> {
    let recording::Found { mut recordings, wrong } = found;
    if recordings.is_empty() {
        return Err(CliError::refused(
            "it left no recording: it is linked statically or has more rights than its user",
        ));
    }
    let mut found = Found { phases: Vec::new(), wrong };
    let mut names = Names::default();
    for recording in &mut recordings {
        let named = named(recording, &mut names);
        for one in leave_out(recording) {
            let name = &named[one.region].text;
            let LeftOut { thread, why, .. } = one;
            found.wrong.push(format!("T{thread} in {name}: {}", note(&why)));
        }
        let uncounted = recording.events.iter().filter_map(|event| {
            Some(format!("{} is not counted: {}", event.name, event.uncounted.as_ref()?))
        });
        found.wrong.extend(uncounted);
        for (region, name) in recording.regions.iter().zip(named) {
            match phase(recording, region, name.text, threads) {
                Ok(phase) => merge(&mut found.phases, phase),
                Err(why) => found.wrong.push(why.to_string()),
            }
        }
    }
    if found.phases.is_empty() {
        return Err(CliError::Refused(match found.wrong.first() {
            Some(why) => format!("no region of it can be used: {why}"),
            None => "it ran no parallel region".into(),
        }));
    }
    Ok(found)
}

fn phase(recording: &Recording, region: &Region, name: String, threads: u32) -> CliResult<Phase> {
    if region.nested == region.executions {
        return Err(CliError::Refused(format!(
            "{name} runs inside another region, whose time includes its own"
        )));
    }
    let team = region.teams.iter().find(|team| team.threads == threads);
    let Some(team) = team.filter(|team| team.executions > 0) else {
        let mut sizes: Vec<String> =
            region.teams.iter().map(|team| team.threads.to_string()).collect();
        if let (Some(last), Some(team)) = (sizes.last_mut(), region.teams.last()) {
            *last = number(team.threads, "thread");
        }
        return Err(CliError::Refused(format!(
            "{name} was left out where it ran on {} instead of {threads}",
            sizes.join(" and ")
        )));
    };
    let seconds = team.seconds / team.executions as f64;
    if !(seconds.is_finite() && seconds > 0.0) {
        return Err(CliError::Refused(format!(
            "{name} took no time that the clock could see: left out"
        )));
    }
    Ok(Phase { name, seconds, executions: team.executions, counts: counts(recording, region) })
}

/// The mean counts of an execution. Rows do not distinguish teams of several sizes.
fn counts(recording: &Recording, region: &Region) -> Vec<(String, f64)> {
    let of = |event: usize| {
        let each = region.rows.iter().map(|row| {
            let count = row.counts.get(event).copied().flatten()? as f64;
            let counted = (row.counted > 0).then_some(row.counted as f64)?;
            Some(count / counted * row.executions as f64)
        });
        let sum: Option<f64> = each.sum();
        sum.map(|sum| sum / region.executions as f64)
    };
    // A mean over several team sizes does not describe any of them.
    if region.teams.len() != 1 || region.rows.is_empty() {
        return Vec::new();
    }
    let events = recording.events.iter().enumerate();
    events.filter_map(|(index, event)| Some((column(&event.name), of(index)?))).collect()
}

/// Processes of one program run the same regions at the same time: the longest counts.
fn merge(phases: &mut Vec<Phase>, phase: Phase) {
    match phases.iter_mut().find(|known| known.name == phase.name) {
        None => phases.push(phase),
        Some(known) if known.seconds < phase.seconds => *known = phase,
        Some(_) => {}
    }
}

/// The names of the regions, as `run` has them: the same in every run of the same binary.
fn named(recording: &Recording, names: &mut Names) -> Vec<Name> {
    let regions = recording.regions.iter();
    let mut named: Vec<Name> = regions.map(|region| names.of_region(region)).collect();
    let sites = recording.regions.iter().map(|region| &region.site);
    tell_apart(&mut named.iter_mut().zip(sites).collect::<Vec<_>>());
    named
}
