//! Single executions, waits and counts in the traces of `run`.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::scratch::Scratch;
use super::trace_format::{Tracks, tracks};
use super::{pacman_pmu, text};

const SOURCE: &str = include_str!("page/trace.c");

/// The trace of a run of that program.
fn trace(options: &[&str], argument: &str, compiler: &str) -> Option<Value> {
    let scratch = Scratch::new();
    let program = scratch.compile(compiler, &["-g", "-O1", "-fopenmp"], SOURCE)?;
    let path = scratch.path("report.trace.json");
    let mut command = pacman_pmu(&["run", "-o"]);
    command.arg(&path).args(options).arg("--").arg(&program).arg(argument);
    let answer = command.output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    Some(serde_json::from_str(&fs::read_to_string(path).expect("a trace")).expect("JSON"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The names of all tracks.
fn names(trace: &Value) -> BTreeMap<(u64, u64), String> {
    let events = trace["traceEvents"].as_array().expect("a list").iter();
    let named = events.filter(|event| event["name"] == "thread_name");
    let id = |value: &Value| value.as_u64().expect("a number");
    let one = |event: &Value| event["args"]["name"].as_str().expect("a name").to_owned();
    named.map(|event| ((id(&event["pid"]), id(&event["tid"])), one(event))).collect()
}

/// The slices of a kind on tracks of a name.
fn slices<'t>(
    tracks: &Tracks<'t>,
    names: &BTreeMap<(u64, u64), String>,
    (track, category): (&str, &str),
) -> Vec<&'t Value> {
    let own = tracks.iter().filter(|(id, _)| names[id] == track);
    own.flat_map(|(_, all)| all).map(|slice| slice.2).filter(|one| one["cat"] == category).collect()
}

#[test]
fn single_executions_add_up_to_the_totals_of_their_thread() {
    for compiler in ["gcc", "clang"] {
        let Some(trace) = trace(&["--waits", "-e", "task-clock"], "20", compiler) else { continue };
        let (tracks, names) = (tracks(&trace), names(&trace));
        for thread in ["T0", "T1"] {
            let executions = slices(&tracks, &names, (thread, "execution"));
            let mut regions = 0;
            for total in slices(&tracks, &names, (thread, "total")) {
                let own: Vec<_> =
                    executions.iter().filter(|one| one["name"] == total["name"]).collect();
                assert_eq!(own.len() as u64, total["args"]["executions"].as_u64().expect("it"));
                let sum =
                    |name: &str| own.iter().map(|one| number(&one["args"][name])).sum::<f64>();
                assert!((sum("time_s") - number(&total["args"]["busy_s"])).abs() < 1e-9, "{total}");
                assert_eq!(sum("task-clock [ns]"), number(&total["args"]["task-clock [ns]"]));
                regions += 1;
            }
            assert_eq!(regions, 2, "{compiler}, {thread}");
            // The first region has a barrier in each execution, the second a critical section.
            let waits = slices(&tracks, &names, (thread, "wait"));
            let at = |what: &str| {
                let all = waits
                    .iter()
                    .filter(|wait| wait["name"].as_str().is_some_and(|name| name.contains(what)));
                all.filter(|wait| number(&wait["ts"]) > 0.0).count()
            };
            assert!(
                at("barrier") >= 20 && at("critical") >= 20,
                "{compiler}, {thread}: {waits:#?}"
            );
        }
        let rate_of = |thread: &str| -> f64 {
            let name = format!("{thread}: task-clock");
            let events = trace["traceEvents"].as_array().expect("a list").iter();
            let own: Vec<(f64, f64)> = events
                .filter(|event| event["ph"] == "C" && event["name"] == *name)
                .map(|event| (number(&event["ts"]), number(&event["args"]["ns/s"])))
                .collect();
            own.windows(2).map(|pair| (pair[1].0 - pair[0].0) * 1e-6 * pair[0].1).sum()
        };
        for thread in ["T0", "T1"] {
            let counts = slices(&tracks, &names, (thread, "total")).into_iter();
            let counts: f64 = counts.map(|total| number(&total["args"]["task-clock [ns]"])).sum();
            let rates = rate_of(thread);
            assert!((rates - counts).abs() <= 1e-3 * counts, "{thread}: {rates} of {counts}");
        }
    }
}

#[test]
fn a_full_log_says_where_it_ends_and_totals_go_on() {
    let Some(trace) = trace(&["--overhead", "100"], "40000", "gcc") else { return };
    let (tracks, names) = (tracks(&trace), names(&trace));
    let of = |category: &str| -> usize {
        ["T0", "T1"].iter().map(|thread| slices(&tracks, &names, (thread, category)).len()).sum()
    };
    assert!((65_000..=65_536).contains(&of("execution")), "{}", of("execution"));
    let totals = slices(&tracks, &names, ("T0", "total"));
    let sum: f64 = totals.iter().map(|total| number(&total["args"]["executions"])).sum();
    assert_eq!(sum, 80_000.0);
    let events = trace["traceEvents"].as_array().expect("a list");
    let marks: Vec<_> = events.iter().filter(|event| event["ph"] == "i").collect();
    let [mark] = marks[..] else { panic!("one mark: {marks:?}") };
    assert_eq!(mark["args"]["executions_of_threads"], 160_000);
    assert_eq!(number(&mark["args"]["with_slices"]), of("execution") as f64);
}

#[test]
fn executions_that_are_timed_stand_for_the_others() {
    let Some(trace) = trace(&["--overhead", "0.01"], "40000", "gcc") else { return };
    let (tracks, names) = (tracks(&trace), names(&trace));
    let executions = slices(&tracks, &names, ("T0", "execution"));
    let weights: f64 =
        executions.iter().map(|one| one["args"].get("stands_for").map_or(1.0, number)).sum();
    assert!(executions.len() < 20_000, "{}", executions.len());
    // The last block of each region may lack executions, and is timed in one of them.
    assert!((70_000.0..=90_000.0).contains(&weights), "{weights}");
}

#[test]
fn an_adapted_run_has_no_single_executions() {
    let Some(trace) = trace(&["--adapt", "--narrow", "--no-memory"], "20", "gcc") else { return };
    let (tracks, names) = (tracks(&trace), names(&trace));
    assert!(slices(&tracks, &names, ("T0", "execution")).is_empty());
    assert!(!slices(&tracks, &names, ("T0", "total")).is_empty());
}
