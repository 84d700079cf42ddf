//! Every system call of the command and of the preloaded library failing in turn: the observed program
//! prints and ends as it does alone, and the report is true, or a line says why there is none.
//!
//! Of calls that are many of a kind the first and the last fail, with errors that differ from call to
//! call; `PACMAN_FAULTS=all` has each fail with each error.

mod harness;
#[path = "../cli/rows.rs"]
#[expect(dead_code, reason = "only some of its readers read waits")]
mod rows;
mod sets;

use serde_json::Value;

use self::harness::{OUTPUT, Place, Seen, ended, everywhere};

/// The program whose calls fail.
const PROGRAM: &str = env!("CARGO_BIN_EXE_pacman-pmu");

/// `run` and `stat` of a program that prints and has an exit status of its own.
fn beside_program(arguments: &[&str], fault_of: impl Fn(&Seen) -> Option<String>) {
    everywhere(&Place::with("program.c"), arguments, |alone, seen| {
        assert_eq!((alone.status, &*alone.printed), (Some(7), "sum 12\n"), "{}", alone.complained);
        ended(seen, || program_fault(alone, seen).or_else(|| fault_of(seen)))
    });
}

/// The output of the program: as alone, or it was not begun and one line says so.
fn program_fault(alone: &Seen, seen: &Seen) -> Option<String> {
    let begun = !seen.printed.is_empty();
    let one_line =
        seen.complained.lines().count() == 1 && seen.complained.starts_with("pacman-pmu: ");
    match (begun, seen.status) {
        (false, Some(status)) if one_line && [1, 2, 4, 126].contains(&status) => None,
        (true, _) if seen.printed != alone.printed => Some(format!("printed {:?}", seen.printed)),
        // The report could not be written, and that is said.
        (true, Some(4)) if seen.complained.contains("cannot write") => None,
        // Following it failed, and it went on.
        (true, Some(1)) if one_line && seen.complained.contains("it runs on uncounted") => None,
        (true, status) if status == alone.status => None,
        (_, status) => Some(format!("status {status:?}, printed {:?}", seen.printed)),
    }
}

#[test]
fn run_with_events() {
    beside_program(&["run", "-e", "task-clock,page-faults", "-o", OUTPUT], run_fault);
}

#[test]
fn run_with_waits() {
    beside_program(&["run", "--waits", "-o", OUTPUT], |seen| {
        run_fault(seen).or_else(|| off_fault(seen))
    });
}

/// Time on no processor is a part of the time, or null.
fn off_fault(seen: &Seen) -> Option<String> {
    let report: Value = serde_json::from_slice(seen.written.as_ref()?).ok()?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let regions = list(&report["processes"]).into_iter().flat_map(|it| list(&it["regions"]));
    for region in regions {
        let threads = rows::rows(&region["threads"]);
        let states: Vec<&Value> = threads.iter().map(|thread| &thread["states"]).collect();
        let is_lost = states.iter().any(|states| states["useful_off_s"].is_null());
        if is_lost != region["useful_processor_share"].is_null() {
            return Some(format!("a share of the threads whose clock is known: {region}"));
        }
        let wrong = states.iter().find(|states| {
            let off = states["useful_off_s"].as_f64().unwrap_or(0.0);
            off < 0.0 || off > states["useful_s"].as_f64().unwrap_or(f64::INFINITY)
        });
        if let Some(wrong) = wrong {
            return Some(format!("off the processor for longer than it takes: {wrong}"));
        }
    }
    None
}

#[test]
fn run_that_adapts() {
    beside_program(&["run", "--adapt", "--narrow", "-o", OUTPUT], run_fault);
}

#[test]
fn stat_by_thread() {
    beside_program(&["stat", "--json", "-e", "task-clock,page-faults"], stat_fault);
}

/// An answer of `stat`: a row with a count or a reason for each of two threads, or a line that says why
/// there is none.
fn stat_fault(seen: &Seen) -> Option<String> {
    if seen.printed.is_empty() {
        return None;
    }
    let said = seen.complained.lines().any(|line| line.starts_with("pacman"));
    let answer = serde_json::from_str::<Value>(&seen.complained).ok();
    let Some(answer) = answer.filter(|_| !said) else {
        return (!said).then(|| "no answer, and nobody says why".to_owned());
    };
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let counts = |row: &&Value| row["counts"][0].as_u64().is_some_and(|it| it > 0);
    let silent = rows.iter().find(|row| !counts(row) && row["notes"] == Value::Array(Vec::new()));
    (rows.len() != 2 || silent.is_some())
        .then(|| format!("not two threads with a clock, and nobody says why: {answer}"))
}

/// A report of `run`: all executions, or a line that says why not.
fn run_fault(seen: &Seen) -> Option<String> {
    if seen.printed.is_empty() {
        return None;
    }
    let said = seen.complained.lines().any(|line| line.starts_with("pacman"));
    let Some(report) = &seen.written else {
        return (!said).then(|| "no report, and nobody says why".to_owned());
    };
    let Ok(report) = serde_json::from_slice::<Value>(report) else {
        return Some("half a report".to_owned());
    };
    let processes = report["processes"].as_array().map_or(&[][..], Vec::as_slice);
    let regions = || processes.iter().flat_map(|it| it["regions"].as_array().expect("regions"));
    let executions: u64 = regions().filter_map(|region| region["executions"].as_u64()).sum();
    let notes = report["notes"].to_string();
    if executions != 4 && !said && notes == "[]" {
        return Some(format!("{executions} executions of 4, and nobody says why"));
    }
    None
}
