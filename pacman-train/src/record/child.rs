//! One run of the program at one configuration.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libc::c_ulong;
use pacman_events::shown::text_of;
use pacman_regions::Scheduling;

use pacman_cli::recording::inherited;
use pacman_cli::signals::{Signals, Wake};
use pacman_cli::system::scheduling_of;
use pacman_cli::trusted_driver;
use pacman_report::exit::Exit;

/// The environment of a run.
pub(super) struct Run<'a> {
    /// The program and its arguments.
    pub(super) command: &'a [OsString],
    /// The logical CPUs that it may use: one for each thread.
    pub(super) cpus: &'a [u32],
    /// Variables in addition to the inherited ones.
    pub(super) environment: &'a [(&'static str, OsString)],
    /// Whether its output is dropped.
    pub(super) quiet: bool,
}

/// The end of a run.
#[derive(Debug)]
pub(super) enum Ended {
    Well,
    /// In words: with which status, or by which signal.
    Badly(String),
    /// A signal ended the recording; whether the run came to its own end.
    Stopped {
        well: bool,
    },
}

impl Run<'_> {
    /// Runs the program to its end. Returns with it the kernel's account of its first thread.
    ///
    /// # Errors
    /// If it could not be started or waited for.
    pub(super) fn run(&self, signals: &Signals) -> io::Result<(Ended, Option<Scheduling>)> {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).stdin(Stdio::null());
        let threads = OsString::from(self.cpus.len().to_string());
        for name in ["OMP_NUM_THREADS", "PACMAN_THREADS"] {
            command.env(name, &threads);
        }
        // Left over from a run of one's own, they would have it report elsewhere or otherwise.
        for name in ["PACMAN_REPORT_DIR", "PACMAN_REPORT_EVENTS"] {
            command.env_remove(name);
        }
        for name in inherited() {
            command.env_remove(name);
        }
        command.envs(trusted_driver::variable());
        command.envs(self.environment.iter().map(|(name, value)| (*name, value.as_os_str())));
        if self.quiet {
            command.stdout(Stdio::null());
        }
        let mask = mask(self.cpus);
        let inherited = signals.inherited();
        let prepare = move || {
            inherited.restore_for_another();
            confine(&mask)
        };
        // SAFETY: system calls only, which are allowed between fork and exec, on memory that was
        // made before.
        unsafe { command.pre_exec(prepare) };
        wait(command.spawn()?, signals)
    }
}

fn wait(mut child: Child, signals: &Signals) -> io::Result<(Ended, Option<Scheduling>)> {
    let mut stopping: Option<Instant> = None;
    loop {
        // Before the child is reaped, which ends the account.
        let account = scheduling_of(child.id());
        if let Some(status) = child.try_wait()? {
            let stopping = stopping.is_some() | signals.asked_to_end()?;
            let ended = match failure(status.into()) {
                failure if stopping => Ended::Stopped { well: failure.is_none() },
                None => Ended::Well,
                Some(why) => Ended::Badly(why),
            };
            return Ok((ended, account));
        }
        let wake = signals.wait(Instant::now() + LOOK_ANYWAY)?;
        let pid = child.id() as libc::pid_t;
        // SAFETY: kill has no preconditions; the child is not reaped yet.
        let tell = |signal| unsafe { libc::kill(pid, signal) };
        match (wake, stopping) {
            // The child may handle the signal and go on.
            (Wake::Signal(sent), None) => {
                sent.pass_on(pid);
                stopping = sent.asks_to_end().then(Instant::now);
            }
            (Wake::Signal(sent), Some(_)) if sent.asks_to_end() => drop(tell(libc::SIGKILL)),
            (Wake::Signal(sent), Some(_)) => sent.pass_on(pid),
            (Wake::Time, Some(since)) if since.elapsed() > PATIENCE => drop(tell(libc::SIGTERM)),
            (Wake::Child | Wake::Time, _) => {}
        }
    }
}

fn failure(exit: Exit) -> Option<String> {
    (exit != Exit::Status(0)).then(|| exit.to_string())
}

/// The bits that sched_setaffinity(2) takes.
fn mask(cpus: &[u32]) -> Vec<c_ulong> {
    let bits = c_ulong::BITS;
    let last = cpus.iter().copied().max().unwrap_or(0);
    let mut mask = vec![0; (last / bits + 1) as usize];
    for cpu in cpus {
        mask[(cpu / bits) as usize] |= 1 << (cpu % bits);
    }
    mask
}

fn confine(mask: &[c_ulong]) -> io::Result<()> {
    // SAFETY: the pointer is valid for reads of the bytes passed as the size; the kernel copies
    // them.
    let status = unsafe { libc::sched_setaffinity(0, size_of_val(mask), mask.as_ptr().cast()) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A program's name in training data where the user gives none.
pub(super) fn name(command: &OsStr) -> String {
    let file = std::path::Path::new(command).file_name();
    text_of(file.unwrap_or(command))
}

/// Signals of children can merge; a look now and then costs nothing.
const LOOK_ANYWAY: Duration = Duration::from_millis(500);
/// For a program that has got Ctrl-C.
const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    /// A command that has ended and was not reaped.
    fn ended(script: &str) -> Child {
        let child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        // SAFETY: an all-zero siginfo is valid and live; the child stays to be waited for.
        let status = unsafe {
            let mut about: libc::siginfo_t = std::mem::zeroed();
            let how = libc::WEXITED | libc::WNOWAIT;
            libc::waitid(libc::P_PID, child.id(), &raw mut about, how)
        };
        assert_eq!(status, 0);
        child
    }

    #[test]
    fn a_wish_to_end_that_came_before_the_wait_is_heard() {
        let signals = Signals::hold().unwrap();
        assert!(matches!(wait(ended("exit 0"), &signals), Ok((Ended::Well, _))));
        assert!(matches!(wait(ended("exit 3"), &signals), Ok((Ended::Badly(_), _))));
        for (script, well) in [("exit 3", false), ("exit 0", true)] {
            let child = ended(script);
            // SAFETY: raise has no preconditions; the signal is held back from this thread.
            assert_eq!(unsafe { libc::raise(libc::SIGTERM) }, 0);
            let end = wait(child, &signals);
            let Ok((Ended::Stopped { well: ended }, _)) = end else { panic!("{end:?}") };
            assert_eq!(ended, well, "{script}");
            assert!(!signals.asked_to_end().unwrap(), "nothing is left to end this process");
        }
    }
}
