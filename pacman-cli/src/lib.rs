//! The command `pacman-pmu` as a library, for its program, for `pacman-train` and the fuzz targets only: no
//! promise of compatibility.
//!
//! Every subcommand is a module with a structure of arguments and one function that writes to
//! standard output and returns the exit status.

mod budget;
pub mod columns;
mod command;
mod compare;
pub mod counts;
mod doctor;
mod elf;
mod elsewhere;
pub mod error;
mod events;
mod metrics;
mod output;
mod overwritten;
pub mod parsers;
mod plan;
mod quota;
pub mod recording;
mod remembered;
mod report;
mod report_counts;
mod run;
pub mod signals;
mod smt;
pub mod started;
mod stat;
pub mod system;
pub mod terminal;
#[cfg(test)]
mod tests;
mod topo;
pub mod training_csv;
pub mod trusted_driver;
mod turn;
pub mod typed;
mod validate;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use pacman_core::event::installed;
use pacman_core::platform;

use crate::command::{Cli, Command, OnlyRun};
use crate::error::{CliError, CliResult};
use crate::output::{Closed, Output};

/// Runs the command that the process's arguments name. Call it before any other thread starts.
pub fn main() -> ExitCode {
    respond(|out| {
        let words = typed::in_full(env::args_os(), Cli::<OnlyRun>::command);
        // Another command, a request for help or a mistake is the second parser's.
        if let Ok(Cli { machine, trust_driver, command: OnlyRun::Run(args) }) =
            Cli::try_parse_from(&words)
        {
            prepare(machine.as_deref(), trust_driver)?;
            return run::run(&args);
        }
        let mut own = command_line();
        let parsed = parsed_from::<Command>(&words, &mut own);
        let is_elsewhere = match &parsed {
            Ok(cli) => cli.command.is_elsewhere(),
            Err(asked) => elsewhere::is_helped(asked, &words, &own),
        };
        // The other program says by itself what is simulated.
        if is_elsewhere {
            return Err(elsewhere::become_it());
        }
        answer(parsed, &words, Command::run, out)
    })
}

/// As [`main`], for a program that has some of the commands. Options before them are the same.
pub fn main_of<C: Subcommand>(
    about: fn(clap::Command) -> clap::Command,
    run: fn(&C, &mut dyn Write) -> CliResult,
) -> ExitCode {
    respond(|out| {
        let words: Vec<OsString> = env::args_os().collect();
        let parsed = parsed_from(&words, &mut about(Cli::<C>::command()));
        answer(parsed, &words, run, out)
    })
}

fn parsed_from<C: Subcommand>(
    words: &[OsString],
    definition: &mut clap::Command,
) -> Result<Cli<C>, clap::Error> {
    let matches = definition.try_get_matches_from_mut(words);
    let parsed = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|error| error.format(definition))
}

/// Has a command write to standard output, and ends with its exit status.
fn respond(answer: impl FnOnce(&mut dyn Write) -> CliResult) -> ExitCode {
    let to: Box<dyn Write> = match started::has_closed_output() {
        true => Box::new(Closed),
        false => Box::new(io::BufWriter::new(io::stdout().lock())),
    };
    let mut out = Output::new(to);
    let status = answer(&mut out).unwrap_or_else(|error| error.complain());
    // The library found them, whichever command asked it for an event.
    for line in installed::unusable() {
        error::complain(line);
    }
    ExitCode::from(status)
}

/// The definition of the command. `pacman-train` has the whole one, with its own commands.
pub fn command_line() -> clap::Command {
    command::in_groups(Cli::<Command>::command())
}

/// Goes over to the simulated machine that the arguments or the environment name, and says so:
/// nothing that follows was measured.
fn simulate(name: Option<&str>) -> CliResult<()> {
    name.map_or_else(pacman_sim::install, pacman_sim::simulate).map_err(CliError::bad_input)?;
    if let Some(machine) = platform::current().simulation() {
        error::complain(format!(
            "simulated machine {}: {}; nothing here is measured",
            machine.name, machine.title
        ));
    }
    Ok(())
}

/// Does what options before any command ask for.
fn prepare(machine: Option<&str>, trust_driver: bool) -> CliResult<()> {
    trusted_driver::accept(trust_driver);
    simulate(machine)
}

/// Runs the command that the arguments name and writes its answer; returns its exit status.
fn answer<C: Subcommand>(
    parsed: Result<Cli<C>, clap::Error>,
    words: &[OsString],
    run: fn(&C, &mut dyn Write) -> CliResult,
    out: &mut dyn Write,
) -> CliResult {
    let status = match parsed {
        Ok(Cli { machine, trust_driver, command }) => {
            prepare(machine.as_deref(), trust_driver)?;
            run(&command, out)?
        }
        // Help and version are answers, on standard output like any other.
        Err(asked) if !asked.use_stderr() => {
            write!(out, "{}", asked.render())?;
            0
        }
        Err(error) => {
            let advice = typed::advice(&error, words, Cli::<C>::command);
            return Err(error::usage(&error, words, advice));
        }
    };
    out.flush()?;
    Ok(status)
}
