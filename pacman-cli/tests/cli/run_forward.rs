//! `run --waits` on functions with more arguments than any interface has, and on calls that do not return.

use std::fs;
use std::process::Command;

use serde_json::Value;

use pacman_suite::skipped;

use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Named as functions of MPI, under both names, so that the library times them.
const LIBRARY: &str = r#"
#include <stdarg.h>
double MPI_Sendrecv(int count, ...) {
    double sum = 0;
    va_list words;
    va_start(words, count);
    for (int number = 0; number < count; number++) sum += va_arg(words, long) + va_arg(words, double);
    va_end(words);
    return sum;
}
double PMPI_Sendrecv(int count, ...) { return count; }
int MPI_Barrier(void (*left)(void)) { left(); return 1; }
int PMPI_Barrier(void (*left)(void)) { return MPI_Barrier(left); }
/* Goes on to another function with a jump, where the compiler optimises. */
int MPI_Test(int value) { return value + 5; }
int PMPI_Test(int value) { return MPI_Test(value); }
int MPI_Wait(int value) { return MPI_Test(value); }
int PMPI_Wait(int value) { return MPI_Wait(value); }
"#;

const PROGRAM: &str = r#"
#include <csetjmp>
#include <cstdio>
#include <pthread.h>
extern "C" {
double MPI_Sendrecv(int, ...);
int MPI_Barrier(void (*)(void)), MPI_Wait(int);
}
static std::jmp_buf back;
static void thrown() { throw 7; }
static void jumped() { std::longjmp(back, 1); }
static void stays() {}
static void ends() { pthread_exit(0); }
static void *thread(void *) {
    MPI_Barrier(ends);
    return (void *)1;
}
static int caught(int depth) {
    if (depth > 0) return caught(depth - 1) + 1;
    try {
        MPI_Barrier(thrown);
    } catch (int value) {
        return value;
    }
    return 0;
}
int main() {
    double sum = 0;
    long exceptions = 0, jumps = 0, others = 0;
    for (int turn = 0; turn < 200; turn++) {
        sum += MPI_Sendrecv(12, 1L, .5, 2L, .5, 3L, .5, 4L, .5, 5L, .5, 6L, .5, 7L, .5, 8L, .5, 9L, .5,
                            10L, .5, 11L, .5, 12L, .5);
        exceptions += caught(turn % 3);
        if (setjmp(back) == 0) MPI_Barrier(jumped);
        else jumps = jumps + 1;
        MPI_Barrier(stays);
        others += MPI_Wait(turn);
    }
    for (int number = 0; number < 20; number++) {
        pthread_t one;
        void *answer = 0;
        pthread_create(&one, 0, thread, 0);
        pthread_join(one, &answer);
        if (answer) return 1;
    }
    std::printf("%.1f %ld %ld %ld\n", sum, exceptions, jumps, others);
}
"#;

#[test]
fn calls_with_any_arguments_and_any_end_are_those_of_the_program_alone() {
    let scratch = Scratch::new();
    let (library, program) = (scratch.file("mpi.c", LIBRARY), scratch.file("program.cc", PROGRAM));
    let (shared, made) = (scratch.path("libmade.so"), scratch.path("program"));
    let rpath = format!("-Wl,-rpath,{}", shared.parent().expect("a folder").display());
    let flags = ["-O2", "-shared", "-fPIC", "-fexceptions", "-o"];
    let built = Command::new("gcc").args(flags).args([&shared, &library]).output();
    let linked = Command::new("g++")
        .args(["-O1", "-g", "-pthread", &rpath, "-o"])
        .args([&made, &program, &shared])
        .output();
    let (Ok(built), Ok(linked)) = (built, linked) else { return skipped("no g++") };
    for done in [built, linked] {
        assert!(done.status.success(), "{}", text(&done.stderr));
    }
    let expected = "16800.0 1599 200 20900\n";
    let alone = Command::new(&made).output().expect("it runs");
    assert_eq!(text(&alone.stdout), expected);
    for arguments in [&[][..], &["--waits"]] {
        let path = scratch.path("report.json");
        let mut command = pacman_pmu(&["run", "-o"]);
        let answer = command.arg(&path).args(arguments).arg("--").arg(&made).output();
        let answer = answer.expect("it runs");
        assert_eq!(text(&answer.stdout), expected, "{arguments:?}: {}", text(&answer.stderr));
        assert!(answer.status.success(), "{arguments:?}: {:?}", answer.status);
        if !arguments.is_empty() {
            let report: Value =
                serde_json::from_str(&fs::read_to_string(&path).expect("a report")).expect("JSON");
            let calls = report["processes"][0]["mpi"]["calls"].as_array().expect("a list");
            let count =
                |one: &Value| (one["name"].as_str().map(str::to_owned), one["count"].as_u64());
            let mut counts: Vec<_> = calls.iter().map(count).collect();
            counts.sort();
            // Calls that did not return have no end.
            let expected = ["MPI_Barrier", "MPI_Sendrecv", "MPI_Wait"];
            assert_eq!(counts, expected.map(|name| (Some(name.to_owned()), Some(200))));
        }
    }
}
