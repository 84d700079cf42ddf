//! The surroundings of a program, alone and under `run`; docs/transparency.md has the table.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pacman_suite::command::with_default_signals;

use super::scratch::Scratch;
use super::{library, pacman_pmu, text};

/// Says what a program can find out about itself, before, in and after regions, and on other threads.
const SURROUNDINGS: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void regions(int count) {
  static int cells[4000];
  for (int step = 0; step < count; step++) {
#pragma omp parallel for schedule(dynamic, 100)
    for (int i = 0; i < 4000; i++) cells[i]++;
  }
}

static void limits(void) {
  for (int which = 0; which < RLIM_NLIMITS; which++) {
    struct rlimit limit;
    if (getrlimit(which, &limit)) continue;
    printf("limit %d %lx %lx\n", which, (long)limit.rlim_cur, (long)limit.rlim_max);
  }
}

static void descriptors(void) {
  int own[3];
  for (int i = 0; i < 3; i++) printf("descriptor %d\n", own[i] = open("/dev/null", O_RDONLY));
  for (int i = 0; i < 3; i++) close(own[i]);
}

static void signals(const char *who) {
  sigset_t mask;
  stack_t stack;
  pthread_sigmask(SIG_SETMASK, 0, &mask);
  sigaltstack(0, &stack);
  printf("%s alternate stack %d %zu\n", who, stack.ss_flags, stack.ss_size);
  for (int signal = 1; signal < 65; signal++) {
    struct sigaction action;
    if (sigaction(signal, 0, &action)) continue;
    printf("%s signal %d %d %p\n", who, signal, sigismember(&mask, signal), (void *)action.sa_handler);
  }
}

static void status(const char *field) {
  char line[4096];
  FILE *file = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, file))
    if (!strncmp(line, field, strlen(field))) fputs(line, stdout);
  fclose(file);
}

static void *other(void *nothing) {
  signals("another thread's");
  return nothing;
}

static int ready;
static void *cancelled(void *nothing) {
  for (;;) {
    regions(1);
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    pthread_testcancel();
  }
  return nothing;
}

static void surroundings(void) {
  limits();
  descriptors();
  signals("the main thread's");
  const char *fields[] = {"Threads", "Umask", "NoNewPrivs", "Seccomp:", "Cpus_allowed:", "CapEff", "Name"};
  for (int i = 0; i < 7; i++) status(fields[i]);
  printf("priority %d dumpable %d timer slack %d death %d\n", getpriority(PRIO_PROCESS, 0),
         prctl(PR_GET_DUMPABLE), prctl(PR_GET_TIMERSLACK), getpgrp() == getpid());
}

int main(int count, char **arguments) {
  pthread_t thread;
  void *end;
  surroundings();
  errno = 77;
  regions(40);
  printf("errno %d\n", errno);
  surroundings();
  pthread_create(&thread, 0, other, 0);
  pthread_join(thread, 0);
#pragma omp parallel num_threads(2)
#pragma omp critical
  signals("a member's");
  pthread_create(&thread, 0, cancelled, 0);
  while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) sched_yield();
  pthread_cancel(thread);
  pthread_join(thread, &end);
  printf("cancelled %d, %d arguments, %s\n", end == PTHREAD_CANCELED, count, arguments[1]);
  return 11;
}
"#;

/// Each way of running it, with the options of `run`; none is alone.
const WAYS: [Option<&[&str]>; 4] =
    [None, Some(&[]), Some(&["-e", "task-clock,page-faults"]), Some(&["--adapt"])];

fn run(way: Option<&[&str]>, program: &Path, scratch: &Scratch) -> Output {
    let mut command = match way {
        None => {
            let mut command = Command::new(program);
            with_default_signals(&mut command);
            command
        }
        Some(options) => {
            let mut command = pacman_pmu(&["run", "-o"]);
            command.arg(scratch.path("report.json")).args(options).arg("--").arg(program);
            command
        }
    };
    command.arg("an argument").env("OMP_NUM_THREADS", "3").output().expect("it runs")
}

fn compiled(scratch: &Scratch, source: &str) -> Vec<PathBuf> {
    let compile = |compiler| scratch.compile(compiler, &["-O1", "-fopenmp", "-w"], source);
    ["gcc", "clang"].into_iter().filter_map(compile).collect()
}

#[test]
fn a_program_finds_its_surroundings_as_alone() {
    let scratch = Scratch::new();
    for program in compiled(&scratch, SURROUNDINGS) {
        let alone = run(None, &program, &scratch);
        assert_eq!(alone.status.code(), Some(11));
        assert!(text(&alone.stdout).lines().count() > 200, "it says all that it finds");
        for way in &WAYS[1..] {
            let under = run(*way, &program, &scratch);
            // A packed thread has another mask for those that read it in `/proc`. Its own calls return its own.
            let is_packed = *way == Some(&["--adapt"][..]);
            let compared = |output: &Output| -> Vec<String> {
                let lines = text(&output.stdout).lines();
                let lines = lines.filter(|line| !is_packed || !line.starts_with("Cpus_allowed"));
                lines.map(str::to_owned).collect()
            };
            let (expected, found) = (compared(&alone), compared(&under));
            let differ = |(one, other): &(&String, &String)| one != other;
            let name = program.display();
            let first = expected.iter().zip(&found).find(differ);
            assert_eq!(first, None, "{name} {way:?}: alone, and under run");
            assert_eq!(found.len(), expected.len(), "{name} {way:?}");
            assert_eq!(text(&under.stderr), text(&alone.stderr), "{name} {way:?}");
            assert_eq!(under.status.code(), alone.status.code(), "{name} {way:?}");
        }
    }
}

/// The variables that differ are all that a program finds in its environment.
#[test]
fn the_environment_differs_by_what_loads_the_library_and_what_it_is_asked() {
    let scratch = Scratch::new();
    let variables = |options: Option<&[&str]>| -> BTreeSet<String> {
        let mut command = match options {
            None => Command::new("env"),
            Some(options) => {
                let mut command = pacman_pmu(&["run"]);
                command.args(options).args(["--", "env"]);
                command
            }
        };
        command.env_remove("LD_PRELOAD").env("PACMAN_OMP_LIBRARY", library());
        let answer = command.env("TMPDIR", scratch.path(".")).output().expect("it runs");
        text(&answer.stdout).lines().map(str::to_owned).collect()
    };
    let alone = variables(None);
    let trace = scratch.named("report.trace.json");
    for (options, more) in [
        (&[][..], &["PACMAN_OMP_OVERHEAD"][..]),
        (&["--overhead", "100"], &[]),
        (&["-o", &trace], &["PACMAN_OMP_OVERHEAD", "PACMAN_OMP_TRACE"]),
        (&["-e", "task-clock"], &["PACMAN_OMP_EVENTS"]),
        (
            &["--adapt"],
            &["PACMAN_OMP_ADAPT", "PACMAN_OMP_WATCH", "PACMAN_OMP_SPIN", "GOMP_SPINCOUNT"],
        ),
        (&["--threads", "2"], &["PACMAN_OMP_OVERHEAD", "OMP_NUM_THREADS"]),
        (
            &["--adapt", "--waiting", "block"],
            &[
                "PACMAN_OMP_ADAPT",
                "PACMAN_OMP_WATCH",
                "PACMAN_OMP_WAITING",
                "OMP_WAIT_POLICY",
                "KMP_BLOCKTIME",
            ],
        ),
    ] {
        let under = variables(Some(options));
        assert_eq!(alone.difference(&under).next(), None, "{options:?}: nothing is taken away");
        let added = under.difference(&alone).filter_map(|line| line.split('=').next());
        let added: BTreeSet<&str> = added.collect();
        let always = [
            "LD_PRELOAD",
            "OMP_TOOL_LIBRARIES",
            "KOKKOS_TOOLS_LIBS",
            "PACMAN_OMP_SEGMENT",
            "PACMAN_OMP_DIR",
        ];
        let expected: BTreeSet<&str> = always.iter().chain(more).copied().collect();
        assert_eq!(added, expected, "{options:?}");
    }
}

/// Runs the words after the first one with that entry and others in its environment.
const STARTER: &str = r#"
#include <unistd.h>
int main(int count, char **words) {
  char *entries[] = {words[1], "Z=1", "TWICE=first", "A=1", "TWICE=second", "nothing", 0};
  execve(words[2], words + 2, entries);
  return 9;
}
"#;

#[test]
fn the_environment_keeps_its_order_and_a_name_that_stands_twice() {
    let scratch = Scratch::new();
    let Some(starter) = scratch.compile("cc", &[], STARTER) else { return };
    let entry = format!("PACMAN_OMP_LIBRARY={}", library().display());
    let lines = |words: &[&str]| -> Vec<String> {
        let answer = Command::new(&starter).arg(&entry).args(words).output().expect("it runs");
        text(&answer.stdout).lines().map(str::to_owned).collect()
    };
    let alone = lines(&["/usr/bin/env"]);
    let command = pacman_pmu(&[]);
    let command = command.get_program().to_str().expect("a path");
    let under = lines(&[command, "run", "--", "/usr/bin/env"]);
    assert_eq!(under[..alone.len()], alone);
    assert!(under[alone.len()..].iter().any(|line| line.starts_with("LD_PRELOAD=")), "{under:?}");
}

/// The runtime's own list of its settings; LLVM's has the variable that finds it a tool.
#[test]
fn the_runtime_displays_the_same_settings() {
    let scratch = Scratch::new();
    let source = "int count;\nint main(void) {\n#pragma omp parallel\n#pragma omp atomic\n\
                  count++;\nreturn count == 0; }";
    for program in compiled(&scratch, source) {
        let displayed = |way: Option<&[&str]>| -> String {
            let mut command = match way {
                None => Command::new(&program),
                Some(options) => {
                    let mut command = pacman_pmu(&["run", "-o"]);
                    command.arg(scratch.path("report.json")).args(options).arg("--").arg(&program);
                    command
                }
            };
            let answer = command.env("OMP_DISPLAY_ENV", "true").output().expect("it runs");
            let lines = text(&answer.stderr).lines();
            lines.filter(|line| !line.contains("OMP_TOOL_LIBRARIES")).collect::<Vec<_>>().join("\n")
        };
        let alone = displayed(None);
        assert!(alone.contains("OMP_DYNAMIC"), "{alone}");
        for way in &WAYS[1..] {
            assert_eq!(displayed(*way), alone, "{} {way:?}", program.display());
        }
    }
}

/// Threads that come and go: what is kept for one is there for the next.
#[test]
fn ended_threads_leave_no_memory_behind() {
    let scratch = Scratch::new();
    let source = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static long resident(void) {
  long size, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (fscanf(file, "%ld %ld", &size, &pages) != 2) pages = 0;
  fclose(file);
  return pages;
}
static void *life(void *nothing) {
  int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
  sum++;
  return sum == 4 ? nothing : (void *)life;
}
static void lives(int count) {
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    void *end;
    if (pthread_create(&thread, 0, life, 0) || pthread_join(thread, &end) || end) _exit(1);
  }
}
int main(void) {
  lives(300); /* A session keeps 1,024 threads by themselves. */
  long before = resident();
  lives(1000);
  printf("%ld\n", (resident() - before) * sysconf(_SC_PAGESIZE));
  return 0;
}
"#;
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], source) else { return };
    for way in &WAYS[..3] {
        let answer = run(*way, &program, &scratch);
        assert_eq!(answer.status.code(), Some(0), "{way:?}: {}", text(&answer.stderr));
        let grown: i64 = text(&answer.stdout).trim().parse().expect("a number of bytes");
        // Pages come and go by the dozen; what was kept of each life took 4 kB.
        assert!(grown < 4_000 * 256, "{way:?}: {grown} bytes in 4,000 threads' lives");
    }
}
