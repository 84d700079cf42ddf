//! Regions whose threads wait for each other are tried on fewer threads after a few executions: what their
//! threads waited limits the cost. Others wait for the budget.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use pacman_suite::skipped;
use serde_json::Value;

use super::scratch::Scratch;
use super::{alone, pacman_pmu, text};

/// Ten milliseconds of work on one thread, shared by a loop, in the executions up to `LOCKED` inside of a
/// critical section. The others have twice the work without it, so that two threads take as long.
const SOURCE: &str = r#"
#include <stdio.h>

/* A cache line for each, so that threads do not wait for lines. */
static volatile double sums[64][8];

static void work(int from, int length) {
    for (int i = 0; i < length; i++) sums[from][0] += i;
}

static void region(int round) {
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < 64; i++) {
        if (round < LOCKED) {
#pragma omp critical
            work(0, 80000);
        } else {
            work(i, 160000);
        }
    }
}

int main(void) {
    for (int round = 0; round < ROUNDS; round++) region(round);
    printf("done\n");
    return 0;
}
"#;

/// The same with a lock, in Fortran.
const FORTRAN: &str = "
program locked
  use omp_lib
  implicit none
  integer(omp_lock_kind) :: lock
  integer :: round, i, j
  real(8), volatile :: total
  total = 0
  call omp_init_lock(lock)
  do round = 1, 8
    !$omp parallel do private(j)
    do i = 1, 64
      call omp_set_lock(lock)
      do j = 1, 80000
        total = total + j
      end do
      call omp_unset_lock(lock)
    end do
  end do
  print '(a)', 'done'
end program
";

/// How an adapted run ended for the program's one region: the executions on fewer threads, and why it runs as
/// it does.
fn adapted(compiler: &str, flags: &[&str], source: &str, threads: &str) -> Option<(u64, String)> {
    let scratch = Scratch::new();
    let program = scratch.compile(compiler, flags, source)?;
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "--adapt", "--narrow", "--no-memory", "-o"]);
    // Threads that spin take processor time as those that work.
    command.env("OMP_NUM_THREADS", threads).env("OMP_WAIT_POLICY", "active");
    let answer = command.arg(&path).arg("--").arg(program).output().expect("it runs");
    assert!(answer.status.success(), "{answer:?}");
    assert_eq!(text(&answer.stdout).trim(), "done");
    let report = fs::read_to_string(path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let adaptation = &report["processes"][0]["regions"][0]["adaptation"];
    let reduced = adaptation["reduced"].as_u64().expect("a number");
    Some((reduced, adaptation["why"].as_str().expect("a reason").to_owned()))
}

/// Runs until `is_right`. Beside other programs the threads wait for a processor, and fewer may be better. The
/// executions are long, so that threads do not wait for the start of another one's time slice most of the time.
fn becomes(compiler: &str, [locked, rounds]: [u32; 2], is_right: impl Fn(u64, &str) -> bool) {
    let flags = ["-O1", "-fopenmp", &format!("-DLOCKED={locked}"), &format!("-DROUNDS={rounds}")];
    let mut found = Vec::new();
    for _ in 0..10 {
        let Some((reduced, why)) = adapted(compiler, &flags, SOURCE, "2") else { return };
        if is_right(reduced, &why) {
            return;
        }
        found.push((reduced, why));
    }
    panic!("{compiler}: executions on one thread, and why: {found:#?}");
}

/// Shares of the machine alone would have it wait for some twenty executions, or for half of them on a machine that is busy.
const FEW: u32 = 8;

#[test]
fn a_region_that_waits_for_a_lock_is_tried_at_once_under_gcc() {
    let _turn = alone();
    becomes("gcc", [FEW, FEW], |reduced, _| reduced >= 1);
}

#[test]
fn a_region_that_waits_for_a_lock_is_tried_at_once_under_clang() {
    let _turn = alone();
    becomes("clang", [FEW, FEW], |reduced, _| reduced >= 1);
}

#[test]
fn fortran_s_locks_are_waits_as_well() {
    let _turn = alone();
    let flags = ["-x", "f95", "-O1", "-fopenmp"];
    let mut found = Vec::new();
    for _ in 0..10 {
        let Some(run) = adapted("gfortran", &flags, FORTRAN, "2") else { return };
        if run.0 >= 1 {
            return;
        }
        found.push(run);
    }
    panic!("{found:#?}");
}

/// Whether two threads take little more than half of the time of one, as on a machine that nothing else uses.
fn two_threads_pay(program: &Path) -> bool {
    let seconds = |threads: &str| {
        let begun = Instant::now();
        let status = Command::new(program).env("OMP_NUM_THREADS", threads).output();
        assert!(status.expect("it runs").status.success());
        begun.elapsed().as_secs_f64()
    };
    let (one, two) = (seconds("1"), seconds("2"));
    one > 1.7 * two
}

/// Like [`becomes`], of runs before and after which two threads pay. Beside other programs they do not, and
/// fewer are right.
fn becomes_on_a_quiet_machine(
    compiler: &str,
    [locked, rounds]: [u32; 2],
    is_right: impl Fn(u64, &str) -> bool,
) {
    let scratch = Scratch::new();
    let scaling = ["-O1", "-fopenmp", "-DLOCKED=0", "-DROUNDS=8"];
    let Some(scaling) = scratch.compile(compiler, &scaling, SOURCE) else { return };
    let flags = ["-O1", "-fopenmp", &format!("-DLOCKED={locked}"), &format!("-DROUNDS={rounds}")];
    let mut found = Vec::new();
    for _ in 0..10 {
        if !two_threads_pay(&scaling) {
            continue;
        }
        let Some((reduced, why)) = adapted(compiler, &flags, SOURCE, "2") else { return };
        if is_right(reduced, &why) {
            return;
        }
        if two_threads_pay(&scaling) {
            found.push((reduced, why));
        }
    }
    if found.is_empty() {
        return skipped("two threads take longer than one where other programs use the processors");
    }
    panic!("{compiler}: executions on one thread, and why: {found:#?}");
}

#[test]
fn a_region_that_scales_waits_for_the_budget() {
    let _turn = alone();
    for compiler in ["gcc", "clang"] {
        becomes_on_a_quiet_machine(compiler, [0, 12], |reduced, why| {
            reduced == 0 && !why.contains("threads waited")
        });
    }
}

/// The first executions only wait, and those after them only work. So the limit is wrong for the sample, which
/// costs an execution. The budget then pays for one more in a hundred executions at most.
#[test]
fn a_region_that_ceases_to_wait_loses_one_sample() {
    let _turn = alone();
    for compiler in ["gcc", "clang"] {
        becomes_on_a_quiet_machine(compiler, [3, 150], |reduced, _| (1..=3).contains(&reduced));
    }
}
