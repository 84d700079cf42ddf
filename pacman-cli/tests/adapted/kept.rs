//! Without `--narrow` adaptation leaves every team as the program has it.

use std::fs;
use std::process::Output;

use serde_json::Value;

use super::scratch::Scratch;
use super::{alone, pacman_pmu, text};

/// Programs that depend on their team. Each prints its result.
const SOURCE: &str = r#"
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 400, ITEMS = 64 };
static atomic_int counted, arrived, sense, ticket;
static long rows[1024];
static volatile double spent;

static void work(int times) {
    for (int i = 0; i < times; i++) spent += i;
}

/* A barrier for as many threads as the first region had. */
static void own_barrier(int threads) {
    int mine = atomic_load(&sense);
    if (atomic_fetch_add(&arrived, 1) == threads - 1) {
        atomic_store(&arrived, 0);
        atomic_store(&sense, !mine);
    } else {
        while (atomic_load(&sense) == mine) {}
    }
}

int main(void) {
    long result = 0;
    int threads = atoi(getenv("OMP_NUM_THREADS"));
#if CASE == 0 /* a barrier of its own */
#pragma omp parallel
    atomic_fetch_add(&counted, 1);
    for (int round = 0; round < ROUNDS; round++)
#pragma omp parallel
    {
#pragma omp critical
        result++, work(500);
        own_barrier(counted);
    }
#elif CASE == 1 /* a row for each ticket that is drawn */
    for (int round = 0; round < ROUNDS; round++) {
        atomic_store(&ticket, 0);
#pragma omp parallel
        {
            long *row = &rows[atomic_fetch_add(&ticket, 1)];
#pragma omp for schedule(static)
            for (int i = 0; i < ITEMS; i++)
#pragma omp critical
                *row = round + 1, work(50);
        }
        for (int i = 0; i < threads; i++) result += rows[i];
    }
#elif CASE == 2 /* iterations that wait for the next one, in a team of two */
    threads = 2;
    static atomic_int done[ITEMS * ROUNDS];
    for (int round = 0; round < 24; round++) {
        for (int i = 0; i < ITEMS * ROUNDS; i++) atomic_store(&done[i], 0);
#pragma omp parallel for schedule(monotonic : dynamic, 1) num_threads(2)
        for (int i = 0; i < ITEMS * ROUNDS; i++) {
            atomic_store(&done[i], 1);
            if (i % 2 == 0)
                while (!atomic_load(&done[i + 1])) {}
        }
        result++;
    }
#else /* sections that wait for each other */
    for (int round = 0; round < ROUNDS; round++) {
        atomic_store(&ticket, 0);
#pragma omp parallel sections
        {
#pragma omp section
            {
                work(2000);
                while (atomic_load(&ticket) == 0) {}
            }
#pragma omp section
            {
                work(2000);
                atomic_store(&ticket, 1);
            }
        }
        result++;
    }
#endif
    printf("%d threads: %ld\n", threads, result);
    return 0;
}
"#;

const WITH_ALL_OPTIONS: &[&str] = &["--max-threads", "2", "--share"];

fn adapted(program: &str, options: &[&str], report: &str) -> Output {
    let mut command = pacman_pmu(&["run", "--adapt", "--no-memory", "-o", report]);
    // A program that waits for a thread that it does not have never ends.
    command.args(options).args(["--", "timeout", "300", program]);
    command.env("OMP_NUM_THREADS", "4").env("OMP_WAIT_POLICY", "passive");
    command.output().expect("it runs")
}

fn keeps_its_team(case: u32) {
    let _turn = alone();
    let scratch = Scratch::new();
    for compiler in ["gcc", "clang"] {
        let flags = ["-O2", "-fopenmp", &format!("-DCASE={case}")];
        let Some(program) = scratch.compile(compiler, &flags, SOURCE) else { continue };
        let program = program.to_str().expect("UTF-8");
        let mut lone = std::process::Command::new(program);
        let lone = lone.env("OMP_NUM_THREADS", "4").output().expect("it runs");
        let path = scratch.path("report.json");
        for options in [&[][..], WITH_ALL_OPTIONS] {
            let answer = adapted(program, options, path.to_str().expect("UTF-8"));
            assert_eq!(answer.status.code(), Some(0), "{compiler}, {options:?}: {answer:?}");
            assert_eq!(text(&answer.stdout), text(&lone.stdout), "{compiler}, {options:?}");
            let report = fs::read_to_string(&path).expect("a report");
            let report: Value = serde_json::from_str(&report).expect("JSON");
            let process = &report["processes"][0];
            for region in process["regions"].as_array().expect("a list") {
                // Its threads may be packed; the program counts them.
                assert_eq!(region["teams"].as_array().map(Vec::len), Some(1), "{region:#}");
            }
            let notes = process["notes"].to_string();
            assert!(notes.contains("fewer threads need --narrow"), "{notes}");
        }
    }
}

#[test]
fn a_barrier_of_the_program_s_own_is_passed_by_all_threads() {
    keeps_its_team(0);
}

#[test]
fn each_ticket_is_drawn() {
    keeps_its_team(1);
}

#[test]
fn chunks_are_given_one_by_one() {
    keeps_its_team(2);
}

#[test]
fn sections_that_wait_for_each_other_have_threads() {
    keeps_its_team(3);
}

#[test]
fn options_of_smaller_teams_need_narrow() {
    let mut command = pacman_pmu(&["run", "--strict", "--adapt", "--max-threads", "2", "--"]);
    let answer = command.args(["echo", "ran"]).output().expect("it runs");
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(2), ""));
    let line = "pacman-pmu: cannot adapt by --max-threads: teams keep their threads; add --narrow; not run\n";
    assert_eq!(text(&answer.stderr), line);
    let alone = pacman_pmu(&["run", "--narrow", "--", "echo", "ran"]).output().expect("it runs");
    assert_eq!((alone.status.code(), text(&alone.stdout)), (Some(2), ""), "it needs --adapt");
}
