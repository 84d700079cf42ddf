//! libomp's block time, the time that an idle thread spins, is 0 while a team is packed. The program has its own again
//! afterwards, and always where it asks.

use std::fs;
use std::thread;

use super::scratch::Scratch;
use super::{alone, pacman_pmu, text};

/// More threads than processors, of which libomp answers that they do not spin at all. The program ends all packing, and
/// counts how often its threads sleep in 50 pauses between regions. One that does not spin sleeps in each.
const PAUSES: &str = r#"
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>

static void regions(int count) {
    for (int i = 0; i < count; i++) {
#pragma omp parallel
        sched_yield();
        for (double begin = omp_get_wtime(); omp_get_wtime() - begin < 6e-3;) {}
    }
}

static long sleeps(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

int main(void) {
    cpu_set_t own;
    regions(50);
    sched_getaffinity(0, sizeof own, &own);
    regions(3);
    long before = sleeps();
    regions(50);
    printf("%ld\n", sleeps() - before);
    return 0;
}
"#;

#[test]
fn threads_of_libomp_spin_again_after_packed_executions() {
    let _turn = alone();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("clang", &["-O1", "-fopenmp"], PAUSES) else { return };
    let path = scratch.path("report.json");
    for threads in [processors, processors + 1] {
        let mut command = pacman_pmu(&["run", "--adapt", "--no-memory", "-o"]);
        command.env("OMP_NUM_THREADS", threads.to_string()).arg(&path).args(["--", "env"]);
        let answer = command.arg("PACMAN_OMP_PACK=1x1").arg(&program).output().expect("it runs");
        let sleeps: u32 = text(&answer.stdout).trim().parse().expect("a number");
        assert!(sleeps < 25, "{threads} threads: {sleeps} of {} pauses", 50 * (threads - 1));
        let report = fs::read_to_string(&path).expect("a report");
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        let reduced = &report["processes"][0]["regions"][0]["adaptation"]["reduced"];
        assert!(processors == 1 || reduced.as_u64() > Some(25), "{report}");
    }
}

/// The program sets its block time now and then, and asks for it inside of regions and between them.
const OWN_BLOCK_TIME: &str = r#"
#include <stdatomic.h>
#include <stdio.h>
extern int kmp_get_blocktime(void);
extern void kmp_set_blocktime(int);

int main(void) {
    atomic_int odd = 0;
    int own = kmp_get_blocktime();
    for (int i = 0; i < 400; i++) {
        if (i > 200 && i % 20 == 0) kmp_set_blocktime(own = 30 + i % 40);
#pragma omp parallel num_threads(2)
        if (i == 150 || i > 200)
            if (kmp_get_blocktime() != own) odd++;
        if (i > 200 && kmp_get_blocktime() != own) odd++;
    }
    printf("%d\n", odd);
    return 0;
}
"#;

#[test]
fn a_program_sees_and_keeps_its_own_block_time() {
    let _turn = alone();
    let scratch = Scratch::new();
    let flags = ["-O1", "-fopenmp"];
    let Some(program) = scratch.compile("clang", &flags, OWN_BLOCK_TIME) else { return };
    let mut command = pacman_pmu(&["run", "--adapt", "--no-memory", "-o"]);
    command.arg(scratch.path("report.json")).args(["--", "env", "PACMAN_OMP_PACK=1x1"]);
    let answer = command.arg(program).output().expect("it runs");
    assert_eq!(text(&answer.stdout), "0\n", "{answer:?}");
}
