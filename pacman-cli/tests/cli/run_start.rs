//! Threads and waiting that are chosen before a program starts.

use std::path::PathBuf;

use pacman_suite::skipped;

use super::run_quota::group;
use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Prints how many threads ran, what the variable says, and the rounds of work.
const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static volatile double parts[64];
int main(void) {
  int threads = 0;
  const char *spin = getenv("GOMP_SPINCOUNT");
  for (int round = 0; round < 12; round++) {
    threads = 0;
#pragma omp parallel reduction(+ : threads)
    {
      threads++;
      for (int i = 0; i < 400000; i++) parts[threads] += i;
    }
  }
  printf("%d threads, spin %s\n", threads, spin ? spin : "unset");
  return 0;
}
"#;

fn program(scratch: &Scratch) -> Option<PathBuf> {
    let contexts = std::thread::available_parallelism().map_or(1, usize::from);
    if contexts < 2 {
        skipped("one context: a quota below it leaves one thread in any case");
        return None;
    }
    scratch.compile("gcc", &["-O1", "-fopenmp"], SOURCE)
}

#[test]
fn an_adapted_program_starts_with_as_many_threads_as_a_quota_runs_at_once() {
    let scratch = Scratch::new();
    let (Some(program), Some(group)) = (program(&scratch), group()) else {
        return;
    };
    let run = |options: &[&str], threads: Option<&str>| {
        let mut command = pacman_pmu(&["run"]);
        command.args(options).arg("--").arg(&program).env_remove("OMP_NUM_THREADS");
        command.envs(threads.map(|threads| ("OMP_NUM_THREADS", threads)));
        let answer = group.inside(&command).output().expect("it runs");
        (text(&answer.stdout).to_owned(), text(&answer.stderr).to_owned())
    };
    let (ran, said) = run(&["--adapt", "--no-memory"], None);
    assert_eq!(ran, "1 threads, spin unset\n", "{said}");
    assert!(said.contains(", 1 thread by a quota of 0.1 processors, adapted for time"), "{said}");
    // The user's number stays, and so does the default of those who do not adapt.
    let (ran, said) = run(&["--adapt", "--no-memory"], Some("2"));
    assert_eq!(ran, "2 threads, spin unset\n", "{said}");
    let (ran, _) = run(&["--adapt", "--no-memory", "--threads", "keep"], None);
    assert_ne!(ran, "1 threads, spin unset\n");
    let (ran, _) = run(&[], None);
    assert_ne!(ran, "1 threads, spin unset\n");
    let (ran, said) = run(&["--threads", "3"], Some("2"));
    assert_eq!(ran, "3 threads, spin unset\n");
    assert!(said.contains(", 3 threads by --threads"), "{said}");
    let (ran, _) = run(&["--threads", "auto"], None);
    assert_eq!(ran, "1 threads, spin unset\n");
}

/// libgomp shows what it has read; the program, its constructors and its children see what the user set.
#[test]
fn the_spin_of_waiting_threads_is_chosen_and_the_environment_stays() {
    const SHOWS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static const char *spin(void) { return getenv("GOMP_SPINCOUNT") ? getenv("GOMP_SPINCOUNT") : "unset"; }
__attribute__((constructor)) static void early(void) { printf("early %s\n", spin()); }
int main(void) {
  volatile int ran = 0;
#pragma omp parallel
  ran = 1;
  printf("main %s\n", spin());
  fflush(stdout);
  return system("echo child ${GOMP_SPINCOUNT:-unset} ${PACMAN_OMP_SPIN:-unset}");
}
"#;
    let scratch = Scratch::new();
    for compiler in ["gcc", "clang"] {
        let Some(program) = scratch.compile(compiler, &["-O1", "-fopenmp"], SHOWS) else {
            continue;
        };
        let run = |options: &[&str], variables: &[(&str, &str)]| {
            let mut command = pacman_pmu(&["run", "--adapt", "--no-memory"]);
            command.args(options).arg("--").arg(&program).env("OMP_DISPLAY_ENV", "verbose");
            command.env_remove("GOMP_SPINCOUNT").env_remove("OMP_WAIT_POLICY");
            let answer = command.envs(variables.iter().copied()).output().expect("it runs");
            let read = text(&answer.stderr).lines().find(|line| line.contains("GOMP_SPINCOUNT = "));
            let read = read.map(|line| line.split('\'').nth(1).expect("a value").to_owned());
            (read, text(&answer.stdout).to_owned())
        };
        let unset = "early unset\nmain unset\nchild unset unset\n";
        let (read, seen) = run(&[], &[]);
        assert_eq!(seen, unset, "{compiler}");
        if compiler == "gcc" {
            let rounds: u64 = read.expect("libgomp says").parse().expect("a number");
            assert!((100..=20_000).contains(&rounds), "{rounds}");
        }
        let (read, seen) = run(&[], &[("GOMP_SPINCOUNT", "77")]);
        assert_eq!(seen, "early 77\nmain 77\nchild 77 unset\n", "{compiler}");
        assert!(read.is_none_or(|rounds| rounds == "77"), "{compiler}");
        for (options, variables) in
            [(&[][..], &[("OMP_WAIT_POLICY", "active")][..]), (&["--waiting", "keep"], &[])]
        {
            let (read, seen) = run(options, variables);
            assert_eq!(seen, unset, "{compiler}");
            let is_default =
                |rounds: String| !(100..=20_000).contains(&rounds.parse().unwrap_or(0));
            assert!(read.is_none_or(is_default), "{compiler}, {options:?}");
        }
    }
}
