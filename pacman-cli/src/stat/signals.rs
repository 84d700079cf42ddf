//! The signals that this command waits for.

use std::io;
use std::time::{Duration, Instant};

/// Something that ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// A child or a followed thread stopped or ended, perhaps several.
    Child,
    /// SIGINT came.
    Interrupted {
        /// From a terminal, so that the command got it too.
        by_terminal: bool,
    },
    /// SIGTERM came, to this process alone.
    Terminated,
    /// The time is over.
    Time,
}

/// Signals held back from this thread while it lives, to be waited for in turn.
#[derive(Debug)]
pub(crate) struct Signals {
    awaited: libc::sigset_t,
    before: Inherited,
}

/// How signals were handled before: what a child that becomes another program gets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inherited {
    mask: libc::sigset_t,
    child: libc::sighandler_t,
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
                before: Inherited {
                    mask: std::mem::zeroed(),
                    // Where it is ignored, children end without a word.
                    child: libc::signal(libc::SIGCHLD, libc::SIG_DFL),
                },
            };
            libc::sigemptyset(&raw mut signals.awaited);
            for signal in asked.chain([libc::SIGCHLD]) {
                libc::sigaddset(&raw mut signals.awaited, signal);
            }
            let (awaited, before) = (&raw const signals.awaited, &raw mut signals.before.mask);
            match libc::pthread_sigmask(libc::SIG_BLOCK, awaited, before) {
                0 => Ok(signals),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        }
    }

    /// How it was before.
    pub(crate) fn inherited(&self) -> Inherited {
        self.before
    }

    /// Waits until `deadline` for whatever comes first.
    pub(crate) fn wait(&self, deadline: Instant) -> io::Result<Wake> {
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
                libc::SIGINT => {
                    // Codes above 0 are the kernel's own; processes send 0 and below.
                    return Ok(Wake::Interrupted { by_terminal: sender.si_code > 0 });
                }
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

    /// Takes what has come by now, without waiting: whether somebody wants all this to end.
    ///
    /// To be asked once a command has ended. Ctrl-C that goes to both may end the command before
    /// anybody here has waited; left pending, it would end this process, too, when `self` drops.
    pub(crate) fn asked_to_end(&self) -> io::Result<bool> {
        let mut asked = false;
        loop {
            match self.wait(Instant::now())? {
                Wake::Interrupted { .. } | Wake::Terminated => asked = true,
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
    /// Makes all as it was before, in a child too: system calls only.
    pub(crate) fn restore(&self) {
        // SAFETY: the mask that this thread had, and what was done about SIGCHLD.
        unsafe {
            libc::signal(libc::SIGCHLD, self.child);
            let mask = &raw const self.mask;
            libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut());
        }
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
