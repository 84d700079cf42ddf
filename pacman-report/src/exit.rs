//! The end of a process, in words and as the exit status to pass on.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// The exit status after a second SIGINT or the like, as shells have it for the first.
pub const INTERRUPTED: u8 = 130;

/// An exit status, or the signal that ended the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The status of a process that ended by itself.
    Status(u8),
    /// The number of the signal that ended it.
    Signal(i32),
}

impl Exit {
    /// The exit status to pass on, as shells have it.
    pub fn status(self) -> u8 {
        match self {
            Exit::Status(status) => status,
            Exit::Signal(signal) => 128 + signal as u8,
        }
    }

    /// The signal that ended the process.
    pub fn signal(self) -> Option<i32> {
        match self {
            Exit::Status(_) => None,
            Exit::Signal(signal) => Some(signal),
        }
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Exit {
        match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Status(code as u8),
            (None, Some(signal)) => Exit::Signal(signal),
            // Only a stopped process has neither, and callers do not pass one.
            (None, None) => unreachable!("{status} is not an end"),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Exit::Status(status) => write!(f, "exit status {status}"),
            Exit::Signal(signal) => write!(f, "killed by {}", named(signal)),
        }
    }
}

/// A signal with its number: `SIGKILL (signal 9)`, `signal 40`.
pub fn named(signal: i32) -> String {
    match name(signal) {
        Some(name) => format!("{name} (signal {signal})"),
        None => format!("signal {signal}"),
    }
}

/// The name of a signal that ends processes; real-time signals have none.
fn name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGVTALRM => "SIGVTALRM",
        libc::SIGPROF => "SIGPROF",
        libc::SIGIO => "SIGIO",
        libc::SIGPWR => "SIGPWR",
        libc::SIGSYS => "SIGSYS",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_named_and_passed_on_as_shells_do() {
        assert_eq!(Exit::Signal(libc::SIGKILL).to_string(), "killed by SIGKILL (signal 9)");
        assert_eq!(Exit::Signal(40).to_string(), "killed by signal 40");
        assert_eq!(Exit::Status(137).to_string(), "exit status 137");
        assert_eq!([Exit::Signal(9), Exit::Status(3)].map(Exit::status), [137, 3]);
    }

    #[test]
    fn both_ends_of_a_child_are_told_apart() {
        assert_eq!(Exit::from(ExitStatus::from_raw(9)), Exit::Signal(9));
        assert_eq!(Exit::from(ExitStatus::from_raw(9 << 8)), Exit::Status(9));
    }
}
