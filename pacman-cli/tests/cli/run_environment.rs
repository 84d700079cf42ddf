//! `run` on programs in an environment of their own: less memory, fewer system calls, other namespaces and users,
//! another tool around them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use pacman_suite::command::have;
use pacman_suite::{skipped, skipped_part};
use serde_json::Value;

use super::run_ends::executions;
use super::scratch::Scratch;
use super::{library, pacman_pmu, text};

const FILTER: &str = include_str!("environment/filter.c");
const LIMIT: &str = include_str!("environment/limit.c");
const REGIONS: &str = r#"
#include <stdio.h>
static long total;
int main(void) {
  for (int round = 0; round < 20; round++)
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    total++;
#pragma omp barrier
  }
  return printf("%ld\n", total) > 0 ? 0 : 1;
}
"#;

/// The result and the report of `run` with these options on a command line.
fn observed(scratch: &Scratch, options: &[&str], line: &[&str]) -> (Output, Value) {
    let path = scratch.path("report.json");
    let _ = fs::remove_file(&path);
    let mut command = pacman_pmu(&["run"]);
    command.args(options).arg("-o").arg(&path).arg("--").args(line).env("OMP_STACKSIZE", "1M");
    let output = command.output().expect("it runs");
    let report = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{line:?}: {output:?}"));
    (output, serde_json::from_str(&report).expect("JSON"))
}

fn processes(report: &Value) -> &[Value] {
    report["processes"].as_array().expect("a list")
}

fn said(process: &Value) -> String {
    process["notes"].to_string()
}

#[test]
fn a_program_may_allow_itself_only_the_calls_that_it_makes_alone() {
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let Some(program) = scratch.compile(compiler, &["-O1", "-fopenmp"], FILTER) else {
            continue;
        };
        let program = program.to_str().expect("text");
        for words in
            [&["prctl"][..], &["syscall"], &["prctl", "late"], &["syscall", "late", "exit"]]
        {
            let line: Vec<&str> = [program].iter().chain(words).copied().collect();
            let alone = Command::new(program).args(words).output().expect("it runs");
            if text(&alone.stdout).contains("skipped") {
                return skipped(text(&alone.stdout));
            }
            if !alone.status.success() {
                // Its runtime makes other calls at its first region.
                skipped_part(compiler, format_args!("{words:?} ends alone: {}", alone.status));
                continue;
            }
            for options in [
                &[][..],
                &["--waits"],
                &["--adapt", "--no-memory"],
                &["--adapt", "--no-memory", "--max-threads", "1"],
                &["-e", "task-clock"],
                &["--overhead", "100"],
            ] {
                let report = filtered_as_alone(&scratch, options, &line, &alone);
                let process = &processes(&report)[0];
                assert!(said(process).contains("filters its system calls"), "{report:#}");
            }
        }
    }
}

/// The report of a program that filters its calls: it ran as `alone`, and all its executions are recorded.
fn filtered_as_alone(scratch: &Scratch, options: &[&str], line: &[&str], alone: &Output) -> Value {
    let (output, report) = observed(scratch, options, line);
    assert_eq!(output.status.code(), Some(0), "{options:?} {line:?}: {output:?}");
    assert_eq!(output.stdout, alone.stdout, "{options:?} {line:?}");
    let more = u64::from(line.contains(&"late"));
    let mut seen = executions(&processes(&report)[0]);
    seen.sort_unstable();
    assert_eq!(seen, [50 + more, 200 + more], "{options:?} {line:?}");
    report
}

/// The library cannot know of such a filter, so it makes no other calls at all.
#[test]
fn a_filter_that_no_function_installs_ends_no_program() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], FILTER) else { return };
    let program = program.to_str().expect("text");
    for words in [
        &["instruction"][..],
        &["instruction", "exit"],
        &["instruction", "late"],
        &["instruction", "late", "exit"],
    ] {
        let line: Vec<&str> = [program].iter().chain(words).copied().collect();
        let alone = Command::new(program).args(words).output().expect("it runs");
        if text(&alone.stdout).contains("skipped") {
            return skipped(text(&alone.stdout));
        }
        assert!(alone.status.success(), "{words:?}: {alone:?}");
        for options in [&[][..], &["--overhead", "100"]] {
            let report = filtered_as_alone(&scratch, options, &line, &alone);
            let process = &processes(&report)[0];
            let regions = process["regions"].as_array().expect("a list");
            let is_named = |region: &Value| {
                region["name"]
                    .as_str()
                    .is_some_and(|name| name.contains("share") || name.contains("meet"))
            };
            assert!(regions.iter().all(is_named), "{regions:#?}");
        }
    }
}

/// Processes that use the program's memory end, and the program goes on.
#[test]
fn children_that_share_memory_end_without_the_program() {
    const CHILDREN: &str = r#"
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static long total;
static char stack[1 << 16];
static int ends(void *status) { _exit(*(int *)status); }
static int status_of(int child) {
  int status = 0;
  waitpid(child, &status, __WALL);
  return WEXITSTATUS(status);
}
static void region(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    total++;
  }
}
int main(void) {
  int child, five = 5;
  region();
  if (!(child = fork())) _exit(3);
  int first = status_of(child);
  region();
  if (!(child = vfork())) _exit(4);
  int second = status_of(child);
  region();
  child = clone(ends, stack + sizeof stack, CLONE_VM | SIGCHLD, &five);
  int third = status_of(child);
  region();
  return printf("%ld %d %d %d\n", total, first, second, third) > 0 ? 0 : 1;
}
"#;
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], CHILDREN) else { return };
    let (output, report) = observed(&scratch, &[], &[program.to_str().expect("text")]);
    assert_eq!(text(&output.stdout), "8 3 4 5\n", "{output:?}");
    let of_program = processes(&report).iter().find(|process| executions(process) == [4]);
    assert_eq!(of_program.map(|process| &process["ending"]), Some(&"exit".into()), "{report:#}");
}

#[test]
fn a_program_may_limit_its_address_space_after_the_start() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O0", "-fopenmp"], LIMIT) else { return };
    let program = program.to_str().expect("text");
    let had = |output: &Output| -> u64 {
        let words = text(&output.stdout);
        let kilobytes = words.split_whitespace().next().and_then(|word| word.parse().ok());
        assert!(words.ends_with(" 4000\n") && output.status.success(), "{output:?}");
        kilobytes.expect("a number")
    };
    let alone = Command::new(program).arg("64").env("OMP_STACKSIZE", "1M").output();
    let alone = had(&alone.expect("it runs"));
    let (output, report) = observed(&scratch, &[], &[program, "64"]);
    let more = had(&output) - alone;
    assert!(
        more < 48 << 10,
        "{more} kB more than alone; a team's stacks take 16 MB each two threads"
    );
    let process = &processes(&report)[0];
    assert_eq!(executions(process).iter().sum::<u64>(), 2_000);
    let (output, report) = observed(&scratch, &[], &[program, "8"]);
    had(&output);
    let process = &processes(&report)[0];
    assert!(executions(process).iter().sum::<u64>() > 500, "what fits is there");
    assert!(said(process).contains("no place left"), "{}", said(process));
}

#[test]
fn other_namespaces_and_users_record_too() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], REGIONS) else { return };
    let (place, program) =
        (program.parent().expect("a directory"), program.to_str().expect("text"));
    fs::set_permissions(place, fs::Permissions::from_mode(0o755)).expect("it is this test's");
    for around in [
        &["unshare", "-i"][..],
        &["unshare", "-U"],
        &["unshare", "-U", "-i"],
        &["unshare", "-m"],
        &["setpriv", "--reuid", "65534", "--clear-groups"],
        &["setpriv", "--reuid", "65534", "--clear-groups", "unshare", "-U"],
    ] {
        let line: Vec<&str> = around.iter().chain(&[program]).copied().collect();
        let alone = Command::new(line[0]).args(&line[1..]).output();
        let problem = match &alone {
            Ok(alone) if alone.status.success() => None,
            Ok(alone) => Some(text(&alone.stderr).trim().to_owned()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(problem) = problem {
            skipped_part(around.join(" "), problem);
            continue;
        }
        let (output, report) = observed(&scratch, &[], &line);
        assert_eq!(output.stdout, alone.expect("it ran").stdout);
        let seen: Vec<u64> = processes(&report).iter().flat_map(executions).collect();
        assert_eq!(seen, [20], "{around:?}: {output:?}");
    }
}

#[test]
fn a_process_that_finds_no_memory_for_recordings_says_why() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], REGIONS) else { return };
    let program = program.to_str().expect("text");
    let hides = "mount -t tmpfs none /dev/shm && exec \"$0\"";
    let line = ["unshare", "-i", "-m", "sh", "-c", hides, program];
    let alone = Command::new(line[0]).args(&line[1..]).output();
    if !alone.is_ok_and(|alone| alone.status.success()) {
        return skipped("this user cannot mount a file system in a namespace");
    }
    let (output, _) = observed(&scratch, &[], &line);
    assert!(output.status.success(), "{output:?}");
    let lines = text(&output.stderr);
    let lines: Vec<&str> = lines.lines().filter(|line| line.starts_with("libpacman_omp")).collect();
    assert_eq!(lines.len(), 1, "{output:?}");
    assert!(lines[0].contains("nothing of this process is recorded"), "{output:?}");
}

#[test]
fn valgrind_sees_no_errors_of_the_library() {
    if !have("valgrind") {
        return skipped("no valgrind");
    }
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], REGIONS) else { return };
    let line = ["valgrind", "-q", "--error-exitcode=9", program.to_str().expect("text")];
    for options in [&[][..], &["--waits"], &["--adapt", "--no-memory"]] {
        let (output, report) = observed(&scratch, options, &line);
        assert_eq!(output.status.code(), Some(0), "{options:?}: {}", text(&output.stderr));
        assert!(!text(&output.stderr).contains("=="), "{options:?}: {}", text(&output.stderr));
        let seen: Vec<u64> = processes(&report).iter().flat_map(executions).collect();
        assert_eq!(seen, [20], "{options:?}");
    }
}

/// libomp starts threads for the tasks of `target nowait`, in a region of its own.
const HELPED: &str = r#"
#include <stdio.h>
int main(void) {
  long values[20] = {0}, sum = 0;
  for (int at = 0; at < 20; at++) {
#pragma omp target nowait map(tofrom : values[at])
    values[at] = at;
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
    }
  }
#pragma omp taskwait
  for (int at = 0; at < 20; at++) sum += values[at];
  printf("%ld\n", sum);
}
"#;

#[test]
fn helper_threads_of_the_runtime_are_no_region() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("clang", &["-g", "-O1", "-fopenmp"], HELPED) else {
        return;
    };
    for options in [&[][..], &["--waits"], &["--overhead", "100"]] {
        let (output, report) = observed(&scratch, options, &[program.to_str().expect("text")]);
        assert_eq!(text(&output.stdout), "190\n", "{output:?}");
        let regions = processes(&report)[0]["regions"].as_array().expect("a list");
        let names: Vec<&str> = regions.iter().filter_map(|one| one["name"].as_str()).collect();
        assert_eq!(names.len(), 1, "{options:?}: {names:?}");
        assert!(names[0].starts_with("main"), "{options:?}: {names:?}");
        assert_eq!(executions(&processes(&report)[0]), [20], "{options:?}");
    }
}

/// Runs regions, cuts short every file of the directory, and runs more.
const CUTS: &str = r#"
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>
static long total;
static void part(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    total++;
  }
}
int main(int count, char **words) {
  for (int round = 0; round < 20; round++) part();
  if (chdir(words[count - 1])) return 2;
  DIR *directory = opendir(".");
  for (struct dirent *entry; (entry = readdir(directory));)
    if (entry->d_name[0] != '.' && truncate(entry->d_name, 0)) return 3;
  closedir(directory);
  for (int round = 0; round < 20; round++) part();
  printf("%ld\n", total);
  return 0;
}
"#;

#[test]
fn a_recording_that_is_cut_short_ends_no_program() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], CUTS) else { return };
    let directory = scratch.path("recordings");
    fs::create_dir(&directory).expect("a directory");
    let mut command = Command::new(&program);
    command.arg(&directory).env("LD_PRELOAD", library()).env("PACMAN_OMP_DIR", &directory);
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text(&output.stdout), "80\n");
    let said = text(&output.stderr);
    assert!(said.lines().count() == 1 && said.contains("was cut short"), "{said}");
}

#[test]
fn files_of_shared_memory_that_are_cut_short_end_no_program() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], CUTS) else { return };
    // SAFETY: takes nothing.
    let name = format!("pacman-share-{}", unsafe { libc::geteuid() });
    let cut = format!("for at in 1 2; do : > /dev/shm/{name}; \"$0\" \"$1\" || exit; done");
    let directory = scratch.named("empty");
    fs::create_dir(&directory).expect("a directory");
    let line = ["sh", "-c", &cut, program.to_str().expect("text"), &directory];
    let (output, _) = observed(&scratch, &["--adapt", "--no-memory", "--share"], &line);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text(&output.stdout), "80\n80\n");
}
