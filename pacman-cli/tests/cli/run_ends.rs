//! `run` on OpenMP programs that end, or change themselves, in every way there is: what ran is in the
//! report.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pacman_regions::{Ending, Recording};
use pacman_suite::skipped;
use serde_json::Value;

use super::rows::rows;
use super::scratch::Scratch;
use super::{library, pacman_pmu, text};

/// Runs one region 50 times, does what its argument says, and runs another 50 times.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
static int sum;
static void before(void) {
  for (int turn = 0; turn < 50; turn++) {
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
      sum++;
    }
  }
}
static void after(void) {
  for (int turn = 0; turn < 50; turn++) {
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
      sum += 2;
    }
  }
}
static void ticks(int signal) { (void)signal; }
static void ends(int signal) { (void)signal; _exit(5); }
static int is(const char *way, const char *name) { return strcmp(way, name) == 0; }
int main(int count, char **words) {
  const char *way = count > 1 ? words[1] : "";
  before();
  if (is(way, "abort")) abort();
  if (is(way, "kill")) kill(getpid(), SIGKILL);
  if (is(way, "quick_exit")) quick_exit(5);
  if (is(way, "_exit")) _exit(5);
  if (is(way, "system call")) syscall(SYS_exit_group, 5);
  if (is(way, "handler")) { signal(SIGUSR1, ends); raise(SIGUSR1); }
  if (is(way, "timer")) {
    struct itimerval each = {{0, 300}, {0, 300}};
    signal(SIGALRM, ticks);
    setitimer(ITIMER_REAL, &each, 0);
    after();
    _exit(5);
  }
  if (is(way, "exec")) { char *other[] = {"true", 0}; execv("/bin/true", other); }
  if (is(way, "failed exec")) { char *other[] = {"none", 0}; execv("/no/such/file", other); }
  if (is(way, "failed exec, kill")) {
    char *other[] = {"none", 0};
    execv("/no/such/file", other);
    after();
    kill(getpid(), SIGKILL);
  }
  if (is(way, "close")) for (int number = 3; number < 1024; number++) close(number);
  if (is(way, "descriptors")) { struct rlimit none = {0, 0}; setrlimit(RLIMIT_NOFILE, &none); }
  if (is(way, "chroot") && (chroot(words[2]) || chdir("/"))) return 77;
  if (is(way, "setuid") && setuid(65534)) return 77;
  after();
  if (is(way, "abort in region")) {
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
      abort();
    }
  }
  if (is(way, "print")) for (int line = 0; line < 200; line++) printf("%063d\n", line);
  printf("%d\n", sum);
  return 5;
}
"#;

/// The program and its scratch; `None`, said, where there is no compiler with OpenMP.
fn program() -> Option<(Scratch, PathBuf)> {
    let scratch = Scratch::new();
    let program = scratch.compile("gcc", &["-O1", "-fopenmp"], SOURCE)?;
    Some((scratch, program))
}

/// Executions of each region of a process of the report, in the order of their names.
pub(super) fn executions(process: &Value) -> Vec<u64> {
    let regions = process["regions"].as_array().expect("a list");
    let mut named: Vec<(u64, u64)> = regions
        .iter()
        .map(|region| (region["address"].as_u64().unwrap(), region["executions"].as_u64().unwrap()))
        .collect();
    named.sort_unstable();
    named.into_iter().map(|(_, executions)| executions).collect()
}

/// The status of a run, and its report.
pub(super) fn run(scratch: &Scratch, program: &Path, way: &[&str]) -> (Option<i32>, Value) {
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "-o"]);
    let answer = command.arg(&path).arg("--").arg(program).args(way).output().expect("it runs");
    let report = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{way:?}: {answer:?}"));
    (answer.status.code(), serde_json::from_str(&report).expect("JSON"))
}

/// Arguments; the status, the ending, its signal and the executions that must come of them.
type Way<'w> = (&'w [&'w str], i32, &'w str, Option<i32>, &'w [u64]);

fn is_root() -> bool {
    // SAFETY: takes nothing.
    unsafe { libc::geteuid() == 0 }
}

#[test]
fn every_way_to_end_leaves_what_ran() {
    let Some((scratch, program)) = program() else { return };
    let elsewhere = scratch.named("root");
    fs::create_dir(&elsewhere).expect("a directory");
    let whole = [50, 50].as_slice();
    let half = [50].as_slice();
    let ways: &[Way<'_>] = &[
        (&["exit"], 5, "exit", None, whole),
        (&["abort"], 134, "killed", Some(6), half),
        (&["kill"], 137, "killed", Some(9), half),
        (&["quick_exit"], 5, "unsaid", None, half),
        (&["_exit"], 5, "exit", None, half),
        (&["system call"], 5, "exit", None, half),
        (&["handler"], 5, "exit", None, half),
        (&["exec"], 0, "exec", None, half),
        (&["failed exec"], 5, "exit", None, whole),
        (&["failed exec, kill"], 137, "killed", Some(9), whole),
        (&["close"], 5, "exit", None, whole),
        (&["descriptors"], 5, "exit", None, whole),
        (&["abort in region"], 134, "killed", Some(6), &[0, 50, 50]),
        (&["chroot", &elsewhere], 5, "exit", None, whole),
        (&["setuid"], 5, "exit", None, whole),
    ];
    for (way, status, ending, signal, expected) in ways {
        if ["chroot", "setuid"].contains(&way[0]) && !is_root() {
            skipped(format_args!("{} is root's", way[0]));
            continue;
        }
        let (ended, report) = run(&scratch, &program, way);
        assert_eq!(ended, Some(*status), "{way:?}");
        let processes = report["processes"].as_array().expect("a list");
        let process = processes.iter().find(|process| process["ending"] == *ending);
        let process = process.unwrap_or_else(|| panic!("{way:?}: {report:#}"));
        assert_eq!(process["ending_signal"].as_i64(), signal.map(i64::from), "{way:?}");
        assert_eq!(executions(process), *expected, "{way:?}");
        let notes = process["notes"].as_array().expect("a list");
        let said = |part: &str| notes.iter().any(|note| note.as_str().unwrap().contains(part));
        let count: u64 = expected.iter().sum();
        match (*ending, signal) {
            ("killed", Some(9)) => {
                assert!(said(&format!("by SIGKILL (signal 9) after {count} ")), "{notes:?}");
            }
            ("unsaid", _) => {
                assert!(said(&format!("how, as by a signal or quick_exit, after {count} ")))
            }
            ("exit", _) => assert!(notes.is_empty(), "{way:?}: {notes:?}"),
            _ if way[0].ends_with("in region") => {
                assert!(notes.len() == 2 && said("an execution was open"), "{way:?}: {notes:?}");
            }
            _ => assert_eq!(notes.len(), 1, "{way:?}: {notes:?}"),
        }
    }
}

#[test]
fn an_interval_timer_does_not_disturb_the_end() {
    let Some((scratch, program)) = program() else { return };
    for round in 0..20 {
        let (status, report) = run(&scratch, &program, &["timer"]);
        assert_eq!(status, Some(5));
        assert_eq!(executions(&report["processes"][0]), [50, 50], "round {round}");
    }
}

/// Runs a line of the shell, with the command in `$RUN`, the library in `$LIBRARY`, the program in
/// `$PROGRAM` and a directory in `$PLACE`.
fn shell(scratch: &Scratch, program: &Path, line: &str) -> Output {
    let place = scratch.path("place");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir(&place).expect("a directory");
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("RUN", env!("CARGO_BIN_EXE_pacman-pmu"));
    command.env("PACMAN_OMP_LIBRARY", library()).env("LIBRARY", library());
    command.env("PROGRAM", program).env("PLACE", place).output().expect("sh runs")
}

#[test]
fn a_limit_of_file_sizes_ends_nothing() {
    let Some((scratch, program)) = program() else { return };
    let lines: String = (0..200).map(|line| format!("{line:063}\n")).collect();
    let expected = format!("{lines}300\n");
    let line = "ulimit -f 1; \"$RUN\" run -- \"$PROGRAM\" print | cat";
    let answer = shell(&scratch, &program, line);
    assert_eq!(text(&answer.stdout), expected);
    assert!(
        text(&answer.stderr).contains("100 % of") || text(&answer.stderr).contains("in 2 regions")
    );
    // Half a kilobyte is no page: nothing is recorded, and that is said.
    let line = "ulimit -f 1; LD_PRELOAD=$LIBRARY PACMAN_OMP_DIR=$PLACE \"$PROGRAM\" print | cat";
    let answer = shell(&scratch, &program, line);
    assert_eq!(text(&answer.stdout), expected);
    let said = text(&answer.stderr);
    assert!(said.contains("cannot record in") && said.contains("File too large"), "{said}");
    assert_eq!(fs::read_dir(scratch.path("place")).expect("a directory").count(), 0);
    // There is place for the first records, and for nothing after that.
    let line = "ulimit -f 16; LD_PRELOAD=$LIBRARY PACMAN_OMP_DIR=$PLACE \"$PROGRAM\" print | cat";
    assert_eq!(text(&shell(&scratch, &program, line).stdout), expected);
    let (found, wrong) = Recording::found_in(&scratch.path("place")).expect("a directory");
    assert_eq!((found.len(), wrong), (1, Vec::new()));
    let said = |note: &String| note.starts_with("there was no place left for");
    assert!(found[0].notes.iter().any(said), "{:?}", found[0].notes);
}

#[test]
fn a_full_disk_ends_nothing() {
    let Some((scratch, program)) = program() else { return };
    let full = |size: &str, run: &str| {
        let line = format!(
            "exec unshare -r -m sh -c 'mount -t tmpfs -o size={size},mode=700 none \"$PLACE\" || exit 99; {run}'"
        );
        shell(&scratch, &program, &line)
    };
    let small = full("4k", "exit 7");
    if small.status.code() != Some(7) {
        skipped(format_args!(
            "no file systems can be mounted here: {}",
            text(&small.stderr).trim()
        ));
        return;
    }
    let fill = "head -c 8192 /dev/zero > \"$PLACE\"/all 2> /dev/null;";
    let run = "TMPDIR=\"$PLACE\" \"$RUN\" run -o \"$PLACE\"/r.json -- \"$PROGRAM\"";
    let answer = full("4k", &format!("{fill} {run}"));
    assert_eq!(text(&answer.stdout), "300\n", "{}", text(&answer.stderr));
    let by_file = "LD_PRELOAD=\"$LIBRARY\" PACMAN_OMP_DIR=\"$PLACE\" \"$PROGRAM\"";
    let answer = full("4k", &format!("{fill} {by_file}"));
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(5), "300\n"));
    assert!(text(&answer.stderr).contains("No space left on device"), "{}", text(&answer.stderr));
    let read = "\"$RUN\" run --read \"$PLACE\"";
    let answer = full("8k", &format!("{by_file}; {read}"));
    assert_eq!(text(&answer.stdout), "300\n");
    assert!(text(&answer.stderr).contains("no OpenMP region ran"), "{}", text(&answer.stderr));
}

#[test]
fn nobody_s_link_is_followed() {
    let Some((scratch, program)) = program() else { return };
    let victim = scratch.file("victim", "precious");
    let line = format!(
        "ln -s {0} \"$PLACE\"/$$-0.regions; ln -s {0} \"$PLACE\"/$$-1.regions; \
         LD_PRELOAD=$LIBRARY PACMAN_OMP_DIR=$PLACE exec \"$PROGRAM\"",
        victim.display()
    );
    let answer = shell(&scratch, &program, &line);
    assert_eq!((answer.status.code(), text(&answer.stderr)), (Some(5), ""));
    assert_eq!(fs::read_to_string(&victim).expect("it is there"), "precious");
    let (found, wrong) = Recording::found_in(&scratch.path("place")).expect("a directory");
    assert_eq!((found.len(), wrong.len()), (1, 2), "the reader follows none, either: {wrong:?}");
    assert_eq!((found[0].executions(), found[0].process.ending), (100, Ending::Exit));

    for (prepare, why) in [
        ("chmod 777 $PLACE; at=$PLACE", "every user may write to it"),
        ("ln -s $PLACE $PLACE/link; at=$PLACE/link", "Not a directory"),
        ("at=$PLACE/none", "No such file or directory"),
    ] {
        let line = format!("{prepare}; LD_PRELOAD=$LIBRARY PACMAN_OMP_DIR=$at exec \"$PROGRAM\"");
        let answer = shell(&scratch, &program, &line);
        assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(5), "300\n"));
        let said = text(&answer.stderr);
        assert!(said.contains(why) && said.lines().count() == 1, "{said}");
        let names = fs::read_dir(scratch.path("place")).expect("a directory");
        let names = names.filter(|name| name.as_ref().unwrap().file_name() != "link");
        assert_eq!(names.count(), 0, "{prepare}");
    }
}

#[test]
fn a_directory_of_recordings_is_reported() {
    let Some((scratch, program)) = program() else { return };
    let line = "for way in exit kill; do LD_PRELOAD=$LIBRARY PACMAN_OMP_DIR=$PLACE \"$PROGRAM\" $way; done; \
                \"$RUN\" run --read $PLACE -o $PLACE/r.json";
    let answer = shell(&scratch, &program, line);
    assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
    let report = fs::read_to_string(scratch.path("place/r.json")).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let processes = report["processes"].as_array().expect("a list");
    let of: Vec<_> = processes.iter().map(|one| (&one["ending"], executions(one))).collect();
    assert_eq!(of, [(&"exit".into(), vec![50, 50]), (&"unsaid".into(), vec![50])]);
    assert_eq!(rows(&report["processes"][0]["regions"][0]["threads"]).len(), 2);
    let none = shell(&scratch, &program, "\"$RUN\" run --read $PLACE");
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("it has no recording"), "{}", text(&none.stderr));
}

#[test]
fn names_that_are_no_text_are_recorded() {
    let Some((scratch, program)) = program() else { return };
    let bad = scratch.path("x").with_file_name(std::ffi::OsStr::from_bytes(b"bad\xffdir"));
    fs::create_dir(&bad).expect("a directory");
    let there = bad.join("app");
    fs::copy(&program, &there).expect("a copy");
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "-o"]);
    command.arg(&path).arg("--").arg(&there).env("TMPDIR", &bad);
    assert_eq!(command.output().expect("it runs").status.code(), Some(5));
    let report: Value =
        serde_json::from_str(&fs::read_to_string(&path).expect("a report")).expect("JSON");
    let process = &report["processes"][0];
    assert_eq!(executions(process), [50, 50]);
    let symbol = process["regions"][0]["symbol"].as_str().expect("the module was found");
    assert!(["before", "after"].iter().any(|name| symbol.starts_with(name)), "{symbol}");
    let shown = format!("{}", there.display());
    assert!(shown.contains("bad\u{fffd}dir"));
    let whole = format!("$'{}'", shown.replace('\u{fffd}', r"\xff"));
    assert_eq!(
        (&process["command"][0], &process["regions"][0]["module"]),
        (&whole.clone().into(), &whole.into())
    );
    let mut alone = Command::new(&there);
    alone.env("LD_PRELOAD", library()).env("PACMAN_OMP_DIR", &bad);
    assert_eq!(alone.output().expect("it runs").status.code(), Some(5));
    assert_eq!(Recording::found_in(&bad).expect("a directory").0[0].executions(), 100);
}

#[test]
fn a_segment_of_another_user_or_run_is_not_taken() {
    let Some((scratch, program)) = program() else { return };
    // Its number may be another program's by the time that a process starts another.
    let line = "LD_PRELOAD=$LIBRARY PACMAN_OMP_SEGMENT=2147483647:7 \"$PROGRAM\"";
    let answer = shell(&scratch, &program, line);
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(5), "300\n"));
    assert_eq!(text(&answer.stderr), "", "the run is over that it was for");
    // SAFETY: makes a segment, fills it as none of ours, and has it go with its last user.
    let id = unsafe {
        let id = libc::shmget(libc::IPC_PRIVATE, 1 << 16, libc::IPC_CREAT | 0o600);
        assert!(id >= 0, "{}", std::io::Error::last_os_error());
        id
    };
    let answer = shell(&scratch, &program, &line.replace("2147483647", &id.to_string()));
    // SAFETY: the segment made above.
    unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
    assert_eq!((answer.status.code(), text(&answer.stderr)), (Some(5), ""));
    if !is_root() {
        return skipped("only root can be another user");
    }
    let open = fs::Permissions::from_mode(0o777);
    fs::set_permissions(scratch.path("."), open).expect("it is ours");
    let line = "exec setpriv --reuid 65534 \"$PROGRAM\"";
    let mut command = pacman_pmu(&["run", "--", "sh", "-c", line]);
    let answer = command.env("PROGRAM", &program).output().expect("it runs");
    let said = text(&answer.stderr);
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(5), "300\n"), "{said}");
    assert!(said.contains(" contexts; ") && !said.contains("is recorded"), "in a file: {said}");
}
