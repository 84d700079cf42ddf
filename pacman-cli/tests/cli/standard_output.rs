//! Standard output or error that nobody reads, that is closed, or that is full.

use std::fs::{File, OpenOptions};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Output, Stdio};

use super::scratch::Scratch;
use super::{pacman_pmu, run, text};

const ANSWERS: [&[&str]; 5] =
    [&["doctor"], &["doctor", "--json"], &["--help"], &["doctor", "--help"], &["--version"]];

/// The writing end of a pipe whose reader has left.
fn unread_pipe() -> OwnedFd {
    let mut ends = [0; 2];
    // SAFETY: the call fills two descriptors into a live array of two.
    assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
    // SAFETY: both are fresh and owned by nobody else.
    let [reader, writer] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    drop(reader);
    writer
}

fn writing_to(arguments: &[&str], stdout: Stdio) -> Output {
    let child = pacman_pmu(arguments).stdout(stdout).stderr(Stdio::piped()).spawn();
    child.expect("the command was built").wait_with_output().expect("the command ends")
}

/// A device that is full.
fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").expect("Linux has /dev/full")
}

/// Runs it with a standard stream closed.
fn without(stream: i32, arguments: &[&str]) -> Output {
    let mut command = pacman_pmu(arguments);
    let close = move || {
        // SAFETY: takes a number, which the child owns.
        unsafe { libc::close(stream) };
        Ok(())
    };
    // SAFETY: the closure makes one system call and nothing else.
    unsafe { command.pre_exec(close) };
    command.output().expect("the command was built")
}

#[test]
fn a_reader_that_left_changes_nothing() {
    for arguments in ANSWERS {
        let read = run(arguments).status.code();
        let unread = writing_to(arguments, unread_pipe().into());
        assert_eq!(unread.status.code(), read, "{arguments:?}");
        assert_eq!(text(&unread.stderr), "");
    }
}

#[test]
fn neither_does_output_that_goes_nowhere() {
    for arguments in ANSWERS {
        let read = run(arguments).status.code();
        let unread = writing_to(arguments, Stdio::null());
        assert_eq!((unread.status.code(), text(&unread.stderr)), (read, ""), "{arguments:?}");
    }
}

#[test]
fn a_closed_output_gets_one_line_and_exit_status_4() {
    for arguments in ANSWERS {
        let answer = without(libc::STDOUT_FILENO, arguments);
        assert_eq!(answer.status.code(), Some(4), "{arguments:?}");
        assert_eq!(
            text(&answer.stderr),
            "pacman-pmu: cannot write the answer to standard output: Bad file descriptor (os error 9)\n"
        );
    }
}

#[test]
fn a_full_device_gets_one_line_and_exit_status_4() {
    for arguments in ANSWERS {
        let answer = writing_to(arguments, full().into());
        assert_eq!(answer.status.code(), Some(4), "{arguments:?}");
        assert_eq!(
            text(&answer.stderr),
            "pacman-pmu: cannot write the answer to standard output: No space left on device (os error 28)\n"
        );
    }
}

/// Runs it with that standard error.
fn reporting(arguments: &[&str], stderr: Stdio) -> Output {
    let mut command = pacman_pmu(arguments);
    command.stdout(Stdio::null()).stderr(stderr).output().expect("the command was built")
}

#[test]
fn a_report_that_standard_error_does_not_take_has_status_4() {
    let scratch = Scratch::new();
    let source = "volatile int turns;\nint main(void) {\n#pragma omp parallel num_threads(2)\n#pragma omp atomic\n  turns++;\n  return 0;\n}";
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], source) else { return };
    let program = program.to_str().expect("a path in UTF-8");
    let file = scratch.named("report.json");
    for kind in [&["run"][..], &["stat", "-e", "task-clock"]] {
        let to_error = [kind, &["--", program]].concat();
        let to_file = [kind, &["-o", &file, "--", program]].concat();
        assert_eq!(reporting(&to_error, full().into()).status.code(), Some(4), "{kind:?}");
        assert_eq!(reporting(&to_error, unread_pipe().into()).status.code(), Some(0), "{kind:?}");
        assert_eq!(reporting(&to_file, full().into()).status.code(), Some(0), "{kind:?}");
        for (arguments, status) in [(&to_error, 4), (&to_file, 0)] {
            let answer = without(libc::STDERR_FILENO, arguments);
            assert_eq!(answer.status.code(), Some(status), "{arguments:?}");
        }
    }
}
