//! `stat` and signals: passed through, waited out, or taken as the end.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

use pacman_suite::skipped;

use super::job::Job;
use super::scratch::Scratch;
use super::{pacman_pmu, run, text};

const STAT: [&str; 3] = ["stat", "-e", "task-clock"];

#[test]
fn the_signal_that_killed_the_command_is_named() {
    for script in ["kill -9 $$", "kill -SEGV $$; sleep 1", "exit 137"] {
        let answer = run(&["stat", "-e", "task-clock", "--", "sh", "-c", script]);
        let heading = text(&answer.stderr).lines().next().unwrap_or_default();
        let (status, ending) = match script {
            "kill -9 $$" => (137, ", killed by SIGKILL (signal 9)"),
            "exit 137" => (137, ", exit status 137"),
            _ => (139, ", killed by SIGSEGV (signal 11)"),
        };
        assert_eq!(answer.status.code(), Some(status));
        assert!(heading.ends_with(ending), "{heading}");
    }
}

/// The kernel spares the first process of a namespace the signals that would end it, as long as it is traced.
#[test]
fn the_first_process_of_a_namespace_ends_by_its_fault() {
    let scratch = Scratch::new();
    let source = "int main(void) { *(volatile int *)0 = 1; }";
    let program = scratch.compile("cc", &[], source).expect("there is a C compiler");
    let within = ["timeout", "-s", "KILL", "60", "unshare", "-rpf", "--kill-child"];
    let alone = Command::new(within[0]).args(&within[1..]).arg(&program).status();
    if alone.ok().and_then(|alone| alone.signal()) != Some(libc::SIGSEGV) {
        return skipped("this machine allows no user namespaces, or lacks unshare");
    }
    let mut stat = pacman_pmu(&STAT);
    let answer = stat.arg("--").args(within).arg(&program).output().expect("it runs");
    let said = text(&answer.stderr);
    assert_eq!(answer.status.code(), Some(139), "{said}");
    let row = said.lines().find(|line| line.contains("T2 ")).unwrap_or_else(|| panic!("{said}"));
    assert!(
        row.split_whitespace().any(|word| word.parse::<f64>().is_ok_and(|it| it > 0.0)),
        "{said}"
    );
}

#[test]
fn how_the_command_ends_is_passed_on() {
    for (script, status) in [
        ("exit 0", 0),
        ("exit 77", 77),
        ("kill -TERM $$", 143),
        ("kill -KILL $$", 137),
        ("kill -SEGV $$", 139),
        ("trap 'exit 9' USR1; kill -USR1 $$; exit 8", 9),
    ] {
        let answer = run(&["stat", "-e", "task-clock", "--", "sh", "-c", script]);
        assert_eq!(answer.status.code(), Some(status), "{script}: {}", text(&answer.stderr));
        assert!(text(&answer.stderr).contains("T0 sh"), "{script}");
    }
}

#[test]
fn ctrl_c_ends_the_command_and_then_counts_are_printed() {
    let (job, _) = Job::start(&STAT, "trap 'exit 7' INT; echo ready; while :; do sleep 0.02; done");
    job.press(libc::SIGINT);
    let answer = job.end();
    assert_eq!(answer.status.code(), Some(7));
    assert!(text(&answer.stderr).contains("T0 sh"), "{}", text(&answer.stderr));
}

#[test]
fn a_command_that_ignores_ctrl_c_is_let_go_by_the_second() {
    let (mut job, pid) = Job::start(&STAT, "trap '' INT; echo $$; exec sleep 60");
    // Signals of one kind merge while nobody has taken the first.
    while job.pmu.try_wait().expect("a child").is_none() {
        job.press(libc::SIGINT);
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives on");
    assert!(status.contains("TracerPid:\t0"), "{status}");
    // SAFETY: kill has no preconditions; the process is the one started here.
    unsafe { libc::kill(pid.parse().expect("a process id"), libc::SIGKILL) };
    let answer = job.end();
    let said = text(&answer.stderr);
    assert_eq!(answer.status.code(), Some(130), "{said}");
    assert!(said.contains("1 thread of the command still runs and is no longer counted"), "{said}");
}

#[test]
fn an_interrupted_run_of_several_is_left_out_and_a_line_says_so() {
    for (option, says) in [(&[][..], "run 1 was interrupted and is left out"), (&["-q"], "")] {
        let several = [&STAT[..], &["-r", "3"], option].concat();
        let (job, _) = Job::start(&several, "echo ready; exec sleep 60");
        job.press(libc::SIGINT);
        let answer = job.end();
        let said = text(&answer.stderr);
        assert_eq!(answer.status.code(), Some(130), "{said}");
        assert!(said.contains("0 runs, exit status 130") && said.contains(says), "{said}");
    }
}

#[test]
fn sigterm_goes_to_the_command() {
    let (job, _) =
        Job::start(&STAT, "trap 'exit 5' TERM; echo ready; while :; do sleep 0.02; done");
    // SAFETY: kill has no preconditions; the process is the one started here.
    unsafe { libc::kill(job.pmu.id() as i32, libc::SIGTERM) };
    assert_eq!(job.end().status.code(), Some(5));
}

#[test]
fn a_stopped_command_stays_stopped_until_it_is_continued() {
    let (job, pid) = Job::start(&STAT, "echo $$; kill -STOP $$; exit 3");
    let state = || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("State:\t"));
        line.and_then(|state| state.chars().next())
    };
    // Under PTRACE_LISTEN the kernel shows a group stop as "t", a tracer's own.
    // The signal's own stop comes first, and for a moment the command runs after it.
    let mut in_a_row = 0;
    for _ in 0..2000 {
        in_a_row = if matches!(state(), Some('T' | 't')) { in_a_row + 1 } else { 0 };
        if in_a_row == 20 {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(in_a_row, 20, "it did not stay stopped");
    // SAFETY: kill has no preconditions; the process is the one started here.
    unsafe { libc::kill(pid.parse().expect("a process id"), libc::SIGCONT) };
    assert_eq!(job.end().status.code(), Some(3));
}
