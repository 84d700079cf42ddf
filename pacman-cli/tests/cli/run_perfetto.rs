//! Traces in Perfetto's own format, read by Perfetto's own definitions and its own importer.

use std::process::Command;

use pacman_suite::command::have;
use pacman_suite::skipped;
use serde_json::{Value, json};

use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// A trace of a run of two threads that were counted.
fn trace(scratch: &Scratch) -> Option<String> {
    let program =
        scratch.compile("gcc", &["-g", "-O1", "-fopenmp"], include_str!("page/trace.c"))?;
    let path = scratch.named("report.pftrace");
    let mut command = pacman_pmu(&["run", "--waits", "-e", "task-clock", "-o", &path, "--"]);
    let answer = command.arg(&program).arg("20").output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    Some(path)
}

#[test]
fn a_trace_is_one_by_perfetto_s_definitions_with_counters_below_their_threads() {
    let mut python = Command::new("python3");
    python.args(["-c", "import perfetto.protos.perfetto.trace.perfetto_trace_pb2"]);
    if !python.output().is_ok_and(|answer| answer.status.success()) {
        return skipped("no perfetto in Python (pip install perfetto)");
    }
    let scratch = Scratch::new();
    let Some(path) = trace(&scratch) else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/read_perfetto.py");
    let answer = Command::new("python3").args([script, &path]).output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let read: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
    // Two regions of 20 executions on two threads, with a wait in each.
    assert!(read["slices"].as_u64() > Some(160), "{read}");
    let counters = read["counters"].as_array().expect("a list");
    for thread in ["T0", "T1"] {
        let own = json!(["thread", thread, "task-clock", "ns/s"]);
        assert!(counters.contains(&own), "{counters:?}");
    }
    assert!(counters.iter().any(|own| own[0] == "process" && own[3] == "threads"), "{counters:?}");
}

#[test]
fn perfetto_s_importer_has_counters_of_threads() {
    if !have("trace_processor_shell") {
        return skipped("no trace_processor_shell (from Perfetto's releases)");
    }
    let scratch = Scratch::new();
    let Some(path) = trace(&scratch) else { return };
    let query = scratch.file(
        "query.sql",
        "select thread.name, thread_counter_track.name from thread_counter_track join thread using (utid)
         order by 1; select name, value from stats where severity = 'error' and value > 0;",
    );
    let mut command = Command::new("trace_processor_shell");
    let answer = command.arg("-q").arg(query).arg(&path).output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let said = text(&answer.stdout);
    for line in ["\"T0\",\"task-clock\"", "\"T1\",\"task-clock\""] {
        assert!(said.contains(line), "{said}");
    }
    let errors = said.lines().filter(|line| line.contains("track_event"));
    assert_eq!(errors.count(), 0, "{said}");
}
