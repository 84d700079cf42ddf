//! One run of the program, from its start to its end.

use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::stat::{Refusal, Signals, Wake, not_run};

/// How the program came to its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ended {
    /// The exit status to pass on: 128 and more for a signal, as shells have it.
    pub(super) status: u8,
    /// The signal that ended it.
    pub(super) signal: Option<i32>,
    pub(super) seconds: f64,
}

/// What the program finds in its environment beside what is there.
#[derive(Debug, Default)]
pub(super) struct Environment {
    pub(super) set: Vec<(&'static str, OsString)>,
    pub(super) removed: Vec<OsString>,
}

/// Runs the program on this process's own standard streams and waits until it ends.
///
/// SIGTERM is passed on; so is SIGINT, unless it came from the terminal, which sends it to both.
pub(super) fn run(
    command: &[OsString],
    environment: Environment,
    signals: &Signals,
) -> Result<Ended, Refusal> {
    let name = command[0].to_string_lossy();
    let start = Instant::now();
    let mut child =
        start_with(command, environment, signals).map_err(|error| not_run(&name, &error))?;
    let status = wait(&mut child, signals).map_err(|error| not_run(&name, &error))?;
    let seconds = start.elapsed().as_secs_f64();
    let signal = status.signal();
    let code = match signal {
        Some(signal) => 128 + signal,
        None => status.code().unwrap_or(0),
    };
    Ok(Ended { status: code as u8, signal, seconds })
}

fn start_with(
    command: &[OsString],
    environment: Environment,
    signals: &Signals,
) -> std::io::Result<Child> {
    let mut program = Command::new(&command[0]);
    program.args(&command[1..]);
    for name in environment.removed {
        program.env_remove(name);
    }
    program.envs(environment.set);
    let inherited = signals.inherited();
    // SAFETY: the closure makes system calls only.
    unsafe {
        program.pre_exec(move || {
            inherited.restore();
            Ok(())
        });
    }
    program.spawn()
}

fn wait(child: &mut Child, signals: &Signals) -> std::io::Result<ExitStatus> {
    let pid = child.id() as libc::pid_t;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let signal = match signals.wait(Instant::now() + LOOK_ANYWAY)? {
            Wake::Interrupted { by_terminal: false } => libc::SIGINT,
            Wake::Terminated => libc::SIGTERM,
            Wake::Interrupted { by_terminal: true } | Wake::Child | Wake::Time => continue,
        };
        // SAFETY: kill has no preconditions; the child is not reaped yet.
        unsafe { libc::kill(pid, signal) };
    }
}

/// Signals of one kind merge: a child's end may come together with another child's.
const LOOK_ANYWAY: Duration = Duration::from_secs(1);
