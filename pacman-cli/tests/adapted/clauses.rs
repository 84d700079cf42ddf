//! With `--narrow` a team whose size the program asks for has that size.

use std::fs;

use serde_json::Value;

use super::scratch::Scratch;
use super::{alone, pacman_pmu, text};

/// Threads that mostly wait for each other, eight times. `CASE` says how the program asks for their number.
const SOURCE: &str = r#"
#include <omp.h>
#include <stdio.h>

static volatile double sum;

static void work(void) {
#pragma omp for schedule(static)
    for (int i = 0; i < 64; i++)
#pragma omp critical
        for (int j = 0; j < 80000; j++) sum += j;
}

int main(void) {
#if CASE == 1
    omp_set_num_threads(2);
#endif
    for (int round = 0; round < 8; round++) {
#if CASE == 0
        int threads = omp_get_max_threads();
#pragma omp parallel num_threads(threads)
        work();
#elif CASE == 2
#pragma omp parallel num_threads(1)
        {
#pragma omp parallel
            work();
        }
#elif CASE == 3
#pragma omp teams num_teams(1)
        {
#pragma omp parallel
            work();
        }
#else
#pragma omp parallel
        work();
#endif
    }
    puts("done");
    return 0;
}
"#;

/// The adaptation of each region of a run.
fn adapted(compiler: &str, case: u32) -> Option<Vec<Value>> {
    let scratch = Scratch::new();
    let flags = ["-O1", "-fopenmp", &format!("-DCASE={case}")];
    let program = scratch.compile(compiler, &flags, SOURCE)?;
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "--adapt", "--narrow", "--no-memory", "-o"]);
    command.env("OMP_NUM_THREADS", "2").env("OMP_MAX_ACTIVE_LEVELS", "2");
    command.env("OMP_WAIT_POLICY", "active");
    let answer = command.arg(&path).arg("--").arg(program).output().expect("it runs");
    assert!(answer.status.success(), "{answer:?}");
    assert_eq!(text(&answer.stdout).trim(), "done");
    let report = fs::read_to_string(path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let regions = report["processes"][0]["regions"].as_array().expect("a list").iter();
    Some(regions.map(|region| region["adaptation"].clone()).collect())
}

#[test]
fn a_size_that_the_program_asks_for_stays() {
    let _turn = alone();
    for compiler in ["gcc", "clang"] {
        for (case, why) in [
            (0, "a clause of the program says how many threads it gets"),
            (1, "the program set the number of threads before it"),
            (2, "it is inside another region"),
            (3, "it is a league of teams, or the program runs such"),
        ] {
            let Some(regions) = adapted(compiler, case) else { continue };
            assert!(!regions.is_empty(), "{compiler}, {case}");
            let all = |so: fn(&Value) -> bool| regions.iter().all(so);
            assert!(all(|region| region["reduced"] == 0), "{compiler}, {case}: {regions:#?}");
            let is_said = regions.iter().any(|region| region["why"] == why);
            assert!(is_said, "{compiler}, {case}: {regions:#?}");
        }
    }
}

#[test]
fn a_size_that_the_program_leaves_open_is_chosen() {
    let _turn = alone();
    for compiler in ["gcc", "clang"] {
        let mut found = Vec::new();
        // Beside other programs the threads wait for a processor, and fewer may be worse.
        let is_reduced = (0..10).any(|_| {
            let Some(regions) = adapted(compiler, 4) else { return true };
            let is_reduced = regions[0]["reduced"].as_u64() >= Some(1);
            found.push(regions);
            is_reduced
        });
        assert!(is_reduced, "{compiler}: {found:#?}");
    }
}
