//! The signals that this command waits for.

use std::io;
use std::time::{Duration, Instant};

/// Something that ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// A child or a followed thread stopped or ended, perhaps several.
    Child,
    /// SIGINT came: from a terminal, so the command got it too.
    Interrupted,
    /// SIGTERM came, to this process alone.
    Terminated,
    /// The time is over.
    Time,
}

/// Signals held back from this thread while it lives, to be waited for in turn.
#[derive(Debug)]
pub(crate) struct Signals {
    awaited: libc::sigset_t,
    before: libc::sigset_t,
    child_before: libc::sighandler_t,
}

impl Signals {
    /// Holds SIGCHLD, SIGINT and SIGTERM back; the last two only where they are not
    /// ignored, as for a program that was started in the background.
    pub(crate) fn hold() -> io::Result<Signals> {
        let asked = [libc::SIGINT, libc::SIGTERM].into_iter().filter(|signal| !is_ignored(*signal));
        // SAFETY: all-zero sets are valid; the pointers are to live ones, and the signals
        // are ones that exist.
        unsafe {
            let mut signals = Signals {
                awaited: std::mem::zeroed(),
                before: std::mem::zeroed(),
                // Where it is ignored, children end without a word.
                child_before: libc::signal(libc::SIGCHLD, libc::SIG_DFL),
            };
            libc::sigemptyset(&raw mut signals.awaited);
            for signal in asked.chain([libc::SIGCHLD]) {
                libc::sigaddset(&raw mut signals.awaited, signal);
            }
            let (awaited, before) = (&raw const signals.awaited, &raw mut signals.before);
            match libc::pthread_sigmask(libc::SIG_BLOCK, awaited, before) {
                0 => Ok(signals),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        }
    }

    /// Makes all as it was before, in a child too: system calls only.
    pub(crate) fn restore(&self) {
        self.undo()();
    }

    /// What [`restore`](Self::restore) does, for a child to do.
    pub(crate) fn undo(&self) -> impl Fn() + Send + Sync + use<> {
        let (before, child_before) = (self.before, self.child_before);
        move || {
            // SAFETY: the mask that this thread had, and what was done about SIGCHLD.
            unsafe {
                libc::signal(libc::SIGCHLD, child_before);
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
            }
        }
    }

    /// Waits until `deadline` for whatever comes first.
    pub(crate) fn wait(&self, deadline: Instant) -> io::Result<Wake> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let left = libc::timespec {
                tv_sec: left.as_secs().min(Self::LONGEST.as_secs()) as libc::time_t,
                tv_nsec: left.subsec_nanos().into(),
            };
            // SAFETY: the set and the time are live; nobody asks who sent the signal.
            let signal = unsafe {
                libc::sigtimedwait(&raw const self.awaited, std::ptr::null_mut(), &raw const left)
            };
            match signal {
                libc::SIGCHLD => return Ok(Wake::Child),
                libc::SIGINT => return Ok(Wake::Interrupted),
                libc::SIGTERM => return Ok(Wake::Terminated),
                _ => match io::Error::last_os_error() {
                    error if error.raw_os_error() == Some(libc::EAGAIN) => return Ok(Wake::Time),
                    // Stopped and continued: the wait begins anew.
                    error if error.kind() == io::ErrorKind::Interrupted => {}
                    error => return Err(error),
                },
            }
        }
    }

    const LONGEST: Duration = Duration::from_secs(3600);
}

impl Drop for Signals {
    fn drop(&mut self) {
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
