//! Calls that nothing was asked about go to the runtime without the engine.

use std::process::Command;

use pacman_suite::skipped;

use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Prints where the program's calls of some functions go: the preloaded entry is `jmp *slot(%rip)`.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

static void print(void *runtime, const char *name) {
    unsigned char *entry = dlsym(RTLD_DEFAULT, name);
    void *real = dlsym(runtime, name), *target = entry;
    int distance;
    if (entry != real && entry[0] == 0xff && entry[1] == 0x25) {
        memcpy(&distance, entry + 2, sizeof distance);
        target = *(void **)(entry + 6 + distance);
    }
    printf(" %s", target == real ? "direct" : "watched");
}

int main(void) {
    /* One for each lock: the two do not exclude each other. */
    long critical = 0, locked = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
    void *runtime = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!runtime) return 1;
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp critical
            critical++;
            omp_set_lock(&lock);
            locked++;
            omp_unset_lock(&lock);
        }
    }
    printf("%ld", critical + locked);
    print(runtime, "GOMP_critical_start");
    print(runtime, "omp_set_lock");
    print(runtime, "GOMP_parallel");
    printf("\n");
}
"#;

#[test]
fn only_functions_that_something_was_asked_about_pass_the_engine() {
    let scratch = Scratch::new();
    let (source, program) = (scratch.file("direct.c", SOURCE), scratch.path("direct"));
    let flags = ["-O1", "-fopenmp", "-o"];
    let built = Command::new("gcc").args(flags).args([&program, &source]).arg("-ldl").output();
    let built = built.expect("gcc is needed");
    if !built.status.success() {
        return skipped("gcc has no OpenMP");
    }
    let alone = Command::new(&program).output().expect("it runs");
    assert_eq!(text(&alone.stdout), "8 direct direct direct\n");
    let cases: [(&[&str], &str); 3] = [
        (&[], "8 direct direct watched\n"),
        (&["--waits"], "8 watched watched watched\n"),
        (&["--adapt", "--no-memory"], "8 direct direct watched\n"),
    ];
    for (arguments, expected) in cases {
        let under = pacman_pmu(&["run"]).args(arguments).arg("--").arg(&program).output();
        let under = under.expect("it runs");
        assert_eq!(text(&under.stdout), expected, "{arguments:?}: {}", text(&under.stderr));
    }
}
