//! The command that runs during the measurement, and the signals that arrive meanwhile.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::error::{CliError, CliResult};
use crate::signals::{Signals, Wake};
use crate::trusted_driver;
use pacman_report::exit::Exit;

/// The reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The command ended.
    Ended(Exit),
    /// A signal asks to end the measurement.
    Asked,
    /// The time is over.
    Time,
}

/// Waits for the command, for signals and for the time.
#[derive(Debug)]
pub(super) struct Watch {
    signals: Signals,
    command: Option<Child>,
    /// The number of requests to end the command.
    asked: u32,
}

impl Watch {
    /// Holds back the signals that would end this process, for the life of the watch.
    pub(super) fn new() -> CliResult<Watch> {
        Ok(Watch { signals: Signals::hold()?, command: None, asked: 0 })
    }

    /// Starts the command to wait for.
    pub(super) fn start(&mut self, command: &[OsString]) -> CliResult<()> {
        let mut program = Command::new(&command[0]);
        program.args(&command[1..]).envs(trusted_driver::variable());
        let inherited = self.signals.inherited();
        // SAFETY: the closure makes system calls only.
        unsafe {
            program.pre_exec(move || {
                inherited.restore_for_another();
                Ok(())
            });
        }
        self.command =
            Some(program.spawn().map_err(|error| CliError::not_run(&command[0], &error))?);
        Ok(())
    }

    /// Waits for the first event, at most until `deadline`.
    ///
    /// Signals are passed on to a command, which decides whether it ends. The second request to end
    /// ends the wait: a command that ignores them must not hold this process.
    pub(super) fn wait(&mut self, deadline: Option<Instant>) -> io::Result<Event> {
        loop {
            if let Some(command) = &mut self.command {
                if let Some(status) = command.try_wait()? {
                    // Ctrl-C reaches both processes. This process may get it after the command's
                    // end.
                    self.signals.asked_to_end()?;
                    return Ok(Event::Ended(status.into()));
                }
            }
            let now = Instant::now();
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Ok(Event::Time);
            }
            let look = now + LOOK_ANYWAY;
            match self.signals.wait(deadline.map_or(look, |deadline| deadline.min(look)))? {
                Wake::Child | Wake::Time => {}
                Wake::Signal(sent) => {
                    let Some(command) = &self.command else { return Ok(Event::Asked) };
                    if sent.asks_to_end() && self.asked > 0 {
                        return Ok(Event::Asked);
                    }
                    self.asked += u32::from(sent.asks_to_end());
                    sent.pass_on(command.id() as libc::pid_t);
                }
            }
        }
    }
}

/// The time between two looks for an ended child. Pending SIGCHLDs merge, so its end may send no
/// signal.
const LOOK_ANYWAY: Duration = Duration::from_millis(500);
