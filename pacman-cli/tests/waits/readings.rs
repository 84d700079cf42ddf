//! The states of a thread and the time of its region, where the library's own work is on one thread only.

use std::fs;

use serde_json::Value;

use super::rows::{rows, waits};
use super::scratch::Scratch;
use super::{alone, pacman_pmu, text};

const SOURCE: &str = include_str!("readings.c");

#[test]
fn a_thread_is_in_no_state_for_longer_than_its_region_lasts() {
    let _alone = alone();
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let flags = ["-g", "-O1", "-fopenmp"];
        let Some(program) = scratch.compile(compiler, &flags, SOURCE) else { continue };
        let path = scratch.path("report.json");
        let mut command = pacman_pmu(&["run", "--waits", "-o"]);
        command.env("OMP_WAIT_POLICY", "active");
        let answer = command.arg(&path).arg("--").arg(&program).output().expect("it runs");
        assert!(answer.status.success(), "{}", text(&answer.stderr));
        let report = fs::read_to_string(&path).expect("a report");
        let report: Value = serde_json::from_str(&report).expect("JSON");
        let region = &report["processes"][0]["regions"][0];
        let seconds = |value: &Value| value.as_f64().expect("seconds");
        for thread in &rows(&region["threads"]) {
            let states = &thread["states"];
            let ends = ["useful_s", "starting_s", "end_s"].map(|state| seconds(&states[state]));
            let waited = waits(states).iter().map(|wait| seconds(&wait["time_s"])).sum::<f64>();
            let sum = ends.iter().sum::<f64>() + waited;
            // The report's numbers are rounded to nanoseconds.
            assert!(sum <= seconds(&region["time_s"]) + 1e-8, "{compiler}: {sum} s of {region:#}");
        }
    }
}
