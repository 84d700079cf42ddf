//! `run --waits` on a busy machine, where nobody holds what a thread asks for.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::rows::{rows, waits};
use super::scratch::Scratch;
use super::{alone, pacman_pmu, text};

const SOURCE: &str = include_str!("free.c");

/// The seconds that the threads were on no processor, the observed process, and its region.
fn run(program: &Path, threads: &str, scratch: &Scratch) -> (f64, Value, Value) {
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "--waits", "-o"]);
    let answer = command.arg(&path).arg("--").arg(program).arg(threads).output();
    let answer = answer.expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let off = text(&answer.stdout).trim().parse().expect("seconds");
    let report: Value =
        serde_json::from_str(&fs::read_to_string(&path).expect("a report")).expect("JSON");
    let all = report["processes"].as_array().expect("a list");
    let process = all.iter().find(|process| process["regions"] != json!([])).expect("a region");
    (off, process.clone(), process["regions"][0].clone())
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no seconds: {value}"))
}

#[test]
fn a_team_of_one_waits_for_nobody_on_a_busy_machine() {
    let _alone = alone();
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let flags = ["-g", "-O1", "-fopenmp"];
        let Some(program) = scratch.compile(compiler, &flags, SOURCE) else { continue };
        let (off, process, region) = run(&program, "1", &scratch);
        assert!(off > 0.1, "three processes took the processor: {off} s");
        // A page that has to be read, say of the runtime, lets the thread sleep.
        let states = &rows(&region["threads"])[0]["states"];
        let waits = waits(states);
        let waited: f64 = waits.iter().map(|wait| seconds(&wait["time_s"])).sum();
        assert!(waited < 0.02 * off, "{compiler}: {waited} s; {:#}", process["sites"]);
        let useful_off = seconds(&states["useful_off_s"]);
        assert!((useful_off - off).abs() < 0.1 * off + 0.02, "{compiler}: {useful_off} of {off} s");
        let efficiency = seconds(&region["efficiency"]["parallel"]);
        assert!(efficiency > 0.95, "{compiler}: {efficiency}");
    }
}

#[test]
fn a_free_lock_is_no_wait_on_a_busy_machine() {
    let _alone = alone();
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let flags = ["-g", "-O1", "-fopenmp"];
        let Some(program) = scratch.compile(compiler, &flags, SOURCE) else { continue };
        let (off, process, region) = run(&program, "2", &scratch);
        assert!(off > 0.1, "three processes took the processor: {off} s");
        for thread in &rows(&region["threads"]) {
            let states = &thread["states"];
            let waits = waits(states);
            let waited: f64 = waits.iter().map(|wait| seconds(&wait["time_s"])).sum();
            assert!(waited < 0.1 * seconds(&states["useful_s"]), "{compiler}: {thread:#}");
        }
        assert_eq!(process["lacks_processors"], true, "{compiler}");
    }
}
