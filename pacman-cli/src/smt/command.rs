//! The measured command, and the signals that come meanwhile.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::unrunnable;

/// Something that ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    /// The command ended.
    Ended,
    /// SIGINT came: from a terminal, so a command got it too.
    Interrupted,
    /// SIGTERM came, to this process alone.
    Terminated,
    /// The time is over.
    Time,
}

/// Wakes for signals and for the end of a command; the handlers last as long as this does.
pub(super) struct Bell {
    receiver: UnixStream,
    sender: UnixStream,
    before: [libc::sigaction; 2],
}

/// A running command.
pub(super) struct Running {
    pid: libc::pid_t,
    status: Receiver<io::Result<ExitStatus>>,
}

/// Why there is no exit status of a command: a line, and the status that says so.
pub(super) struct NotRun {
    pub(super) problem: String,
    pub(super) status: u8,
}

/// Where the handler writes.
static SENDER: AtomicI32 = AtomicI32::new(-1);

const SIGNALS: [libc::c_int; 2] = [libc::SIGINT, libc::SIGTERM];

extern "C" fn ring(signal: libc::c_int) {
    let byte = signal as u8;
    // SAFETY: write(2) may be called in a handler, and the byte outlives the call; a descriptor
    // that is gone or full is answered with an error.
    unsafe { libc::write(SENDER.load(Ordering::Relaxed), (&raw const byte).cast(), 1) };
}

impl Bell {
    /// Takes over SIGINT and SIGTERM.
    pub(super) fn install() -> io::Result<Bell> {
        let (receiver, sender) = UnixStream::pair()?;
        sender.set_nonblocking(true)?;
        SENDER.store(sender.as_raw_fd(), Ordering::Relaxed);
        let before = SIGNALS.map(|signal| {
            // SAFETY: an all-zero sigaction is valid; both pointers are to live ones; the handler
            // only writes to a descriptor.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = ring as *const () as libc::sighandler_t;
                action.sa_flags = libc::SA_RESTART;
                let mut before: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &raw const action, &raw mut before);
                // Who started this in the background may have had it ignored: so it stays.
                if before.sa_sigaction == libc::SIG_IGN {
                    libc::sigaction(signal, &raw const before, std::ptr::null_mut());
                }
                before
            }
        });
        Ok(Bell { receiver, sender, before })
    }

    /// Waits until `deadline`, or for ever, for whatever comes first.
    pub(super) fn wait(&mut self, deadline: Option<Instant>) -> io::Result<Wake> {
        let mut byte = [0];
        loop {
            let left = match deadline.map(|time| time.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => return Ok(Wake::Time),
                left => left,
            };
            self.receiver.set_read_timeout(left)?;
            match self.receiver.read(&mut byte) {
                Ok(_) if byte[0] == ENDED => return Ok(Wake::Ended),
                Ok(_) if byte[0] == libc::SIGINT as u8 => return Ok(Wake::Interrupted),
                Ok(_) => return Ok(Wake::Terminated),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
            }
        }
    }

    /// Starts `command`, whose end rings.
    pub(super) fn start(&self, command: &[OsString]) -> Result<Running, NotRun> {
        let failed = |error: io::Error| NotRun {
            problem: unrunnable(&command[0], &error),
            status: if error.kind() == ErrorKind::NotFound { 127 } else { 126 },
        };
        let mut sender = self.sender.try_clone().map_err(failed)?;
        let mut child = Command::new(&command[0]).args(&command[1..]).spawn().map_err(failed)?;
        let pid = child.id() as libc::pid_t;
        let (report, status) = mpsc::channel();
        thread::spawn(move || {
            let ended = child.wait();
            // Nobody listens any more when the measurement failed: nothing to tell then.
            let _ = report.send(ended);
            let _ = sender.write(&[ENDED]);
        });
        Ok(Running { pid, status })
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        for (signal, before) in SIGNALS.iter().zip(&self.before) {
            // SAFETY: `before` is what sigaction gave for this signal.
            unsafe { libc::sigaction(*signal, before, std::ptr::null_mut()) };
        }
        SENDER.store(-1, Ordering::Relaxed);
    }
}

impl Running {
    /// Asks the command to end, as this program was asked to.
    pub(super) fn terminate(&self) {
        // SAFETY: kill has no preconditions; the process is not reaped before `Ended` is heard.
        unsafe { libc::kill(self.pid, libc::SIGTERM) };
    }

    /// The exit status to pass on, once the command ended.
    pub(super) fn status(self) -> io::Result<u8> {
        let ended = self.status.recv().map_err(|_| io::Error::other("the command was lost"))??;
        let signal = || ended.signal().map_or(1, |signal| 128 + signal);
        Ok(ended.code().unwrap_or_else(signal) as u8)
    }
}

/// No signal has this number.
const ENDED: u8 = 255;
