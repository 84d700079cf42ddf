//! Standard output that nobody reads, or that is full.

use std::fs::{File, OpenOptions};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Output, Stdio};

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
        let mut without = pacman_pmu(arguments);
        let close = || {
            // SAFETY: takes a number, which the child owns.
            unsafe { libc::close(libc::STDOUT_FILENO) };
            Ok(())
        };
        // SAFETY: the closure makes one system call and nothing else.
        unsafe { without.pre_exec(close) };
        let answer = without.output().expect("the command was built");
        assert_eq!(answer.status.code(), Some(4), "{arguments:?}");
        assert_eq!(
            text(&answer.stderr),
            "pacman-pmu: cannot write the answer to standard output: Bad file descriptor (os error 9)\n"
        );
    }
}

#[test]
fn a_full_device_gets_one_line_and_exit_status_4() {
    let full = || -> File {
        OpenOptions::new().write(true).open("/dev/full").expect("Linux has /dev/full")
    };
    for arguments in ANSWERS {
        let answer = writing_to(arguments, full().into());
        assert_eq!(answer.status.code(), Some(4), "{arguments:?}");
        assert_eq!(
            text(&answer.stderr),
            "pacman-pmu: cannot write the answer to standard output: No space left on device (os error 28)\n"
        );
    }
}
