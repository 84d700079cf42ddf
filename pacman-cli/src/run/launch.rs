//! One run of the program, from its start to its end.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Instant, SystemTime};

use pacman_regions::Scheduling;

use super::signals;
use crate::error::{CliError, CliResult};
use crate::exit::Exit;
use crate::signals::Signals;

/// The end of the program.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ended {
    /// The process that was waited for; 0 where there was none.
    pub(super) pid: u32,
    pub(super) exit: Exit,
    pub(super) seconds: f64,
    pub(super) at: SystemTime,
    /// The kernel's account of its first thread.
    pub(super) scheduling: Option<Scheduling>,
}

/// The variables that a program's environment gets.
#[derive(Debug, Default)]
pub(super) struct Environment {
    pub(super) set: Vec<(&'static str, OsString)>,
    pub(super) removed: Vec<OsString>,
}

/// Runs the program on this process's own standard streams and waits until it ends.
///
/// Signals that come meanwhile are the program's.
pub(super) fn run(
    command: &[OsString],
    environment: Environment,
    held: &Signals,
) -> CliResult<Ended> {
    let name = &command[0];
    let start = Instant::now();
    let child =
        start_with(command, environment, held).map_err(|error| CliError::not_run(name, &error))?;
    let pid = child.id() as libc::pid_t;
    let (status, scheduling) =
        signals::wait(pid, held).map_err(|error| CliError::not_run(name, &error))?;
    let seconds = start.elapsed().as_secs_f64();
    let at = SystemTime::now();
    Ok(Ended { pid: child.id(), exit: status.into(), seconds, at, scheduling })
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
            inherited.restore_for_another();
            Ok(())
        });
    }
    program.spawn()
}
