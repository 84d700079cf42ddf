//! Dynamic loops of short iterations, whose threads take several chunks at once.

use std::fs;

use serde_json::Value;

use super::scratch::Scratch;
use super::{alone, pacman_pmu, text};

/// A million iterations of some nanoseconds each, one chunk each, and then some that take longer.
const SOURCE: &str = r#"
#include <stdio.h>

enum { LENGTH = 1 << 20, FEW = 100 };
static unsigned short visits[LENGTH];
static double slow[FEW];

static void quick(void) {
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < LENGTH; i++) visits[i]++;
}

static void long_ones(void) {
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < FEW; i++)
        for (int j = 1; j < 20000; j++) slow[i] += 1.0 / j;
}

int main(void) {
    for (int round = 0; round < 40; round++) quick();
    for (int round = 0; round < 4; round++) long_ones();
    int wrong = 0;
    for (int i = 0; i < LENGTH; i++) wrong += visits[i] != 40;
    printf("%d wrong, %.6f\\n", wrong, slow[FEW - 1]);
    return wrong != 0;
}
"#;

/// The chunks that threads take at once in the quick and in the slow loop, in the end of a run.
fn chunks_at_once(compiler: &str) -> Option<(u64, u64)> {
    let scratch = Scratch::new();
    let program = scratch.compile(compiler, &["-O1", "-fopenmp"], SOURCE)?;
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "--adapt", "--narrow", "--no-memory", "-o"]);
    command.env("OMP_NUM_THREADS", "2").arg(&path).arg("--").arg(program);
    let answer = command.output().expect("it runs");
    assert!(answer.status.success(), "{answer:?}");
    assert!(text(&answer.stdout).starts_with("0 wrong, "), "{answer:?}");
    let report = fs::read_to_string(path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let regions = report["processes"][0]["regions"].as_array().expect("a list");
    let of = |executions: u64| {
        let region = regions.iter().find(|region| region["executions"] == executions);
        region.and_then(|region| region["adaptation"]["chunks_at_once"].as_u64())
    };
    Some((of(40).expect("the quick loop"), of(4).expect("the slow loop")))
}

/// Beside other programs the threads wait for a processor most of the time, and fewer requests gain nothing.
fn joins_chunks(compiler: &str) {
    let mut found = Vec::new();
    for _ in 0..10 {
        let Some((quick, slow)) = chunks_at_once(compiler) else { return };
        assert_eq!(slow, 1, "its chunks are long");
        // A request takes several times as long as an iteration.
        if quick >= 4 {
            return;
        }
        found.push(quick);
    }
    panic!("threads take {found:?} chunks at once");
}

#[test]
fn short_chunks_are_joined_under_gcc() {
    let _turn = alone();
    joins_chunks("gcc");
}

#[test]
fn short_chunks_are_joined_under_clang() {
    let _turn = alone();
    joins_chunks("clang");
}
