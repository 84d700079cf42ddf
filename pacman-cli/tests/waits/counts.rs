//! `run --waits -e EVENTS`: the counts of useful time and of waits, on a program whose counts are known.

use std::fs;

use serde_json::{Value, json};

use super::rows::{rows, waits};
use super::scratch::Scratch;
use super::{alone, pacman_pmu, text};

const SOURCE: &str = include_str!("counts.c");
const STOLEN: &str = include_str!("stolen.c");
/// Page faults of useful time in the source's two regions.
const WORK: u64 = 2000;
const TASK: u64 = 700;
/// Page faults of the runtime and of the library.
const OWN: u64 = 250;

/// The sum of an event over the threads of a region in one state.
fn sum(region: &Value, state: &str, event: &str) -> u64 {
    let threads = rows(&region["threads"]);
    let count = |thread: &Value| thread[state]["counts"][event].as_u64();
    threads.iter().map(|thread| count(thread).unwrap_or_else(|| panic!("{thread:#}"))).sum()
}

#[test]
fn counts_of_waits_are_apart_from_those_of_work_and_of_tasks_inside() {
    let _alone = alone();
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let flags = ["-g", "-O1", "-fopenmp"];
        let Some(program) = scratch.compile(compiler, &flags, SOURCE) else { continue };
        let path = scratch.path("report.json");
        let mut command = pacman_pmu(&["run", "--waits", "-e", "page-faults,task-clock", "-o"]);
        command.env("OMP_WAIT_POLICY", "active");
        let answer = command.arg(&path).arg("--").arg(&program).output().expect("it runs");
        assert!(answer.status.success(), "{}", text(&answer.stderr));
        let report = fs::read_to_string(&path).expect("a report");
        let report: Value = serde_json::from_str(&report).expect("JSON");
        let regions = report["processes"][0]["regions"].as_array().expect("a list");
        let named = |name: &str| {
            let is_it = |region: &&Value| {
                region["name"].as_str().is_some_and(|whole| whole.starts_with(name))
            };
            regions.iter().find(is_it).unwrap_or_else(|| panic!("no {name} in {regions:#?}"))
        };
        for (name, faults) in [("work", WORK), ("task", TASK)] {
            let region = named(name);
            let [useful, waiting] = ["useful_figures", "waiting_figures"]
                .map(|state| sum(region, state, "page-faults"));
            assert!((faults..=faults + OWN).contains(&useful), "{compiler}: {useful}: {region:#}");
            assert!(waiting <= OWN, "{compiler}: {waiting} page faults of waits: {region:#}");
            assert_eq!(useful + waiting, sum(region, "figures", "page-faults"), "{compiler}");
            assert_eq!(region["useful_figures"]["counts"]["page-faults"], json!(useful));
            assert_eq!(region["useful_figures"]["complete"], json!(true), "{region:#}");
        }
        // A thread that spins is on a processor while it waits, and not much longer than it waits.
        let spinner = &rows(&named("work")["threads"])[1];
        let clock = spinner["waiting_figures"]["counts"]["task-clock"].as_f64().expect("a count");
        let waits = waits(&spinner["states"]);
        let waited: f64 = waits.iter().map(|wait| wait["time_s"].as_f64().expect("seconds")).sum();
        assert!(clock > 0.0 && clock * 1e-9 <= waited * 1.02 + 1e-4, "{clock} ns of {waited} s");
    }
}

/// `task-clock` divides the time of each state into time on a processor and off it.
#[test]
fn time_that_another_process_takes_is_told_from_sleeping_in_a_wait() {
    let _alone = alone();
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-g", "-O1", "-fopenmp"], STOLEN) else { return };
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "--waits", "-e", "task-clock", "-o"]);
    command.env("OMP_WAIT_POLICY", "passive").arg(&path).arg("--").arg(&program);
    let answer = command.output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let mut words = text(&answer.stdout).split_whitespace().map(|word| word.parse::<f64>());
    let mut next = || words.next().expect("two figures").expect("a number");
    let (wall, processor) = (next(), next());
    assert!(processor < 0.8 * wall, "nothing was stolen: {processor} s of {wall} s");
    let report = fs::read_to_string(&path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let processes = report["processes"].as_array().expect("a list").iter();
    let regions = processes.flat_map(|process| process["regions"].as_array().expect("a list"));
    let region = regions.into_iter().next().expect("one region");
    let clock = |thread: usize, state: &str| {
        let count = &rows(&region["threads"])[thread][state]["counts"]["task-clock"];
        count.as_f64().unwrap_or_else(|| panic!("{region:#}")) * 1e-9
    };
    let useful = clock(0, "useful_figures");
    assert!((useful - processor).abs() < 0.02 * processor + 2e-3, "{useful} s of {processor} s");
    // Thread 1 sleeps: it is off the processor, and nobody took it.
    let waited =
        waits(&rows(&region["threads"])[1]["states"])[0]["time_s"].as_f64().expect("seconds");
    let spent = clock(1, "waiting_figures");
    assert!(waited > 0.5 * wall && spent < 0.1 * waited, "{spent} s of {waited} s");
}

#[test]
fn without_events_there_are_no_counts_by_state() {
    let _alone = alone();
    let scratch = Scratch::new();
    let flags = ["-g", "-O1", "-fopenmp"];
    let Some(program) = scratch.compile("gcc", &flags, SOURCE) else { return };
    let path = scratch.path("report.json");
    for options in [&["--waits"][..], &["-e", "page-faults"]] {
        let mut command = pacman_pmu(&["run"]);
        command.args(options).arg("-o").arg(&path).arg("--").arg(&program);
        assert!(command.output().expect("it runs").status.success(), "{options:?}");
        let report = fs::read_to_string(&path).expect("a report");
        let report: Value = serde_json::from_str(&report).expect("JSON");
        let region = &report["processes"][0]["regions"][0];
        for one in [region, &rows(&region["threads"])[0]] {
            assert_eq!(one["useful_figures"], Value::Null, "{options:?}");
            assert_eq!(one["waiting_figures"], Value::Null, "{options:?}");
        }
    }
}
