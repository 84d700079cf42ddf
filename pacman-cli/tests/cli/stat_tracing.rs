//! `stat` on programs that trace threads themselves: each thread has one tracer at a time.

use std::fs;
use std::process::{Command, Output};

use pacman_suite::skipped;

use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Traces a child, which works for some time, and prints its status.
const TRACES: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(void) {
  pid_t child = fork();
  if (!child) {
    if (ptrace(PTRACE_TRACEME, 0, 0, 0)) _exit(9);
    raise(SIGSTOP);
    struct timespec used;
    do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    while (!used.tv_sec && used.tv_nsec < 50000000);
    _exit(4);
  }
  int status;
  waitpid(child, &status, 0);
  if (WIFSTOPPED(status)) {
    ptrace(PTRACE_CONT, child, 0, 0);
    waitpid(child, &status, 0);
  }
  printf("%d\n", WEXITSTATUS(status));
  return 3;
}
"#;

const LEAKS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
  char *volatile lost = malloc(10);
  if (count < 2) free(lost);
  lost = 0;
  puts(words[0] ? "ran" : "");
  return 0;
}
"#;

fn counted(scratch: &Scratch, line: &[&str]) -> (Output, serde_json::Value) {
    let path = scratch.path("counts.json");
    let mut command = pacman_pmu(&["stat", "-e", "task-clock", "--json", "-o"]);
    let output = command.arg(&path).arg("--").args(line).output().expect("it runs");
    let report = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{output:?}"));
    (output, serde_json::from_str(&report).expect("JSON"))
}

#[test]
fn a_program_that_traces_does_so_and_is_counted_with_its_children() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1"], TRACES) else { return };
    let program = program.to_str().expect("text");
    for line in [&[program][..], &["sh", "-c", "\"$0\"; exit $?", program]] {
        let (output, report) = counted(&scratch, line);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(3), "4\n"), "{output:?}");
        let text = report.to_string();
        assert!(text.contains("traces threads itself"), "{report:#}");
        let total = report["total"]["counts"][0].as_f64().or(report["total"]["time_ns"].as_f64());
        assert!(total.is_none_or(|total| total >= 50e6), "{report:#}");
    }
}

#[test]
fn leaks_are_found_under_stat_as_alone() {
    let scratch = Scratch::new();
    let flags = ["-O0", "-fsanitize=address"];
    let Some(program) = scratch.compile("gcc", &flags, LEAKS) else { return };
    let program = program.to_str().expect("text");
    for words in [&[][..], &["leak"]] {
        let alone = Command::new(program).args(words).output().expect("it runs");
        if words.is_empty() && !alone.status.success() {
            return skipped("LeakSanitizer does not work here");
        }
        let line: Vec<&str> = [program].iter().chain(words).copied().collect();
        let (output, _) = counted(&scratch, &line);
        assert_eq!(output.status.code(), alone.status.code(), "{output:?}");
        assert_eq!(output.stdout, alone.stdout);
        assert_eq!(words.is_empty(), alone.status.success(), "{alone:?}");
    }
}
