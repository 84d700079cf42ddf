//! The phases of one run, from the reports that its sessions left.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pacman_core::input::{self, MOST_BYTES};
use pacman_core::report::DOUBTED;
use pacman_events::shown::shown_path;
use serde_json::Value;

use pacman_cli::error::{CliError, CliResult};

/// One run's measurement of one phase: a mean over executions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Phase {
    pub(super) name: String,
    /// Of one execution.
    pub(super) seconds: f64,
    pub(super) executions: u64,
    /// Of one execution, summed over threads.
    pub(super) counts: Vec<(String, f64)>,
}

/// The recordings of a run.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) phases: Vec<Phase>,
    /// Lines about what could not be used.
    pub(super) wrong: Vec<String>,
}

/// The sum over the threads of a phase, while it grows.
#[derive(Default)]
struct Sum {
    /// Nanoseconds and executions of the thread that spent the most time in it.
    longest: (u64, u64),
    /// `None` for an event that a thread has no count of.
    counts: Vec<(String, Option<f64>)>,
}

/// The phases of all sessions that reported to `directory`, or why there are none.
///
/// A phase takes as long as the thread that is longest in it; counts are summed over threads.
pub(super) fn found_in(directory: &Path) -> CliResult<Found> {
    let unreadable =
        |error| CliError::Refused(format!("cannot read {}: {error}", shown_path(directory)));
    let mut paths: Vec<_> = fs::read_dir(directory)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<Result<_, _>>())
        .map_err(unreadable)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let (mut found, mut sums, mut idle) = (Found::default(), Vec::new(), Vec::new());
    for path in &paths {
        let text = input::read_text(path, MOST_BYTES).map_err(unreadable)?;
        match serde_json::from_str(&text) {
            Ok(report) => {
                if add(&report, &mut sums)? == 0 {
                    idle.push(report["session"].to_string());
                }
            }
            Err(why) => found.wrong.push(format!("{}: is not a report: {why}", shown_path(path))),
        }
    }
    let finished = |(name, sum): (String, Sum)| phase(name, sum, &mut found.wrong);
    found.phases = sums.into_iter().filter_map(finished).collect();
    if !found.phases.is_empty() {
        return Ok(found);
    }
    Err(CliError::Refused(match &idle[..] {
        [] => "it opened no session, or came to no end of its own; --regions is for OpenMP \
               programs that are not changed"
            .into(),
        [one] => format!("its session {one} has no finished phase: mark one with begin and end"),
        several => format!("its sessions {} have no finished phase", several.join(", ")),
    }))
}

/// Adds a report's rows; returns the number of their executions.
fn add(report: &Value, sums: &mut Vec<(String, Sum)>) -> CliResult<u64> {
    if report["simulated"] == true {
        return Err(CliError::refused(
            "its counts are those of a simulated machine, which has no times",
        ));
    }
    let events: Vec<String> = list(&report["events"])
        .iter()
        .filter_map(|event| {
            // Counts that may be wrong are under another name, which no model looks for.
            let mark = if event["doubt"].is_string() { DOUBTED } else { "" };
            Some(column(event["name"].as_str()?) + mark)
        })
        .collect();
    let mut seen = 0;
    let rows = list(&report["threads"]).iter().flat_map(|thread| list(&thread["phases"]));
    for row in rows {
        let executions = row["executions"].as_u64().unwrap_or(0);
        let name =
            row["phase"].as_u64().and_then(|index| report["phases"][index as usize].as_str());
        let (Some(name), Some(time)) = (name, row["time_ns"]["sum"].as_u64()) else { continue };
        seen += executions;
        let place = sums.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            sums.push((name.to_owned(), Sum::default()));
            sums.len() - 1
        });
        let sum = &mut sums[place].1;
        sum.longest = sum.longest.max((time, executions));
        for (event, count) in events.iter().zip(list(&row["counts"])) {
            let count = count["value"].as_u64().map(|count| count as f64);
            match sum.counts.iter_mut().find(|(known, _)| known == event) {
                Some((_, so_far)) => *so_far = so_far.zip(count).map(|(sum, count)| sum + count),
                None => sum.counts.push((event.clone(), count)),
            }
        }
    }
    Ok(seen)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn phase(name: String, sum: Sum, wrong: &mut Vec<String>) -> Option<Phase> {
    let (nanoseconds, executions) = sum.longest;
    if nanoseconds == 0 || executions == 0 {
        wrong.push(format!("{name:?} took no time that the clock could see: left out"));
        return None;
    }
    let each = executions as f64;
    let counts = sum.counts.into_iter();
    let counts = counts.filter_map(|(event, count)| Some((event, count? / each))).collect();
    Some(Phase { name, seconds: nanoseconds as f64 / (each * 1e9), executions, counts })
}

/// An event's name in training data: models look for `instructions` and `cycles`.
pub(super) fn column(event: &str) -> String {
    event.to_ascii_lowercase()
}

/// The number of times that each line occurred, because the same problem occurs in every run.
#[derive(Debug, Default)]
pub(super) struct Said(BTreeMap<String, u64>);

impl Said {
    /// Whether this is the first time.
    pub(super) fn first(&mut self, line: &str) -> bool {
        let times = self.0.entry(line.to_owned()).or_default();
        *times += 1;
        *times == 1
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(rows: Value) -> Value {
        json!({
            "format": "pacman-report", "session": "s", "simulated": false,
            "events": [{"name": "CYCLES"}, {"name": "page-faults"}],
            "phases": ["sweep", "idle"],
            "threads": rows,
        })
    }

    fn row(phase: u32, executions: u64, time: u64, counts: [Option<u64>; 2]) -> Value {
        let counts = counts.map(|value| json!({ "value": value }));
        json!({ "phase": phase, "executions": executions, "time_ns": {"sum": time}, "counts": counts })
    }

    #[test]
    fn time_is_the_longest_threads_and_counts_are_everybodys() {
        let threads = json!([
            { "phases": [row(0, 4, 8_000_000_000, [Some(10), Some(1)])] },
            { "phases": [row(0, 4, 6_000_000_000, [Some(30), None])] },
        ]);
        let mut sums = Vec::new();
        assert_eq!(add(&report(threads), &mut sums), Ok(8));
        let (name, sum) = sums.remove(0);
        let phase = phase(name, sum, &mut Vec::new()).unwrap();
        assert_eq!((phase.seconds, phase.executions), (2.0, 4));
        // A thread without a count leaves no sum of it.
        assert_eq!(phase.counts, [("cycles".to_owned(), 10.0)]);
    }

    #[test]
    fn simulated_counts_and_phases_without_time_are_no_training_data() {
        let mut simulated = report(json!([]));
        simulated["simulated"] = true.into();
        assert!(
            add(&simulated, &mut Vec::new()).unwrap_err().to_string().contains("simulated machine")
        );
        let threads = json!([{ "phases": [row(1, 3, 0, [None, None])] }]);
        let mut sums = Vec::new();
        add(&report(threads), &mut sums).unwrap();
        let mut wrong = Vec::new();
        let (name, sum) = sums.remove(0);
        assert_eq!(phase(name, sum, &mut wrong), None);
        assert_eq!(wrong, ["\"idle\" took no time that the clock could see: left out"]);
    }
}
