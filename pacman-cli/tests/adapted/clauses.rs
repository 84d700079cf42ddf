//! A clause that asks for as many threads as a region gets anyway keeps none of them, if nobody can count them.

use std::fs;

use serde_json::Value;

use super::scratch::Scratch;
use super::{alone, pacman_pmu, text};

/// Threads that mostly wait for each other, in a region with a clause. Its last loop adds a part of each thread.
const SOURCE: &str = r#"
#include <omp.h>
#include <stdio.h>

static volatile double sum;

static void shares(int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int i = 0; i < 64; i++)
#pragma omp critical
        for (int j = 0; j < 80000; j++) sum += j;
}

static long counts(int threads) {
    long members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
    {
        members = 1;
#pragma omp for schedule(static)
        for (int i = 0; i < 64; i++)
#pragma omp critical
            for (int j = 0; j < 80000; j++) sum += j;
    }
    return members;
}

int main(void) {
    int threads = EXTRA + omp_get_max_threads();
    for (int round = 0; round < 8; round++)
        COUNTS ? (void)(counts(threads) == threads || puts("wrong")) : shares(threads);
    puts("done");
    return 0;
}
"#;

/// The executions on fewer threads, and the guards that kept others as they were.
fn adapted(flags: &[&str]) -> Option<(u64, Vec<String>)> {
    let scratch = Scratch::new();
    let flags: Vec<&str> = ["-O1", "-fopenmp"].iter().chain(flags).copied().collect();
    let program = scratch.compile("gcc", &flags, SOURCE)?;
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "--adapt", "--narrow", "--no-memory", "-o"]);
    command.env("OMP_NUM_THREADS", "2").env("OMP_WAIT_POLICY", "active");
    let answer = command.arg(&path).arg("--").arg(program).output().expect("it runs");
    assert!(answer.status.success(), "{answer:?}");
    assert_eq!(text(&answer.stdout).trim(), "done");
    let report: Value =
        serde_json::from_str(&fs::read_to_string(path).expect("a report")).expect("JSON");
    let adaptation = &report["processes"][0]["regions"][0]["adaptation"];
    let reduced = adaptation["reduced"].as_u64().expect("a number");
    let guards = adaptation["guards"].as_array().expect("a list").iter();
    Some((reduced, guards.map(|guard| guard["guard"].as_str().expect("a name").into()).collect()))
}

#[test]
fn a_clause_that_asks_for_the_usual_number_keeps_no_threads() {
    let _turn = alone();
    let mut found = Vec::new();
    // Beside other programs the threads wait for a processor, and fewer may be worse.
    for _ in 0..10 {
        let Some((reduced, guards)) = adapted(&["-DCOUNTS=0", "-DEXTRA=0"]) else { return };
        if reduced >= 1 {
            return;
        }
        found.push((reduced, guards));
    }
    panic!("executions on one thread, and guards: {found:?}");
}

#[test]
fn other_clauses_keep_their_threads() {
    let _turn = alone();
    for flags in [["-DCOUNTS=0", "-DEXTRA=1"], ["-DCOUNTS=1", "-DEXTRA=0"]] {
        let Some((reduced, guards)) = adapted(&flags) else { return };
        assert_eq!(reduced, 0, "{flags:?}");
        assert!(guards.contains(&"num-threads".to_owned()), "{flags:?}: {guards:?}");
    }
}
