//! `run` on OpenMP programs that outlive it, or whose threads come and go.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::rows::rows;
use super::run_ends::{executions, run};
use super::scratch::Scratch;
use super::{pacman_pmu, text};

const DAEMON: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int sum;
static void part(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    sum++;
  }
}
int main(int count, char **words) {
  (void)count;
  int ready[2];
  if (pipe(ready)) return 1;
  if (fork()) {
    char byte;
    return read(ready[0], &byte, 1) == 1 ? 5 : 1;
  }
  for (int turn = 0; turn < 50; turn++) part();
  int go = open_go(words[1]);
  for (int number = 0; number < 3; number++) close(number);
  if (write(ready[1], "x", 1) != 1) return 1;
  char byte;
  if (read(go, &byte, 1) != 1) return 1;
  for (int turn = 0; turn < 5000; turn++) part();
  FILE *done = fopen(words[2], "w");
  fprintf(done, "%d\n", sum);
  return fclose(done);
}
"#;

#[test]
fn a_process_that_outlives_the_run_is_told_and_goes_on() {
    let scratch = Scratch::new();
    let source = DAEMON.replace("open_go(words[1])", "open(words[1], O_RDONLY)");
    let source = format!("#include <fcntl.h>\n{source}");
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], &source) else { return };
    let (go, done) = (scratch.path("go"), scratch.path("done"));
    let made = Command::new("mkfifo").arg(&go).status().expect("mkfifo runs");
    assert!(made.success());
    // Open for both, so that neither side waits for the other.
    let mut gate = fs::File::options().read(true).write(true).open(&go).expect("a pipe");
    let (status, report) = run(&scratch, &program, &[go.to_str().unwrap(), done.to_str().unwrap()]);
    assert_eq!(status, Some(5));
    let processes = report["processes"].as_array().expect("a list");
    let child = processes.iter().find(|one| one["ending"] == "running");
    let child = child.unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!(executions(child), [50]);
    let pid = child["pid"].as_u64().expect("a number");
    std::io::Write::write_all(&mut gate, b"x").expect("it waits for that");
    let begun = std::time::Instant::now();
    while Path::new(&format!("/proc/{pid}")).exists() {
        assert!(begun.elapsed().as_secs() < 60, "it does not end");
        std::thread::yield_now();
    }
    assert_eq!(fs::read_to_string(&done).expect("it got that far"), "10100\n");
    let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let column = |line: &str, at: usize| line.split_whitespace().nth(at).map(str::to_owned);
    let left = segments.lines().filter(|line| column(line, 5) == Some(pid.to_string()));
    assert_eq!(left.count(), 0, "{segments}");
}

/// Teams of two and eight by turns: libgomp ends six threads and starts them again each time. Prints
/// kilobytes of memory after half of the rounds, and at the end.
const CHURN: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long sum;
static long kilobytes(void) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[256];
  long all = 0, value;
  while (fgets(line, sizeof line, status))
    if (sscanf(line, "VmRSS: %ld", &value) == 1) all = value;
  fclose(status);
  return all;
}
int main(int count, char **words) {
  int rounds = count > 1 ? atoi(words[1]) : 100;
  for (int round = 0; round < rounds; round++) {
#pragma omp parallel num_threads(round % 2 ? 2 : 8) reduction(+ : sum)
    sum++;
    if (round == rounds / 2) printf("%ld\n", kilobytes());
  }
  printf("%ld\n", kilobytes());
  return sum == rounds * 5L ? 5 : 6;
}
"#;

#[test]
fn threads_that_come_and_go_take_no_memory() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], CHURN) else { return };
    // All executions timed, so that those of each thread are no estimates.
    for events in [&["--overhead", "100"][..], &["-e", "task-clock,page-faults"]] {
        let path = scratch.path("report.json");
        let grown = || {
            let mut command = pacman_pmu(&["run", "-o"]);
            command.arg(&path).args(events).arg("--").arg(&program).arg("1500");
            let answer = command.output().expect("it runs");
            assert_eq!(answer.status.code(), Some(5), "{}", text(&answer.stderr));
            let memory: Vec<i64> =
                text(&answer.stdout).lines().map(|line| line.parse().unwrap()).collect();
            let [early, late] = memory[..] else { panic!("two figures: {memory:?}") };
            late - early
        };
        // 750 rounds start 2,250 threads: 200 kB are less than 100 bytes for each. What a busy machine
        // adds, because more threads live at once, is not there every time.
        let grown: Vec<i64> = (0..3).map(|_| grown()).collect();
        assert!(grown.iter().any(|kilobytes| *kilobytes < 200), "{events:?}: {grown:?} kB more");
        let report: Value =
            serde_json::from_str(&fs::read_to_string(&path).expect("a report")).expect("JSON");
        let region = &report["processes"][0]["regions"][0];
        assert_eq!(region["executions"], 1500);
        let threads = rows(&region["threads"]);
        let of: Vec<_> = threads.iter().map(|one| &one["executions"]).collect();
        assert_eq!(of, [1500, 1500, 750, 750, 750, 750, 750, 750]);
    }
}
