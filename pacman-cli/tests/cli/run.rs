//! `run` and the program: what passes through, what is in the way, how it ends.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pacman_regions::arena::image_of;
use pacman_suite::command::with_default_signals;

use super::scratch::Scratch;
use super::{pacman_pmu, refused, text, told};

/// The recording as the library leaves it, in a file for `TEST_RECORDING`.
pub(super) fn recorded(scratch: &Scratch, recording: &str) -> PathBuf {
    let recording = serde_json::from_str(recording).expect("a recording");
    let path = scratch.path("recording.regions");
    fs::write(&path, image_of(&[recording])).expect("a file");
    path
}

/// A library that is preloaded and, in each program that begins, leaves what is in the file that
/// `TEST_RECORDING` names as that process's recording.
pub(super) fn recorder(scratch: &Scratch) -> Option<PathBuf> {
    let version = format!("-DVERSION={}", pacman_regions::arena::VERSION);
    scratch.compile("cc", &[&version, "-shared", "-fPIC", "-x", "c"], RECORDER)
}

const RECORDER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <stdint.h>
#include <sys/shm.h>
uint32_t PACMAN_OMP_RECORDINGS = VERSION;
__attribute__((constructor)) static void leave(void) {
  const char *to = getenv("PACMAN_OMP_SEGMENT"), *from = getenv("TEST_RECORDING");
  if (!to || !from) return;
  static uint64_t image[1 << 17];
  FILE *in = fopen(from, "r");
  if (!in) return;
  uint64_t pages = fread(image, 4096, sizeof image / 4096, in) - 1;
  fclose(in);
  uint64_t *words = shmat(atoi(to), 0, 0);
  if (words == (void *)-1) return;
  uint64_t first = __atomic_fetch_add(&words[5], pages, __ATOMIC_RELAXED);
  for (uint64_t page = 1; page <= pages; page += (uint32_t)image[page * 512])
    image[page * 512 + 1] = first;
  image[512 + 8 + 1] = image[512 + 8 + 1] >> 32 << 32 | (uint32_t)getpid();
  memcpy(words + first * 512, image + 512, pages * 4096);
  shmdt(words);
}
"#;

pub(super) fn without_library(arguments: &[&str]) -> Command {
    let mut command = pacman_pmu(arguments);
    command.env("PACMAN_OMP_LIBRARY", NOWHERE);
    command
}

const NOWHERE: &str = "/no-such-directory/libpacman_omp.so";
const NO_LIBRARY: &str =
    "pacman-pmu: PACMAN_OMP_LIBRARY: /no-such-directory/libpacman_omp.so does not exist\n";

#[test]
fn streams_and_exit_status_pass_through_even_without_the_library() {
    let script = "cat; echo err >&2; exit 7";
    let mut command = without_library(&["run", "--", "sh", "-c", script]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it runs");
    child.stdin.take().expect("a pipe").write_all(b"in").expect("it reads");
    let answer = child.wait_with_output().expect("it ends");
    assert_eq!(answer.status.code(), Some(7));
    assert_eq!(text(&answer.stdout), "in");
    let seen =
        "pacman-pmu: no OpenMP region was seen in sh: the line before the run has the reason\n";
    assert_eq!(text(&answer.stderr), format!("{NO_LIBRARY}err\n{seen}"));
    for (script, status) in [("kill -TERM $$", 143), ("kill -SEGV $$", 139), ("true", 0)] {
        let answer = without_library(&["run", "--", "sh", "-c", script]).output().expect("it runs");
        assert_eq!(answer.status.code(), Some(status), "{script}");
    }
}

#[test]
fn strict_runs_nothing_that_cannot_be_observed() {
    let script = ["run", "--strict", "--", "sh", "-c", "echo ran"];
    let answer = without_library(&script).output().expect("it runs");
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(2), ""));
    assert_eq!(text(&answer.stderr), NO_LIBRARY.replace("exist\n", "exist; not run\n"));
    let events = ["run", "--strict", "-e", "zebra", "--", "sh", "-c", "echo ran"];
    let answer = without_library(&events).output().expect("it runs");
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(2), ""));
    assert!(text(&answer.stderr).contains("zebra"), "{}", text(&answer.stderr));
}

#[test]
fn bad_input_gets_one_line_and_nothing_runs() {
    let (mut told, scratch) = (told("run: bad input gets one line"), Scratch::new());
    for arguments in [
        &["run"][..],
        &["run", "-o", "-", "--", "echo", "ran"],
        &["run", "-o", "report.pdf", "--", "echo", "ran"],
        &["run", "--adapt", "--objective", "speed", "--", "echo", "ran"],
        &["run", "--adapt", "--max-loss", "5", "--", "echo", "ran"],
    ] {
        let answer = without_library(arguments).output().expect("it runs");
        refused(&mut told, &answer, 2, &scratch);
    }
    let lone = without_library(&["run", "--max-threads", "2", "--", "echo", "ran"]).output();
    let lone = lone.expect("it runs");
    assert_eq!(
        (lone.status.code(), text(&lone.stdout)),
        (Some(2), ""),
        "--max-threads needs --adapt"
    );
}

#[test]
fn what_cannot_be_run_has_the_status_that_env_gives() {
    for (program, status) in [("no-such-program", 127), ("/etc/passwd", 126)] {
        let answer = without_library(&["run", "--", program]).output().expect("it runs");
        assert_eq!(answer.status.code(), Some(status));
        let said = text(&answer.stderr);
        assert!(said.contains(&format!("pacman-pmu: cannot run {program}: ")), "{said}");
    }
}

#[test]
fn an_unwritable_report_is_known_before_the_run() {
    let arguments = ["run", "-o", "/no-such-directory/r.json", "--", "sh", "-c", "echo ran >&2"];
    let said = without_library(&arguments).output().expect("it runs");
    let lines: Vec<&str> = text(&said.stderr).lines().collect();
    assert_eq!(said.status.code(), Some(4));
    assert_eq!(
        lines[1],
        "pacman-pmu: cannot write the report to /no-such-directory/r.json: No such file or directory (os error 2); it goes to standard error"
    );
    assert_eq!(lines[2], "ran");
}

#[test]
fn the_environment_is_the_program_s_own_but_for_what_is_asked() {
    let scratch = Scratch::new();
    let Some(library) = recorder(&scratch) else { return };
    let run = |arguments: &[&str], variables: &[(&str, &str)]| -> String {
        let script = "echo $OMP_TOOL_LIBRARIES/$LD_PRELOAD/$PACMAN_OMP_ADAPT/$OMP_WAIT_POLICY/$KMP_BLOCKTIME/$PACMAN_OMP_WAITING";
        let mut command = pacman_pmu(&["run"]);
        command.args(arguments).args(["--", "sh", "-c", script]);
        command.env("PACMAN_OMP_LIBRARY", &library).envs(variables.iter().copied());
        text(&command.output().expect("it runs").stdout).trim().to_owned()
    };
    let library = library.display().to_string();
    assert_eq!(run(&[], &[("PACMAN_OMP_ADAPT", "time")]), format!("{library}/{library}////"));
    let before =
        [("LD_PRELOAD", "libm.so.6"), ("OMP_TOOL_LIBRARIES", "a.so"), ("KMP_BLOCKTIME", "7")];
    assert_eq!(
        run(&["--adapt", "--objective", "edp", "--waiting", "block"], &before),
        format!("a.so:{library}/libm.so.6:{library}/edp/passive/7/block")
    );
    let forbidden = [("OMP_TOOL", "disabled"), ("OMP_TOOL_LIBRARIES", "a.so")];
    assert_eq!(run(&[], &forbidden), format!("a.so/{library}////"));
}

#[test]
fn nothing_of_ours_is_inherited_and_nothing_is_left() {
    let scratch = Scratch::new();
    let Some(library) = recorder(&scratch) else { return };
    let temporary = scratch.path("tmp");
    fs::create_dir(&temporary).expect("a directory");
    let script = "ulimit -n; grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/self/fd | wc -l";
    let mut plain = Command::new("sh");
    let plain = with_default_signals(plain.args(["-c", script])).output().expect("sh runs");
    let mut command = pacman_pmu(&["run", "--", "sh", "-c", script]);
    command.env("PACMAN_OMP_LIBRARY", library).env("TMPDIR", &temporary);
    let run = command.output().expect("it runs");
    assert_eq!(text(&run.stdout), text(&plain.stdout));
    assert_eq!(fs::read_dir(&temporary).expect("it is there").count(), 0);
    assert_eq!(
        text(&run.stderr),
        "pacman-pmu: no OpenMP region was seen in sh: it called no OpenMP runtime that is known (libgomp, \
         libomp), none was linked dynamically, or it was not observed (LD_PRELOAD was changed, or a line above has \
         the reason)\n"
    );
}

#[test]
fn static_programs_are_told_before_they_run() {
    let scratch = Scratch::new();
    let source =
        "#include <unistd.h>\nint main(void) { return write(1, \"ran\\n\", 4) == 4 ? 5 : 1; }";
    let Some(program) = scratch.compile("cc", &["-static", "-x", "c"], source) else { return };
    let own = Scratch::new();
    let Some(library) = recorder(&own) else { return };
    let script = scratch.file("script", &format!("#!{}\n", program.display()));
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let run = |arguments: &[&str], program: &Path| -> Output {
        let mut command = pacman_pmu(&["run"]);
        command.args(arguments).arg("--").arg(program).env("PACMAN_OMP_LIBRARY", &library);
        command.output().expect("it runs")
    };
    let why = "it is statically linked, so that no library can be preloaded; link it dynamically";
    let line = format!("cannot see into {}: {why}", program.display());
    let answer = run(&[], &program);
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(5), "ran\n"));
    assert_eq!(
        text(&answer.stderr),
        format!(
            "pacman-pmu: {line}\npacman-pmu: no OpenMP region was seen in {}: the line \
             before the run has the reason\n",
            program.display()
        )
    );
    let answer = run(&["--strict"], &script);
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(2), ""));
    let said = text(&answer.stderr);
    assert!(said.contains(&format!("(which runs {}): {why}; not run", script.display())), "{said}");
}

/// `run` in a process group of its own, on a script that says when it is ready.
fn interrupted(signal: i32, to_group: bool, script: &str) -> (Output, usize) {
    let scratch = Scratch::new();
    let temporary = scratch.path("tmp");
    fs::create_dir(&temporary).expect("a directory");
    let own = Scratch::new();
    let mut command = pacman_pmu(&["run", "--", "sh", "-c", script]);
    if let Some(library) = recorder(&own) {
        command.env("PACMAN_OMP_LIBRARY", library);
        command.env("TEST_RECORDING", recorded(&own, super::run_report::RECORDING));
    }
    command.env("TMPDIR", &temporary).process_group(0);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // SAFETY: `signal` may be called between fork and exec, and touches no memory.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    let mut child = command.spawn().expect("it runs");
    let mut said = BufReader::new(child.stdout.take().expect("a pipe"));
    said.read_line(&mut String::new()).expect("it says that it is ready");
    let target = child.id() as i32;
    // SAFETY: kill has no preconditions; the process, or its group, was started here.
    unsafe { libc::kill(if to_group { -target } else { target }, signal) };
    said.read_to_string(&mut String::new()).expect("text");
    let answer = child.wait_with_output().expect("it ends");
    let left = fs::read_dir(&temporary).expect("it is there").count();
    (answer, left)
}

#[test]
fn signals_reach_the_program_and_the_report_is_still_written() {
    let script = "trap 'exit 9' INT TERM; echo ready; while :; do sleep 0.02; done";
    for (signal, to_group) in [(libc::SIGINT, true), (libc::SIGINT, false), (libc::SIGTERM, false)]
    {
        let (answer, left) = interrupted(signal, to_group, script);
        let said = text(&answer.stderr);
        assert_eq!((answer.status.code(), left), (Some(9), 0), "signal {signal}: {said}");
        assert!(said.contains("exit status 9"), "{said}");
    }
}
