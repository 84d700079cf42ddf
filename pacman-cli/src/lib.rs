//! The command `pacman-pmu` as a library, for its two programs and the fuzz targets only: no promise of
//! compatibility.
//!
//! Every subcommand is a module with a structure of arguments and one function that writes to
//! standard output and returns the exit status.

mod budget;
mod columns;
mod command;
mod compare;
mod counts;
mod doctor;
mod document;
mod elf;
mod error;
mod events;
mod exit;
mod implausible;
mod indented;
mod metrics;
mod model;
mod noise;
mod output;
mod overwritten;
pub mod parsers;
mod plan;
mod quota;
mod record;
mod records;
mod remembered;
mod report_counts;
mod run;
mod scheduling;
#[cfg(test)]
mod schemas;
mod signals;
mod smt;
pub mod started;
mod stat;
mod terminal;
#[cfg(test)]
mod test_platform;
mod topo;
mod trusted_driver;
mod turn;
mod validate;

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use pacman_core::platform;

use crate::command::{Cli, Command, OnlyRun};
use crate::error::{CliError, CliResult};
use crate::output::{Closed, Output};

/// Runs the command that the process's arguments name. Call it before any other thread starts.
pub fn main() -> ExitCode {
    let to: Box<dyn Write> = match started::has_closed_output() {
        true => Box::new(Closed),
        false => Box::new(io::BufWriter::new(io::stdout().lock())),
    };
    let mut out = Output::new(to);
    let status = answer(&mut out).unwrap_or_else(|error| error.complain());
    ExitCode::from(status)
}

/// The definition of the command, for its man pages and completions.
pub fn command_line() -> clap::Command {
    Cli::<Command>::command()
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
fn answer(out: &mut dyn Write) -> CliResult {
    // Another command, a request for help or a mistake is the second parser's.
    if let Ok(Cli { machine, trust_driver, command: OnlyRun::Run(args) }) = Cli::try_parse() {
        prepare(machine.as_deref(), trust_driver)?;
        return run::run(&args);
    }
    let status = match Cli::try_parse() {
        Ok(Cli { machine, trust_driver, command }) => {
            prepare(machine.as_deref(), trust_driver)?;
            Command::run(&command, out)?
        }
        // Help and version are answers, on standard output like any other.
        Err(asked) if !asked.use_stderr() => {
            write!(out, "{}", asked.render())?;
            0
        }
        Err(error) => {
            let arguments: Vec<String> =
                env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            return Err(error::usage(&error, &arguments));
        }
    };
    out.flush()?;
    Ok(status)
}
