//! Regions that are too short to be decided alone are decided together.

use std::fs;

use pacman_suite::skipped;
use serde_json::Value;

use super::scratch::Scratch;
use super::{alone, pacman_pmu, text};

/// Three regions of microseconds, whose threads wait for each other.
const SOURCE: &str = r#"
#include <stdio.h>

static long sum;

static void first(void) {
#pragma omp parallel for
    for (int i = 0; i < 40; i++)
#pragma omp atomic
        sum += i;
}

static void second(void) {
#pragma omp parallel for
    for (int i = 0; i < 60; i++)
#pragma omp atomic
        sum += i;
}

static void third(void) {
#pragma omp parallel for
    for (int i = 0; i < 20; i++)
#pragma omp atomic
        sum -= i;
}

int main(void) {
    for (long round = 0; round < ROUNDS; round++) {
        first();
        second();
        third();
    }
    printf("%ld\n", sum);
    return 0;
}
"#;

/// The regions of an adapted run, in the order of their names. The run executes each region `rounds` times.
fn adapted(compiler: &str, rounds: u32) -> Option<Vec<Value>> {
    let scratch = Scratch::new();
    let program =
        scratch.compile(compiler, &["-O1", "-fopenmp", &format!("-DROUNDS={rounds}")], SOURCE)?;
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "--adapt", "--narrow", "--no-memory", "-o"]);
    command.env("OMP_NUM_THREADS", "2").arg(&path).arg("--").arg(program);
    let answer = command.output().expect("it runs");
    assert!(answer.status.success(), "{answer:?}");
    assert_eq!(text(&answer.stdout), format!("{}\n", rounds * (780 + 1_770 - 190)));
    let report = fs::read_to_string(path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    Some(report["processes"][0]["regions"].as_array().expect("a list").clone())
}

/// Beside other programs a region of two threads takes longer, and a run may end before its group is decided.
fn becomes_one_thread(compiler: &str) {
    let mut grouped = Vec::new();
    for _ in 0..10 {
        let Some(regions) = adapted(compiler, 80_000) else { return };
        assert_eq!(regions.len(), 3);
        let all = |so: fn(&Value) -> bool| regions.iter().all(|region| so(&region["adaptation"]));
        let is_one_thread = all(|one| one["threads"] == 1 && one["state"] == "holding");
        if !all(is_together) {
            continue;
        }
        // The first stretches of one thread may be disturbed, and the program ends before that is made up.
        if is_one_thread && gained(&regions) > 0.0 {
            return;
        }
        grouped.push(regions);
    }
    match grouped.pop() {
        Some(regions) => {
            panic!("none of the groups gained from one thread; the last: {regions:#?}")
        }
        None => skipped("regions of two threads take over 20 µs here"),
    }
}

fn is_together(adaptation: &Value) -> bool {
    let why = adaptation["why"].as_str().expect("a reason");
    why.starts_with("too short to be decided alone, so decided together with 2 other short regions")
}

/// The seconds that one thread gained. Some executions of each region were reduced, and some were not.
fn gained(regions: &[Value]) -> f64 {
    let mut gained = 0.0;
    for region in regions {
        let adaptation = &region["adaptation"];
        let reduced = adaptation["reduced"].as_u64().expect("a number");
        let executions = region["executions"].as_u64().expect("a number");
        assert!(reduced > 0 && reduced < executions, "{region:#}");
        gained += adaptation["gained_s"].as_f64().expect("a number");
    }
    gained
}

#[test]
fn short_regions_are_decided_together_by_libgomp() {
    let _turn = alone();
    becomes_one_thread("gcc");
}

#[test]
fn short_regions_are_decided_together_by_libomp() {
    let _turn = alone();
    becomes_one_thread("clang");
}

/// Members join after sixteen executions.
#[test]
fn short_regions_join_after_a_few_executions() {
    let _turn = alone();
    let mut left_alone = Vec::new();
    for _ in 0..10 {
        let Some(regions) = adapted("clang", 2_000) else { return };
        if regions.iter().all(|region| is_together(&region["adaptation"])) {
            return;
        }
        let is_left_alone = |region: &Value| region["adaptation"]["state"] == "left alone";
        left_alone.extend(regions.into_iter().filter(is_left_alone));
    }
    match left_alone.pop() {
        Some(region) => panic!("no run had a group; the last region left alone: {region:#}"),
        None => skipped("regions of two threads take over 20 µs here"),
    }
}
