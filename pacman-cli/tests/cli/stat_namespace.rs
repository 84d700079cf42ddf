//! `stat` in a new namespace of processes, with the `/proc` of the outer one: numbers there are other processes'.

use std::process::{Command, Output};

use pacman_suite::skipped;
use serde_json::Value;

use super::stat::subject;
use super::{library, text};

const WITHIN: [&str; 3] = ["unshare", "-rpf", "--kill-child"];

/// The output of a line of shell in such a namespace; `$PMU` is the command. `None`, said aloud, where that is not allowed.
fn within(more: &[&str], line: &str) -> Option<Output> {
    let unshare = |program: &[&str]| {
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", "60"]).args(WITHIN).args(more).args(program);
        command.env("PMU", env!("CARGO_BIN_EXE_pacman-pmu")).env("SUBJECT", subject());
        command.env("PACMAN_OMP_LIBRARY", library()).output()
    };
    if !unshare(&["true"]).is_ok_and(|answer| answer.status.success()) {
        skipped("this machine allows no user namespaces, or lacks unshare");
        return None;
    }
    Some(unshare(&["sh", "-c", line]).expect("it ran before"))
}

/// The threads of a program of three, in the order in which they began, and the notes.
fn threads(more: &[&str]) -> Option<(Vec<Value>, Value)> {
    let answer = within(more, "$PMU stat --json -e task-clock -- $SUBJECT differ")?;
    let said = text(&answer.stderr);
    assert_eq!(answer.status.code(), Some(0), "{said}");
    let document: Value = serde_json::from_str(said).unwrap_or_else(|why| panic!("{why}: {said}"));
    let mut rows = document["rows"].as_array().expect("rows").clone();
    rows.sort_by_key(|row| row["thread"].as_u64());
    assert_eq!(rows.len(), 3, "{document:#}");
    let process = &rows[0]["pid"];
    assert!(rows.iter().all(|row| row["pid"] == *process), "one process: {document:#}");
    assert!(rows.iter().all(|row| row["counts"][0].as_u64() > Some(0)), "{document:#}");
    Some((rows, document["notes"].clone()))
}

#[test]
fn threads_have_no_names_of_others() {
    let Some((rows, notes)) = threads(&[]) else { return };
    let is_unknown = |row: &Value| row["name"] == "" && row["cpu"].is_null();
    assert!(rows.iter().all(is_unknown), "{rows:#?}");
    let said = notes.to_string();
    assert!(said.contains("no names and contexts of threads: /proc is of another"), "{said}");
}

#[test]
fn a_proc_of_the_namespace_has_them() {
    let Some((rows, notes)) = threads(&["--mount-proc"]) else { return };
    let mut names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["burns", "stat-subject", "waits"], "{rows:#?}");
    assert!(rows.iter().all(|row| row["cpu"].is_u64()), "{rows:#?}");
    assert!(!notes.to_string().contains("/proc"), "{notes}");
}

#[test]
fn a_running_process_is_refused_in_one_line() {
    let line = "sleep 60 & $PMU stat -e task-clock -p $! -- true";
    let Some(answer) = within(&[], line) else { return };
    let said = text(&answer.stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("unshare --mount-proc"), "{said}");
    assert_eq!(answer.status.code(), Some(1), "{said}");
}
