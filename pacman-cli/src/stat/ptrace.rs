//! The system calls of following threads, and what their stops mean.
//!
//! Threads are seized, not attached (ptrace(2), PTRACE_SEIZE): only then do group stops
//! differ from signals, and PTRACE_LISTEN lets a stopped thread stay stopped. The kernel
//! ties a tracee to the *thread* that seized it, so all of this runs on one thread.

use std::io;
use std::path::Path;

use libc::{c_int, c_long, c_uint, pid_t};

use crate::elf;
use pacman_report::exit::Exit;
use pacman_topology::process_files;

/// The news of a thread that stopped or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It made another thread or process, which stops by itself.
    Child,
    /// It runs another program now; the thread that asked for it had the id it had, which
    /// is the first thread's from now on.
    Exec,
    /// It is about to end: its last chance to be looked at.
    Exiting,
    /// All threads of its process are to stop, by this signal.
    Group(c_int),
    /// The thread stopped because it is new or because it was asked to.
    Trapped,
    /// It is to get a signal.
    Signal(c_int),
    /// It has ended, with this exit status.
    Exited(c_int),
    /// It was ended by this signal.
    Killed(c_int),
}

impl Stop {
    /// The end of the thread, if it ended.
    pub(super) fn exit(self) -> Option<Exit> {
        match self {
            Stop::Exited(code) => Some(Exit::Status(code as u8)),
            Stop::Killed(signal) => Some(Exit::Signal(signal)),
            _ => None,
        }
    }

    /// The signal that the thread gets when it goes on, or 0.
    pub(super) fn signal(self) -> c_int {
        match self {
            Stop::Signal(signal) => signal,
            _ => 0,
        }
    }

    /// The meaning of a status of waitpid(2).
    fn of(status: c_int) -> Stop {
        if libc::WIFEXITED(status) {
            return Stop::Exited(libc::WEXITSTATUS(status));
        }
        if libc::WIFSIGNALED(status) {
            return Stop::Killed(libc::WTERMSIG(status));
        }
        let signal = libc::WSTOPSIG(status);
        match status >> 16 {
            0 => Stop::Signal(signal),
            libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK => {
                Stop::Child
            }
            libc::PTRACE_EVENT_EXEC => Stop::Exec,
            libc::PTRACE_EVENT_EXIT => Stop::Exiting,
            libc::PTRACE_EVENT_STOP
                if [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU]
                    .contains(&signal) =>
            {
                Stop::Group(signal)
            }
            _ => Stop::Trapped,
        }
    }
}

/// The next stop or end of any child or tracee, if there is one now.
pub(super) fn next_stop() -> io::Result<Option<(pid_t, Stop)>> {
    let mut status = 0;
    // SAFETY: the pointer is to a live integer.
    let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG | libc::__WALL) };
    match pid {
        0 => Ok(None),
        1.. => Ok(Some((pid, Stop::of(status)))),
        _ => match io::Error::last_os_error() {
            // No thread is left to wait for.
            error if error.raw_os_error() == Some(libc::ECHILD) => Ok(None),
            error => Err(error),
        },
    }
}

/// Follows a running thread, and every thread and process that it makes.
pub(super) fn seize(pid: pid_t) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_TRACEEXIT;
    call(libc::PTRACE_SEIZE, pid, c_long::from(options)).map(drop)
}

/// Lets a stopped thread go on, with a signal or with none (0).
pub(super) fn go_on(tid: pid_t, signal: c_int) -> io::Result<()> {
    ask(libc::PTRACE_CONT, tid, signal)
}

/// Leaves a thread in its group stop until a SIGCONT wakes it.
pub(super) fn stay_stopped(tid: pid_t) -> io::Result<()> {
    ask(libc::PTRACE_LISTEN, tid, 0)
}

/// Asks a running thread to stop.
pub(super) fn interrupt(tid: pid_t) -> io::Result<()> {
    ask(libc::PTRACE_INTERRUPT, tid, 0)
}

/// Ends following a stopped thread, which goes on with a signal or with none (0).
pub(super) fn detach(tid: pid_t, signal: c_int) -> io::Result<()> {
    ask(libc::PTRACE_DETACH, tid, signal)
}

/// The thread id in the thread's event: after an exec, the id it had before. A killed thread has none.
pub(super) fn message(tid: pid_t) -> io::Result<Option<pid_t>> {
    let mut message: libc::c_ulong = 0;
    let at = (&raw mut message) as c_long;
    match call(libc::PTRACE_GETEVENTMSG, tid, at) {
        Ok(_) => Ok(Some(message as pid_t)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the kernel sends a stopped thread this signal because of its own instruction, which it cannot go on with.
pub(super) fn is_fault(tid: pid_t, signal: c_int) -> bool {
    // SAFETY: all zeros are a signal without facts.
    let mut about: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let asked = call(libc::PTRACE_GETSIGINFO, tid, (&raw mut about) as c_long);
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS]
        .contains(&signal)
        && asked.is_ok()
        && about.si_code > 0
}

/// Makes a request that a killed thread does not need: its end is reported anyway.
fn ask(request: c_uint, tid: pid_t, data: c_int) -> io::Result<()> {
    match call(request, tid, c_long::from(data)) {
        Err(error) if !is_gone(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Whether the thread is not stopped any more: it may be killed at any moment.
fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ESRCH)
}

fn call(request: c_uint, tid: pid_t, data: c_long) -> io::Result<c_long> {
    // SAFETY: no request of this file reads or writes this process's memory, but for
    // PTRACE_GETEVENTMSG and PTRACE_GETSIGINFO, whose pointers are to what they write.
    let answer = unsafe { libc::ptrace(request, tid, std::ptr::null_mut::<u8>(), data) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// Names in the dynamic symbols of a program that traces threads itself: the call, and the sanitizers that look for
/// leaks. A thread has one tracer at a time, so such a program fails on threads that this process traces: the kernel
/// counts it with all that it makes.
const NAMES: [&[u8]; 4] = [b"ptrace", b"__asan_init", b"__lsan_init", b"__hwasan_init"];

/// Whether the program of a process traces threads, as far as its dynamic symbols show.
pub(super) fn traces(pid: i32) -> bool {
    let Some(folder) = process_files::of_process(pid.unsigned_abs()) else { return false };
    elf::has_symbol(&Path::new(&folder).join("exe"), &NAMES).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped(event: c_int, signal: c_int) -> Stop {
        Stop::of(event << 16 | signal << 8 | 0x7f)
    }

    #[test]
    fn a_group_stop_is_no_signal() {
        let event = libc::PTRACE_EVENT_STOP;
        assert_eq!(stopped(0, libc::SIGSTOP), Stop::Signal(libc::SIGSTOP));
        assert_eq!(stopped(event, libc::SIGSTOP), Stop::Group(libc::SIGSTOP));
        assert_eq!(stopped(event, libc::SIGTTOU), Stop::Group(libc::SIGTTOU));
        assert_eq!(stopped(event, libc::SIGTRAP), Stop::Trapped);
        assert_eq!(stopped(0, libc::SIGTRAP), Stop::Signal(libc::SIGTRAP));
        assert_eq!(stopped(libc::PTRACE_EVENT_EXIT, libc::SIGTRAP), Stop::Exiting);
        assert_eq!((Stop::of(3 << 8), Stop::of(9)), (Stop::Exited(3), Stop::Killed(9)));
    }
}
