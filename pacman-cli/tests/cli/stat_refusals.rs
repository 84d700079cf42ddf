//! `stat` where something is missing or in the way.

use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Output, Stdio};

use pacman_suite::command::with_default_signals;
use pacman_suite::skipped;
use serde_json::Value;

use super::forbidden::{forbid, is_named_where_forbidden};
use super::scratch::Scratch;
use super::{pacman_pmu, run, text, told};

#[test]
fn what_cannot_be_run_gets_one_line() {
    let mut told = told("stat: what cannot be run gets one line");
    for (arguments, status) in [
        (&["stat", "--", "no-such-program"][..], 127),
        (&["stat", "--", "/etc/passwd"], 126),
        (&["stat", "-e", "task-clock,task-clock", "--", "true"], 2),
        (&["stat", "-o", "/no-such-directory/file", "--", "touch", "/no-such-directory"], 4),
    ] {
        let answer = run(arguments);
        assert_eq!(answer.status.code(), Some(status), "{arguments:?}");
        assert_eq!(text(&answer.stdout), "");
        told.add(text(&answer.stderr));
    }
    for arguments in [&["stat"][..], &["stat", "-e", "zebra", "--", "true"]] {
        let answer = run(arguments);
        assert_eq!(answer.status.code(), Some(2), "{arguments:?}");
        assert_eq!(text(&answer.stderr).lines().count(), 1, "{}", text(&answer.stderr));
    }
}

#[test]
fn an_unknown_event_is_refused_before_the_program_runs() {
    let scratch = Scratch::new();
    let made = scratch.named("made");
    for (event, said) in [("cycels", "; nearest: CYCLES\n"), ("zebra", " shows what there is\n")] {
        for command in ["stat", "run"] {
            let answer = run(&[command, "-e", event, "--", "touch", &made]);
            let line = text(&answer.stderr);
            assert_eq!((answer.status.code(), line.lines().count()), (Some(2), 1), "{line}");
            assert!(line.starts_with("pacman-pmu: ") && line.ends_with(said), "{line}");
            assert!(!scratch.path("made").exists(), "{command} -e {event} ran it");
        }
    }
}

#[test]
fn software_events_count_where_the_machine_refuses_hardware_events() {
    let answer = run(&["stat", "--json", "-e", "CYCLES,task-clock", "--", "true"]);
    assert_eq!(answer.status.code(), Some(0), "{answer:?}");
    let document: Value = serde_json::from_slice(&answer.stderr).expect("JSON");
    if document["events"][0]["name"] == "CYCLES" {
        return skipped("this machine counts CYCLES");
    }
    assert_eq!(document["events"].as_array().map(Vec::len), Some(1), "{document:#}");
    assert!(document["rows"][0]["counts"][0].as_u64().is_some_and(|clock| clock > 0));
    let note = document["notes"][0].as_str().expect("a note");
    assert!(note.starts_with("CYCLES: <not supported>: "), "{note}");
    // Without one in the list, the time is left, and the program's status stays.
    let answer =
        run(&["stat", "--json", "-e", "CYCLES", "-e", "INSTRUCTIONS", "sh", "-c", "exit 7"]);
    assert_eq!(answer.status.code(), Some(7), "{answer:?}");
    let document: Value = serde_json::from_slice(&answer.stderr).expect("JSON");
    let names: Vec<&Value> =
        document["events"].as_array().expect("a list").iter().map(|event| &event["name"]).collect();
    assert_eq!(names, ["task-clock"]);
    let note = document["notes"][0].as_str().expect("a note");
    assert!(note.starts_with("CYCLES, INSTRUCTIONS: <not supported>: "), "{note}");
}

#[test]
fn an_answer_that_nobody_reads_changes_nothing() {
    let mut ends = [0; 2];
    // SAFETY: the call fills two descriptors into a live array of two.
    assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
    // SAFETY: both are fresh and owned by nobody else.
    let [reader, writer] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    drop(reader);
    let mut command = pacman_pmu(&["stat", "-e", "task-clock", "--", "sh", "-c", "exit 3"]);
    let status = command.stderr(Stdio::from(writer)).status().expect("it runs");
    assert_eq!(status.code(), Some(3));
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let answer = run(&["stat", "-e", "task-clock", "-o", "/dev/full", "--", "true"]);
    assert_eq!(answer.status.code(), Some(4));
    told("stat: an answer that cannot be written is an error").add(text(&answer.stderr));
}

#[test]
fn the_file_has_the_answer_and_the_command_its_own_output() {
    let scratch = Scratch::new();
    let file = scratch.named("answer.json");
    let answer = run(&[
        "stat",
        "-e",
        "task-clock",
        "--json",
        "-o",
        &file,
        "--",
        "sh",
        "-c",
        "echo out; echo err >&2",
    ]);
    assert_eq!((text(&answer.stdout), text(&answer.stderr)), ("out\n", "err\n"));
    let document: Value = serde_json::from_reader(File::open(&file).unwrap()).expect("JSON");
    assert_eq!(document["exit_status"], 0);
}

#[test]
fn the_command_inherits_nothing_of_ours() {
    let script = "ulimit -n; grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/self/fd | wc -l";
    let mut plain = std::process::Command::new("sh");
    let plain = with_default_signals(plain.args(["-c", script])).output().expect("sh runs");
    let counted = run(&["stat", "-e", "task-clock,page-faults", "--", "sh", "-c", script]);
    assert_eq!(text(&counted.stdout), text(&plain.stdout));
}

/// Runs `stat` as the user nobody.
fn as_nobody(arguments: &[&str]) -> Option<Output> {
    // SAFETY: the call takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        skipped("only root can become nobody");
        return None;
    }
    let copy = super::crippled::Copy::new();
    let mut command = std::process::Command::new(copy.program());
    command.args(arguments);
    // SAFETY: the function makes system calls only.
    unsafe { command.pre_exec(super::crippled::become_nobody) };
    Some(command.output().expect("it runs"))
}

#[test]
fn without_privilege_the_kernel_s_ledgers_count() {
    let script = "sleep 0.01; sleep 0.01; true";
    let arguments = [
        "stat",
        "--json",
        "-e",
        "context-switches,page-faults,task-clock",
        "--",
        "sh",
        "-c",
        script,
    ];
    let Some(answer) = as_nobody(&arguments) else { return };
    let said = text(&answer.stderr);
    assert_eq!(answer.status.code(), Some(0), "{said}");
    let document: Value = serde_json::from_str(said).expect("JSON");
    for row in document["rows"].as_array().expect("rows") {
        for (event, least) in [(0, 1), (1, 10), (2, 1)] {
            assert!(row["counts"][event].as_u64() >= Some(least), "event {event}: {row:#}");
        }
    }
}

#[test]
fn without_privilege_contexts_are_refused_with_the_remedy() {
    let Some(answer) = as_nobody(&["stat", "-a", "-e", "cpu-clock", "--", "true"]) else { return };
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    if level.trim().parse::<i32>().expect("a level") <= 0 {
        return;
    }
    assert_eq!(answer.status.code(), Some(1));
    let line = format!(
        "pacman-pmu: cannot open cpu-clock for CPU 0: permission denied: perf_event_paranoid is {}; 0 or less lets a process count whole CPUs (sysctl kernel.perf_event_paranoid), or CAP_PERFMON\n",
        level.trim()
    );
    assert_eq!(text(&answer.stderr), line);
}

#[test]
fn without_ptrace_the_reason_is_given_and_contexts_still_count() {
    let mut threads = pacman_pmu(&["stat", "-e", "task-clock", "--", "sh", "-c", "echo ran"]);
    // SAFETY: the function makes system calls only.
    let answer =
        unsafe { threads.pre_exec(|| forbid(libc::SYS_ptrace)) }.output().expect("it runs");
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(1), ""), "it was not begun");
    told("stat: without ptrace the reason is given").add(text(&answer.stderr));
    let mut contexts = pacman_pmu(&["stat", "-a", "-e", "cpu-clock", "--", "sh", "-c", "exit 3"]);
    // SAFETY: as above.
    let answer =
        unsafe { contexts.pre_exec(|| forbid(libc::SYS_ptrace)) }.output().expect("it runs");
    let refused = text(&answer.stderr).contains("permission denied");
    assert_eq!(answer.status.code(), Some(if refused { 1 } else { 3 }));
}

#[test]
fn without_the_signals_calls_nothing_is_begun_and_the_call_is_named() {
    let commands: [&[&str]; 3] = [
        &["stat", "-e", "task-clock", "--", "sh", "-c", "echo ran"],
        &["stat", "-a", "-e", "cpu-clock", "--", "sh", "-c", "echo ran"],
        &["run", "--", "sh", "-c", "echo ran"],
    ];
    for arguments in commands {
        is_named_where_forbidden(|| pacman_pmu(arguments));
    }
}

#[test]
fn a_set_user_id_program_is_not_followed() {
    let Some(answer) = as_nobody(&["stat", "-e", "task-clock", "--", "/bin/su", "--version"])
    else {
        return;
    };
    assert_eq!(answer.status.code(), Some(1));
    told("stat: a set-user-ID program is not followed").add(text(&answer.stderr));
}
