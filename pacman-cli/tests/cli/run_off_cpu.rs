//! `run --waits` on a program that measures when its threads had work and no processor.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::scratch::Scratch;
use super::{pacman_pmu, text};

const SOURCE: &str = include_str!("waits/off_cpu.c");

/// Seconds by region and thread: what the program measured, and what the report says.
fn run(program: &Path, scratch: &Scratch) -> BTreeMap<(String, u64), (f64, f64)> {
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "--waits", "-o"]);
    command.arg(&path).arg("--").arg(program).env("OMP_WAIT_POLICY", "passive");
    let answer = command.env("KMP_BLOCKTIME", "0").output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let report = fs::read_to_string(&path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let regions = report["processes"][0]["regions"].as_array().expect("a list");
    let said = text(&answer.stdout);
    let known = said.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, thread, seconds] = words[..] else { panic!("{line}") };
        let number: u64 = thread.parse().expect("a number");
        let is_named =
            |region: &&Value| region["name"].as_str().is_some_and(|other| other.starts_with(name));
        let region = regions.iter().find(is_named).expect("the region");
        let threads = region["threads"].as_array().expect("a list");
        let thread = threads.iter().find(|one| one["thread"] == number).expect("the thread");
        let states = &thread["states"];
        let of = |name: &str| states[name].as_f64().expect("seconds");
        let waits: f64 = states["waits"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|wait| wait["time_s"].as_f64())
            .sum();
        let sum = of("useful_s") + of("off_cpu_s") + of("starting_s") + of("end_s") + waits;
        let there = region["time_s"].as_f64().expect("seconds");
        assert!((sum - there).abs() < 1e-3, "{name}: {sum} s of {there} s");
        let seconds: f64 = seconds.parse().expect("seconds");
        ((name.to_owned(), number), (seconds, of("off_cpu_s")))
    });
    known.collect()
}

#[test]
fn work_without_a_processor_is_off_cpu_and_a_blocked_wait_is_not() {
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let Some(program) = scratch.compile(compiler, &["-g", "-O1", "-fopenmp"], SOURCE) else {
            continue;
        };
        // Another process may take the processor between the program's clock and the library's.
        let mut left: Vec<(String, u64)> = Vec::new();
        for round in 0..5 {
            let run = run(&program, &scratch);
            let of_shared = run[&("shared".to_owned(), 0)].0;
            assert!(of_shared > 0.02, "two processes share a processor: {of_shared} s");
            let is_wrong = |(known, seen): &(f64, f64)| (known - seen).abs() > 0.02 * known + 2e-3;
            let wrong = run.iter().filter(|(_, times)| is_wrong(times)).map(|(key, _)| key);
            left = match round {
                0 => wrong.cloned().collect(),
                _ => wrong.filter(|key| left.contains(key)).cloned().collect(),
            };
            if left.is_empty() {
                break;
            }
            eprintln!("{compiler}: {run:?}");
        }
        assert!(left.is_empty(), "{compiler}: {left:?}");
    }
}
