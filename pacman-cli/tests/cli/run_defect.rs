//! An error inside of the preloaded library ends observing, never the program.

use serde_json::Value;

use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Many short regions, some long ones, and a critical section. Prints a sum.
const SOURCE: &str = r#"
#include <stdio.h>

int main(void) {
    long sum = 0;
    for (int step = 0; step < 300; step++) {
#pragma omp parallel for reduction(+ : sum) schedule(static)
        for (int i = 0; i < (step % 50 ? 64 : 100000); i++) sum += i % 7;
#pragma omp parallel for
        for (int i = 0; i < 8; i++)
#pragma omp critical
            sum++;
    }
    printf("%ld\n", sum);
    return 3;
}
"#;

/// The line of an error that tests inject.
fn is_line(line: &str) -> bool {
    line.starts_with(
        "pacman-pmu: observing ends, and the program goes on: an error in libpacman_omp.so at ",
    ) && line.ends_with(": injected; please report this line")
}

/// Has each piece of contained work panic in turn, until there are no more of them.
fn each_error(options: &[&str]) {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], SOURCE) else { return };
    let report = scratch.path("report.json");
    let run = |number: Option<u32>| {
        let mut command = pacman_pmu(&["run", "-o"]);
        command.arg(&report).args(options).arg("--").arg(&program);
        command.env("OMP_NUM_THREADS", "2").env("OMP_WAIT_POLICY", "passive");
        command.envs(number.map(|number| ("PACMAN_LIBRARY_FAULT", number.to_string())));
        command.output().expect("it runs")
    };
    let usual = run(None);
    assert_eq!((usual.status.code(), text(&usual.stderr)), (Some(3), ""));
    let mut errors = 0;
    // The later ones are like those before, and as many as the machine's noise makes.
    for number in (0..24).chain((24..400).step_by(29)) {
        let answer = run(Some(number));
        let what = format!("{options:?}, error {number}: {answer:?}");
        assert_eq!((answer.status.code(), &answer.stdout), (Some(3), &usual.stdout), "{what}");
        let lines: Vec<&str> = text(&answer.stderr).lines().filter(|line| is_line(line)).collect();
        assert!(lines.len() <= 1, "{what}");
        let report: Value =
            serde_json::from_str(&std::fs::read_to_string(&report).expect("a report"))
                .expect("JSON");
        let process = &report["processes"][0];
        let is_noted = process["notes"].to_string().contains("observing ends");
        let regions = process["regions"].as_array().expect("a list");
        // An error at the end of the process comes after the recording.
        let is_whole = regions.len() == 2 && regions.iter().all(|one| one["executions"] == 300);
        assert!(is_noted != lines.is_empty() || (!is_noted && is_whole), "{what}: {process:#}");
        errors += lines.len();
    }
    assert!(errors >= 8, "{options:?}: {errors} errors");
}

#[test]
fn no_error_of_the_library_ends_an_observed_program() {
    each_error(&[]);
}

#[test]
fn no_error_of_the_library_ends_a_program_whose_waits_are_timed() {
    each_error(&["--waits"]);
}

#[test]
fn no_error_of_the_library_ends_an_adapted_program() {
    each_error(&["--adapt", "--narrow", "--no-memory"]);
}
