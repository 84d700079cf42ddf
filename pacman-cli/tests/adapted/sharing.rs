//! Programs that share the machine.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::available_parallelism;

use pacman_suite::skipped;
use serde_json::Value;

use super::scratch::Scratch;
use super::{alone, pacman_pmu};

/// One region, again and again until the program's standard input ends.
const SOURCE: &str = r#"
#include <poll.h>
#include <stdio.h>

static double parts[4096];

int main(void) {
    struct pollfd end = {.fd = 0, .events = POLLIN};
    long rounds = 0;
    while (rounds < 200 || !poll(&end, 1, 0)) {
        rounds++;
#pragma omp parallel for schedule(dynamic, 64)
        for (long i = 0; i < 4096; i++)
            for (long k = 0; k < 100; k++)
                parts[i] = parts[i] * 0.5 + k;
        if (rounds == 200) {
            puts("under way");
            fflush(stdout);
        }
    }
    return 0;
}
"#;

fn started(scratch: &Scratch, program: &Path, report: &str) -> Child {
    let mut command = pacman_pmu(&["run", "--adapt", "--narrow", "--share", "-o"]);
    command.arg(scratch.path(report)).arg("--").arg(program).env("OMP_NUM_THREADS", "2");
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.spawn().expect("it runs");
    wait_for_line(&mut child);
    child
}

fn wait_for_line(child: &mut Child) {
    use std::io::{BufRead, BufReader};
    let output = child.stdout.as_mut().expect("a pipe");
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).expect("a line");
    assert_eq!(line, "under way\n");
}

/// Ends the program, and answers its process in the report.
fn ended(scratch: &Scratch, mut child: Child, report: &str) -> Value {
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
    let text = fs::read_to_string(scratch.path(report)).expect("a report");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    report["processes"][0].clone()
}

fn executions(process: &Value, threads: u64) -> u64 {
    let teams = process["regions"][0]["teams"].as_array().expect("a list");
    let team = teams.iter().find(|team| team["threads"] == threads);
    team.map_or(0, |team| team["executions"].as_u64().expect("a number"))
}

fn has_shared(process: &Value) -> bool {
    let notes = process["notes"].as_array().expect("a list");
    notes
        .iter()
        .any(|note| note.as_str().is_some_and(|note| note.starts_with("the machine was shared")))
}

#[test]
fn two_programs_have_a_context_each_while_both_run() {
    let _turn = alone();
    if available_parallelism().is_ok_and(|contexts| contexts.get() != 2) {
        return skipped("the machine has other than two contexts");
    }
    let scratch = Scratch::new();
    for compiler in ["gcc", "clang"] {
        let Some(program) = scratch.compile(compiler, &["-O1", "-fopenmp"], SOURCE) else {
            continue;
        };
        let first = started(&scratch, &program, "first.json");
        let second = started(&scratch, &program, "second.json");
        let second = ended(&scratch, second, "second.json");
        assert!(has_shared(&second), "{compiler}: {second:#}");
        // Its first execution is observed as it is, and the share is known after the second.
        let (alone, both) = (executions(&second, 1), executions(&second, 2));
        assert!(alone >= 150 && both <= 50, "{compiler}: {second:#}");
        let first = ended(&scratch, first, "first.json");
        assert!(has_shared(&first) && executions(&first, 1) > 0, "{compiler}: {first:#}");
    }
    let files = fs::read_dir("/dev/shm").expect("a directory");
    let left =
        files.flatten().find(|file| file.file_name().to_string_lossy().starts_with("pacman-share"));
    assert!(left.is_none(), "the last run removes the file: {left:?}");
}

#[test]
fn a_program_alone_has_the_whole_machine() {
    let _turn = alone();
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], SOURCE) else { return };
    let process = ended(&scratch, started(&scratch, &program, "report.json"), "report.json");
    assert!(!has_shared(&process), "{process:#}");
}
