//! `stat`'s figures of the whole command.

use serde_json::Value;

use super::scratch::Scratch;
use super::stat::{counted, subject};
use super::{run, text};

/// In nanoseconds.
const MILLISECOND: i64 = 1_000_000;

fn integer(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("not an integer: {value}"))
}

/// The time that a hypervisor had each processor for others, in ticks of ten milliseconds, rounded down.
fn stolen_ticks() -> Vec<i64> {
    let text = std::fs::read_to_string("/proc/stat").expect("/proc/stat");
    // The label, user, nice, system, idle, iowait, irq, softirq, steal.
    let ticks = |line: &str| line.split_ascii_whitespace().nth(8)?.parse().ok();
    let processors =
        text.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu "));
    processors.filter_map(ticks).collect()
}

#[test]
fn user_and_system_time_are_those_of_the_process_tree() {
    // The shell's child process and its threads do the work.
    let script = format!("{} differ; :", subject());
    let before = stolen_ticks();
    let (answer, document) = counted(&["-e", "task-clock", "--", "sh", "-c", &script]);
    let stolen = stolen_ticks().into_iter().zip(&before).map(|(after, before)| after - before + 1);
    let stolen = stolen.sum::<i64>() * 10 * MILLISECOND;
    assert_eq!(answer.status.code(), Some(0));
    let (user, system) = (integer(&document["user_ns"]), integer(&document["system_ns"]));
    let clock = integer(&document["total"]["counts"][0]);
    assert!(clock >= 118 * MILLISECOND, "a thread burnt 120 ms: {document:#}");
    assert!(user + system >= 118 * MILLISECOND, "a thread burnt 120 ms: {document:#}");
    // The end of each thread is in the kernel's account alone, and time that a hypervisor took is in the clock alone.
    let beyond = user + system - clock;
    let least = -2 * MILLISECOND - stolen;
    assert!(
        (least..=60 * MILLISECOND).contains(&beyond),
        "{beyond}, {stolen} stolen: {document:#}"
    );
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

#[test]
fn several_runs_have_a_row_each_and_their_median_and_range() {
    let scratch = Scratch::new();
    // Each run does the more, the more runs there were before: 1, 2 and 3 child processes.
    let script = format!(
        "echo >> {0}; for one in $(cat {0} | tr '\\n' x | sed 's/x/1 /g'); do sh -c :; done",
        scratch.named("runs")
    );
    let (answer, document) =
        counted(&["-e", "page-faults,task-clock", "--repeat", "3", "--", "sh", "-c", &script]);
    assert_eq!(answer.status.code(), Some(0));
    let runs = document["rows"].as_array().expect("rows");
    assert_eq!((runs.len(), &document["by"]), (3, &Value::from("run")), "{document:#}");
    let faults: Vec<i64> = runs.iter().map(|run| integer(&run["counts"][0])).collect();
    assert!(faults[0] < faults[1] && faults[1] < faults[2], "{faults:?}");
    let of = |summary: &str| integer(&document["summaries"][summary]["counts"][0]);
    assert_eq!(["minimum", "median", "maximum"].map(of).to_vec(), faults);
    let times: i64 = runs.iter().map(|run| integer(&run["time_ns"])).sum();
    assert_eq!(document["elapsed_ns"], times);
    let user: i64 = runs.iter().map(|run| integer(&run["user_ns"])).sum();
    assert_eq!(document["user_ns"], user);
}

#[test]
fn a_run_that_fails_is_told_and_its_status_is_passed_on() {
    let scratch = Scratch::new();
    let script = format!("echo >> {0}; test $(wc -l < {0}) != 2 || exit 5", scratch.named("runs"));
    let command = ["-e", "task-clock", "-r", "3", "--", "sh", "-c", &script];
    let (answer, document) = counted(&command);
    assert_eq!((answer.status.code(), &document["exit_status"]), (Some(5), &Value::from(5)));
    let ends: Vec<&Value> =
        document["rows"].as_array().expect("rows").iter().map(|run| &run["exit_status"]).collect();
    assert_eq!(ends, [0, 5, 0]);
    let notes = document["notes"].as_array().expect("notes");
    assert!(
        notes.iter().any(|note| note == "run 2: exit status 5; its figures are among those above")
    );
    let answer = run(&["stat", "--csv", "-e", "task-clock", "-r", "2", "--", "true"]);
    let names: Vec<&str> =
        text(&answer.stderr).lines().filter_map(|line| line.split(',').nth(6)).collect();
    assert_eq!(names, ["name", "1", "2", "median", "minimum", "maximum"]);
    let answer = run(&["stat", "-e", "task-clock", "-r", "2", "--", "true"]);
    let said = text(&answer.stderr);
    for label in ["median", "minimum", "maximum"] {
        assert!(said.lines().any(|line| line.trim_start().starts_with(label)), "{said}");
    }
}

#[test]
fn many_processes_are_a_row_for_each_command_and_the_most_come_first() {
    let script = "for one in 1 2 3 4 5 6 7 8 9; do env true; done; :";
    let stat = |options: &[&str]| {
        let arguments =
            [&["stat", "-e", "page-faults"], options, &["--", "sh", "-c", script]].concat();
        let answer = run(&arguments);
        assert_eq!(answer.status.code(), Some(0), "{answer:?}");
        text(&answer.stderr).to_owned()
    };
    let words = |table: &str, command: &str| -> Vec<Vec<String>> {
        let rows = table.lines().map(|line| line.split_whitespace().map(str::to_owned).collect());
        rows.filter(|row: &Vec<String>| row.iter().any(|word| word == command)).collect()
    };
    let grouped = stat(&[]);
    assert!(grouped.contains("10 threads, 10 processes"), "{grouped}");
    let row = &words(&grouped, "true")[..];
    assert!(row.len() == 1 && row[0][..3] == ["9", "9", "true"], "{grouped}");
    assert!(grouped.contains("--per-thread has a row for each thread"), "{grouped}");
    let first = stat(&["--per-command", "--top", "1"]);
    assert_eq!(words(&first, "true").len(), 1, "{first}");
    let heading = |row: &Vec<String>| row[0] == "sh";
    assert!(words(&first, "sh").iter().all(heading), "{first}");
    assert!(first.contains("the 1 of 2 rows with the most page-faults"), "{first}");
    let each = stat(&["--per-thread"]);
    assert_eq!(words(&each, "true").len(), 9, "{each}");
    let total = |table: &str| words(table, "total")[0][1].replace(',', "").parse::<u64>();
    let (whole, shown) = (total(&first).expect("a sum"), &words(&first, "true")[0][3]);
    let shown: u64 = shown.replace(',', "").parse().expect("a count");
    assert!(whole > shown, "the total is of all: {first}");
}
