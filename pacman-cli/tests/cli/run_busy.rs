//! Programs whose threads share a processor: `run` and `record` say so before anything else.

use pacman_events::plural::number;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Works for 0.2 s of processor time beside a process that works on the same processor.
const SHARED: &str = include_str!("shared_processor.c");

/// Two processes that work with all processors for 0.3 s of processor time in each thread.
const CROWDED: &str = r#"
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double ran(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

int main(void)
{
    pid_t other = fork();
    #pragma omp parallel
    {
        double begun = ran();
        while (ran() - begun < 0.3) {}
    }
    return other != 0 && waitpid(other, 0, 0) != other;
}
"#;

fn reported(program: &Path, scratch: &Scratch, form: &str) -> String {
    let path = scratch.path(&format!("report.{form}"));
    let mut command = pacman_pmu(&["run", "-o"]);
    let answer = command.arg(&path).arg("--").arg(program).output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    fs::read_to_string(&path).expect("a report")
}

#[test]
fn threads_that_share_a_processor_are_named_first() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], SHARED) else { return };
    let plain = reported(&program, &scratch, "txt");
    let first = plain.lines().find(|line| !line.is_empty()).expect("a line");
    assert!(first.starts_with("Threads had no processor of their own: they ran "), "{plain}");
    let report: Value = serde_json::from_str(&reported(&program, &scratch, "json")).expect("JSON");
    let process = &report["processes"][0];
    assert_eq!(process["lacks_processors"], true, "{process}");
    let share = process["processor_share"].as_f64().expect("the kernel says it");
    assert!(share < 0.75, "two processes shared a processor: {share}");
    assert!(process["efficiency"].is_null(), "waits were not timed");
    let page = reported(&program, &scratch, "html");
    assert!(page.contains("The machine was busy with other work: the threads ran"), "{page}");
}

#[test]
fn processes_of_one_program_that_take_each_other_s_processors_are_named_first() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], CROWDED) else { return };
    let plain = reported(&program, &scratch, "txt");
    let first = plain.trim_start().lines().next().expect("a line");
    let contexts = std::thread::available_parallelism().expect("a number").get();
    let most = (contexts / 2).max(1);
    let begin = format!(
        "There were more threads than processors, {} on {contexts}, so threads of ",
        2 * contexts
    );
    assert!(first.starts_with(&begin), "{plain}");
    let help = format!(
        "To help: use at most {} in all, by OMP_NUM_THREADS={most}; or OMP_WAIT_POLICY=passive,",
        number(contexts, "thread")
    );
    assert!(first.contains(&help), "{plain}");
    let page = reported(&program, &scratch, "html");
    assert!(page.contains("\"headline\":{\"kind\":\"more-threads-than-contexts\""), "{page}");
}
