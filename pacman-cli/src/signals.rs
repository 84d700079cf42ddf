//! The signals that this command waits for.
//!
//! This process blocks all signals that could end it, so that no signal prevents a report. It
//! passes sent signals on to the running command, which decides whether it ends.

use std::io;
use std::time::{Duration, Instant};

use crate::error::{CliError, CliResult};
use crate::started;

/// Something that ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// A child or a followed thread stopped or ended, perhaps several.
    Child,
    /// Another signal came.
    Signal(Sent),
    /// The time is over.
    Time,
}

/// A signal that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The number of the signal.
    pub number: libc::c_int,
    /// The kernel sent it: from a terminal, so that the command got it too, or for an act of this
    /// process.
    pub by_kernel: bool,
    /// The process that sent it, in this one's namespace; 0 if none did.
    pub sender: libc::pid_t,
}

impl Sent {
    /// Whether it is one by which people end programs that they still want an answer of.
    pub fn asks_to_end(self) -> bool {
        [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT].contains(&self.number)
    }

    /// Sends it to `pid`, a child that is not reaped yet, unless it got there by itself. What the child itself sent, it sent to its
    /// group of processes, or to its parent alone.
    pub fn pass_on(self, pid: libc::pid_t) {
        if !self.by_kernel && self.sender != pid {
            // SAFETY: kill has no preconditions.
            unsafe { libc::kill(pid, self.number) };
        }
    }
}

/// Signals held back from this thread while it lives, to be waited for in turn.
#[derive(Debug)]
pub struct Signals {
    awaited: libc::sigset_t,
    before: Inherited,
}

/// The handling of signals before, which a child gets when it becomes another program.
#[derive(Clone, Copy, Debug)]
pub struct Inherited {
    mask: libc::sigset_t,
    child: libc::sighandler_t,
}

/// The signals whose default action ends a process. Faults are among them, because somebody may
/// send them: the kernel ends a process by its own faults all the same.
fn ends_a_process() -> impl Iterator<Item = libc::c_int> {
    let others = [
        libc::SIGCHLD,
        libc::SIGCONT,
        libc::SIGKILL,
        libc::SIGSTOP,
        libc::SIGTSTP,
        libc::SIGTTIN,
        libc::SIGTTOU,
        libc::SIGURG,
        libc::SIGWINCH,
    ];
    let standard = (1..32).filter(move |signal| !others.contains(signal));
    standard.chain(libc::SIGRTMIN()..=libc::SIGRTMAX())
}

impl Signals {
    /// Blocks SIGCHLD and all signals that would end this process. It leaves out ignored signals: a
    /// program that was started in the background ignores SIGINT.
    pub fn hold() -> CliResult<Signals> {
        Signals::hold_with(&[])
    }

    /// The same, and SIGTSTP and SIGCONT, by which the shell stops a job and lets it go on.
    pub(crate) fn hold_with_job_control() -> CliResult<Signals> {
        Signals::hold_with(&[libc::SIGTSTP, libc::SIGCONT])
    }

    fn hold_with(more: &[libc::c_int]) -> CliResult<Signals> {
        let asked = ends_a_process().chain(more.iter().copied());
        let asked = asked.filter(|signal| !is_ignored(*signal));
        // SAFETY: all-zero sets are valid; the pointers are to live ones, and the signals
        // are ones that exist.
        unsafe {
            let mut signals = Signals {
                awaited: std::mem::zeroed(),
                before: Inherited {
                    mask: std::mem::zeroed(),
                    // If SIGCHLD is ignored, the end of a child sends no signal.
                    child: libc::signal(libc::SIGCHLD, libc::SIG_DFL),
                },
            };
            libc::sigemptyset(&raw mut signals.awaited);
            for signal in asked.chain([libc::SIGCHLD]) {
                libc::sigaddset(&raw mut signals.awaited, signal);
            }
            let (awaited, before) = (&raw const signals.awaited, &raw mut signals.before.mask);
            match libc::pthread_sigmask(libc::SIG_BLOCK, awaited, before) {
                0 => {}
                error => {
                    let error = io::Error::from_raw_os_error(error);
                    return Err(CliError::forbidden("hold signals back", "rt_sigprocmask", &error));
                }
            }
            // Asked for no signal, so that none is taken: it is refused before a program runs.
            let (mut none, now): (libc::sigset_t, libc::timespec) =
                (std::mem::zeroed(), std::mem::zeroed());
            libc::sigemptyset(&raw mut none);
            libc::sigtimedwait(&raw const none, std::ptr::null_mut(), &raw const now);
            match io::Error::last_os_error() {
                error if error.raw_os_error() == Some(libc::EAGAIN) => Ok(signals),
                error if error.kind() == io::ErrorKind::Interrupted => Ok(signals),
                error => Err(CliError::forbidden("wait for signals", "rt_sigtimedwait", &error)),
            }
        }
    }

    /// The state before.
    pub fn inherited(&self) -> Inherited {
        self.before
    }

    /// Waits for the first event, at most until `deadline`.
    pub fn wait(&self, deadline: Instant) -> io::Result<Wake> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let left = libc::timespec {
                tv_sec: left.as_secs().min(Self::LONGEST.as_secs()) as libc::time_t,
                tv_nsec: left.subsec_nanos().into(),
            };
            // SAFETY: an all-zero siginfo is valid; the set, it and the time are live.
            let (signal, sender) = unsafe {
                let mut sender: libc::siginfo_t = std::mem::zeroed();
                let signal =
                    libc::sigtimedwait(&raw const self.awaited, &raw mut sender, &raw const left);
                (signal, sender)
            };
            match signal {
                libc::SIGCHLD => return Ok(Wake::Child),
                // Codes above 0 are the kernel's own; processes send 0 and below.
                number @ 1.. => {
                    let by_kernel = sender.si_code > 0;
                    // SAFETY: the kernel fills it for signals of processes, and zeroes it for others.
                    let sender = if by_kernel { 0 } else { unsafe { sender.si_pid() } };
                    return Ok(Wake::Signal(Sent { number, by_kernel, sender }));
                }
                _ => match io::Error::last_os_error() {
                    error if error.raw_os_error() == Some(libc::EAGAIN) => return Ok(Wake::Time),
                    // Stopped and continued: the wait begins anew.
                    error if error.kind() == io::ErrorKind::Interrupted => {}
                    error => return Err(error),
                },
            }
        }
    }

    /// Takes the pending signals without waiting. Answers whether one of them asks to end.
    ///
    /// To be asked once a command has ended. Ctrl-C that goes to both may end the command before
    /// anybody here has waited; left pending, it would end this process, too, when `self` drops.
    pub fn asked_to_end(&self) -> io::Result<bool> {
        let mut asked = false;
        loop {
            match self.wait(Instant::now())? {
                Wake::Signal(sent) => asked |= sent.asks_to_end(),
                Wake::Child => {}
                Wake::Time => return Ok(asked),
            }
        }
    }

    const LONGEST: Duration = Duration::from_secs(3600);
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.before.restore();
    }
}

impl Inherited {
    /// Makes all as it was before, in this process.
    fn restore(&self) {
        // SAFETY: the calls restore this thread's mask and the action of SIGCHLD.
        unsafe {
            libc::signal(libc::SIGCHLD, self.child);
            let mask = &raw const self.mask;
            libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut());
        }
    }

    /// The mask of signals.
    pub(crate) fn mask(&self) -> &libc::sigset_t {
        &self.mask
    }

    /// Whether the end of a child sends a signal.
    pub(crate) fn has_default_child_signal(&self) -> bool {
        self.child == libc::SIG_DFL
    }

    /// Restores the same in a child that is about to become another program. It also undoes the
    /// changes of Rust's runtime. It makes only system calls.
    pub fn restore_for_another(&self) {
        started::restore();
        self.restore();
    }
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: an all-zero sigaction is valid, and the call only fills it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action);
        action.sa_sigaction == libc::SIG_IGN
    }
}
