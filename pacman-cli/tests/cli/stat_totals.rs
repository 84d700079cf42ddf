//! `stat`'s figures of the whole command.

use serde_json::Value;

use super::stat::{counted, subject};
use super::{run, text};

/// In nanoseconds.
const MILLISECOND: i64 = 1_000_000;

fn integer(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("not an integer: {value}"))
}

#[test]
fn user_and_system_time_are_those_of_the_process_tree() {
    // The shell's child process and its threads do the work.
    let script = format!("{} differ; :", subject());
    let (answer, document) = counted(&["-e", "task-clock", "--", "sh", "-c", &script]);
    assert_eq!(answer.status.code(), Some(0));
    let (user, system) = (integer(&document["user_ns"]), integer(&document["system_ns"]));
    let clock = integer(&document["total"]["counts"][0]);
    assert!(clock >= 118 * MILLISECOND, "a thread burnt 120 ms: {document:#}");
    // The end of each thread is in the kernel's account alone.
    let beyond = user + system - clock;
    assert!((-2 * MILLISECOND..=60 * MILLISECOND).contains(&beyond), "{beyond} {document:#}");
    let used = document["cpus_used"].as_f64().expect("CPUs");
    let expected = (user + system) as f64 / integer(&document["elapsed_ns"]) as f64;
    assert!((used - expected).abs() < 1e-9, "{used} is not {expected}");
}

#[test]
fn text_and_csv_have_the_times_of_the_command_and_an_interval_has_none() {
    let answer = run(&["stat", "-e", "task-clock", "--", "sh", "-c", ":"]);
    let heading = text(&answer.stderr).lines().next().expect("a heading").to_string();
    for part in [" s user", " s system", " CPUs used"] {
        assert!(heading.contains(part), "{heading} lacks {part}");
    }
    let answer = run(&["stat", "--csv", "-e", "task-clock", "--", "sh", "-c", ":"]);
    let mut lines = text(&answer.stderr).lines();
    let heading: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    let row: Vec<&str> = lines.next().expect("a row").split(',').collect();
    for name in ["command_user_ns", "command_system_ns", "command_cpus_used"] {
        let at = heading.iter().position(|column| *column == name).expect("a column");
        assert!(row[at].parse::<f64>().is_ok_and(|figure| figure >= 0.0), "{name}: {row:?}");
    }
    let answer = run(&["stat", "--json", "--interval", "10", "--", "sh", "-c", "sleep 0.05"]);
    let documents: Vec<Value> = text(&answer.stderr)
        .lines()
        .map(|line| serde_json::from_str(line).expect("one document a line"))
        .collect();
    let (whole, parts) = documents.split_last().expect("the whole run is last");
    assert!(whole["user_ns"].is_u64() && parts.len() > 1, "{documents:#?}");
    assert!(parts.iter().all(|part| part["user_ns"].is_null() && part["cpus_used"].is_null()));
}
