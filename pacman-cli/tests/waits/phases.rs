//! `run --waits`: the waits of phases, and their time on no processor.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use super::rows::rows;
use super::scratch::Scratch;
use super::trials::{Differences, LOST, each_is_right_once};
use super::{alone, pacman_pmu, text};

const SOURCE: &str = include_str!("phases.c");
const STATES: [&str; 3] = ["waiting_s", "useful_off_s", "waiting_off_s"];

/// A phase's name and a thread: seconds by state.
type Times = BTreeMap<(String, u64), [f64; 3]>;

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no seconds: {value}"))
}

fn seen(process: &Value) -> Times {
    let mut seen = Times::new();
    for phase in process["phases"].as_array().expect("a list") {
        let name = phase["name"].as_str().expect("a name");
        let (mut useful, mut off) = (0.0, 0.0);
        for thread in &rows(&phase["threads"]) {
            let states = &thread["states"];
            let number = thread["thread"].as_u64().expect("a number");
            seen.insert((name.to_owned(), number), STATES.map(|state| seconds(&states[state])));
            let whole = seconds(&states["useful_s"]) + seconds(&states["waiting_s"]);
            assert!((whole - seconds(&thread["time_s"])).abs() < 3e-9, "{thread:#}");
            useful += seconds(&states["useful_s"]);
            off += seconds(&states["useful_off_s"]);
        }
        let share = seconds(&phase["useful_processor_share"]);
        assert!((share - (1.0 - off / useful)).abs() < 1e-7, "{phase:#}");
    }
    seen
}

#[test]
fn phases_have_the_waits_that_the_program_measured_itself() {
    compare(&[]);
}

#[test]
fn phases_of_sessions_have_the_waits_that_the_program_measured_itself() {
    let (test, scratch) = (std::env::current_exe().expect("a test has a path"), Scratch::new());
    for name in ["libpacman.so", "libpacman.so.0"] {
        symlink(test.with_file_name("libpacman.so"), scratch.path(name)).expect("a link");
    }
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../pacman-ffi/include");
    let (at, found) =
        (format!("-L{}", scratch.named(".")), format!("-Wl,-rpath,{}", scratch.named(".")));
    compare(&["-DSESSION", include, &at, &found, "-Wl,--no-as-needed", "-lpacman"]);
}

/// Compares the report with the program's own figures; `more` compiles it for a kind of phases.
fn compare(more: &[&str]) {
    let _alone = alone();
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let flags = [&["-g", "-O1", "-fopenmp", LOST], more].concat();
        let Some(program) = scratch.compile(compiler, &flags, SOURCE) else { continue };
        let path = scratch.path("report.json");
        each_is_right_once(compiler, 12, || {
            let mut command = pacman_pmu(&["run", "--waits", "-o"]);
            command.env("OMP_WAIT_POLICY", "passive").arg(&path).arg("--").arg(&program);
            let answer = command.output().expect("it runs");
            assert!(answer.status.success(), "{}", text(&answer.stderr));
            let report = fs::read_to_string(&path).expect("a report");
            let report: Value = serde_json::from_str(&report).expect("JSON");
            let seen = seen(&report["processes"][0]);
            assert_eq!(seen.len(), 4, "two phases around regions, two threads inside: {seen:?}");
            let mut differences = Differences::new();
            for line in text(&answer.stdout).lines() {
                let words: Vec<&str> = line.split_whitespace().collect();
                let key = (words[0].to_owned(), words[1].parse().expect("a thread"));
                let figures: Vec<f64> =
                    words[2..].iter().map(|word| word.parse().expect("seconds")).collect();
                let lost = figures[STATES.len()];
                for ((state, known), seen) in STATES.iter().zip(figures).zip(seen[&key]) {
                    let bound = 0.02 * known + 2e-3;
                    differences.compare((key.clone(), *state), seen, known, bound, lost);
                }
            }
            differences
        });
    }
}
