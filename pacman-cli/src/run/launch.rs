//! One run of the program, from its start to its end.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Instant, SystemTime};

use pacman_report::run::Ended;

use super::signals;
use super::spawn::{self, Environment};
use crate::error::{CliError, CliResult};
use crate::signals::{Inherited, Signals};

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
    let inherited = held.inherited();
    let started = spawn::spawn(command, &environment, &inherited);
    let pid = started
        .unwrap_or_else(|| fork(command, environment, inherited))
        .map_err(|error| CliError::not_run(name, &error))?;
    let (status, scheduling) =
        signals::wait(pid, held).map_err(|error| CliError::not_run(name, &error))?;
    let seconds = start.elapsed().as_secs_f64();
    let at = SystemTime::now();
    Ok(Ended { pid: pid.unsigned_abs(), exit: status.into(), seconds, at, scheduling })
}

fn fork(
    command: &[OsString],
    environment: Environment,
    inherited: Inherited,
) -> std::io::Result<libc::pid_t> {
    let mut program = Command::new(&command[0]);
    program.args(&command[1..]);
    for name in environment.removed {
        program.env_remove(name);
    }
    program.envs(environment.set);
    // SAFETY: the closure makes system calls only.
    unsafe {
        program.pre_exec(move || {
            inherited.restore_for_another();
            Ok(())
        });
    }
    Ok(program.spawn()?.id() as libc::pid_t)
}
