//! `run --waits`: time on no processor, on a program that measures it by its own clocks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::rows::rows;
use super::scratch::Scratch;
use super::trials::{Differences, LOST, each_is_right_once};
use super::{alone, pacman_pmu, text};

const SOURCE: &str = include_str!("off.c");
const STATES: [&str; 2] = ["useful_off_s", "waiting_off_s"];

/// The figures that the program printed by thread: the seconds by state, and those that it lost. Then its process in the
/// report.
fn run(program: &Path, policy: &str, scratch: &Scratch) -> (BTreeMap<u64, [f64; 3]>, Value) {
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "--waits", "-o"]);
    command.env("OMP_WAIT_POLICY", policy).arg(&path).arg("--").arg(program);
    let answer = command.output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let known = text(&answer.stdout).lines().map(|line| {
        let mut words = line.split_whitespace();
        let thread = words.next().expect("a thread").parse().expect("a number");
        let mut next = || words.next().expect("seconds").parse::<f64>().expect("a number");
        (thread, [next(), next(), next()])
    });
    let known = known.collect();
    let report = fs::read_to_string(&path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let processes = report["processes"].as_array().expect("a list").iter();
    let own = processes.filter(|process| process["regions"] != json!([])).collect::<Vec<_>>();
    assert_eq!(own.len(), 1, "the other process runs no region");
    (known, own[0].clone())
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no seconds: {value}"))
}

/// The threads and states that differ by more than 2 % and the first use of each construct.
fn differences(known: &BTreeMap<u64, [f64; 3]>, region: &Value) -> Differences<(u64, usize)> {
    let mut all = Differences::new();
    for thread in &rows(&region["threads"]) {
        let number = thread["thread"].as_u64().expect("a number");
        for (state, name) in STATES.into_iter().enumerate() {
            let (seen, known, lost) =
                (seconds(&thread["states"][name]), known[&number][state], known[&number][2]);
            all.compare((number, state), seen, known, 0.02 * known + 1.5e-3, lost);
        }
    }
    all
}

/// The sums and shares of a region are those of its threads.
fn check_sums(process: &Value, region: &Value) {
    let threads = rows(&region["threads"]);
    let sum =
        |name: &str| -> f64 { threads.iter().map(|thread| seconds(&thread["states"][name])).sum() };
    for name in STATES {
        assert!(
            (seconds(&region[name]) - sum(name)).abs() < 1e-9 * threads.len() as f64 + 1e-9,
            "{name}: {region:#}"
        );
    }
    let share = 1.0 - sum("useful_off_s") / sum("useful_s");
    for of in [region, process] {
        assert!((seconds(&of["useful_processor_share"]) - share).abs() < 1e-7, "{of:#}");
    }
}

#[test]
fn time_on_no_processor_is_what_the_program_measured_itself() {
    let _alone = alone();
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let flags = ["-g", "-O1", "-fopenmp", LOST];
        let Some(program) = scratch.compile(compiler, &flags, SOURCE) else { continue };
        for policy in ["passive", "active"] {
            each_is_right_once(&format!("{compiler}, {policy}"), 12, || {
                let (known, process) = run(&program, policy, &scratch);
                let region = &process["regions"][0];
                check_sums(&process, region);
                assert!(known[&0][0] > 0.08, "half of 0.2 s was stolen, and it slept: {known:?}");
                if policy == "passive" {
                    assert!(known[&1][1] > 0.1, "it slept at the barrier: {known:?}");
                }
                differences(&known, region)
            });
        }
    }
}
