//! `stat` with more events than the machine has counters for. Simulated programs have constant rates,
//! so that estimates are known.

use serde_json::Value;

use super::{run, text};

/// Runs a shell that counts to 60,000, on a simulated machine.
fn counted(machine: &str, events: &str, options: &[&str]) -> String {
    let work = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
    let arguments = [
        &["--machine", machine, "stat", "-o", "/dev/stdout", "-e", events],
        options,
        &["--", "sh", "-c", work],
    ];
    let answer = run(&arguments.concat());
    assert_eq!(answer.status.code(), Some(0), "{answer:?}");
    text(&answer.stdout).to_owned()
}

fn document(machine: &str, events: &str) -> Value {
    serde_json::from_str(&counted(machine, events, &["--json"])).expect("JSON")
}

fn total(document: &Value, event: &str) -> (f64, f64) {
    let events = document["events"].as_array().expect("events");
    let at = events.iter().position(|known| known["name"] == event).expect("an event");
    let total = &document["total"];
    let share = total["counted_shares"][at].as_f64().unwrap_or(1.0);
    (total["counts"][at].as_f64().unwrap_or_else(|| panic!("no {event}: {total:#}")), share)
}

const EIGHT: &str =
    "CYCLES,INSTRUCTIONS,BRANCHES,BRANCH_MISSES,LOADS,L1D_MISSES,L2_MISSES,task-clock";

#[test]
fn estimates_of_a_constant_rate_are_the_count_and_have_their_share() {
    let rotated = document("skylake", EIGHT);
    assert!(rotated["sets"].as_array().expect("sets").len() > 1, "{rotated:#}");
    for three in ["BRANCHES,BRANCH_MISSES", "LOADS,L1D_MISSES,L2_MISSES"] {
        let exact = document("skylake", &format!("INSTRUCTIONS,{three}"));
        assert_eq!(exact["sets"].as_array().map(Vec::len), Some(1));
        assert_eq!(exact["total"]["counted_shares"], Value::Null, "nothing is estimated");
        for event in three.split(',') {
            let rate = |of: &Value| total(of, event).0 / total(of, "INSTRUCTIONS").0;
            let apart = rate(&rotated) / rate(&exact) - 1.0;
            assert!(apart.abs() < 0.005, "{event} is off by {apart}: {rotated:#}");
        }
    }
    let shares: Vec<f64> = EIGHT.split(',').map(|event| total(&rotated, event).1).collect();
    let estimated: Vec<f64> = shares.iter().copied().filter(|share| *share < 1.0).collect();
    assert!(estimated.len() > 1 && estimated.iter().all(|share| *share > 0.1), "{shares:?}");
    assert_eq!(total(&rotated, "task-clock").1, 1.0, "the kernel always counts its own events");
}

#[test]
fn events_of_one_figure_are_counted_at_the_same_time() {
    // Nothing has a counter of its own there.
    let events = "CYCLES,BRANCHES,BRANCH_MISSES,LOADS,STORES,L1D_MISSES,L2_ACCESSES,L2_MISSES,\
                  STALL_CYCLES,INSTRUCTIONS";
    let rotated = document("zen4", events);
    let sets = rotated["sets"].as_array().expect("sets");
    assert!(sets.len() > 1, "{rotated:#}");
    let has = |set: &Value, event: u64| set.as_array().expect("a set").contains(&event.into());
    assert!(sets.iter().all(|set| has(set, 0) == has(set, 8) && has(set, 0) == has(set, 9)));
    let ipc = rotated["total"]["ipc"].as_f64().expect("IPC");
    let quotient = total(&rotated, "INSTRUCTIONS").0 / total(&rotated, "CYCLES").0;
    assert!((ipc - quotient).abs() < 1e-6, "{ipc} is not {quotient}");
}

#[test]
fn text_and_csv_mark_estimates() {
    let said = counted("skylake", EIGHT, &[]);
    let row = said.lines().find(|line| line.contains("T0 ")).expect("a row");
    let marks = row.matches("%)").count();
    assert!((2..8).contains(&marks), "{marks} estimates: {said}");
    assert!(said.contains("\n(%)  estimate: "), "{said}");
    let csv = counted("skylake", EIGHT, &["--csv"]);
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (heading, row) = (lines.next().expect("a heading"), lines.next().expect("a row"));
    assert_eq!(heading.len(), row.len());
    let at =
        heading.iter().position(|name| *name == "L2_MISSES counted [share]").expect("a column");
    assert!(row[at].parse::<f64>().is_ok_and(|share| share > 0.0 && share < 1.0), "{csv}");
}

#[test]
fn an_event_that_was_never_on_a_counter_has_no_count() {
    let arguments = ["--machine", "skylake", "stat", "-o", "/dev/stdout", "--json", "-e", EIGHT];
    let answer = run(&[&arguments[..], &["--", "true"]].concat());
    let document: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
    let row = &document["rows"][0];
    let clock = row["counts"][7].as_u64().expect("the task clock");
    if clock >= 4_000_000 {
        return pacman_suite::skipped("an event without a count: true took 4 ms of processor time");
    }
    let counts = row["counts"].as_array().expect("counts");
    let shares = row["counted_shares"].as_array().expect("shares");
    let waiting = || counts.iter().zip(shares).filter(|(_, share)| share.as_f64() == Some(0.0));
    assert!(waiting().count() > 0 && waiting().all(|(count, _)| count.is_null()), "{row:#}");
}

#[test]
fn several_runs_have_medians_of_estimates() {
    let text = counted("skylake", EIGHT, &["--json", "--repeat", "3"]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let mut counts: Vec<(u64, &Value)> = (0..3)
        .map(|run| &document["rows"][run])
        .map(|row| (row["counts"][6].as_u64().expect("a count"), &row["counted_shares"][6]))
        .collect();
    counts.sort_by_key(|(count, _)| *count);
    let median = &document["summaries"]["median"];
    assert_eq!(
        (median["counts"][6].as_u64(), &median["counted_shares"][6]),
        (Some(counts[1].0), counts[1].1)
    );
}
