//! The command `pacman-pmu`: what this machine is, what it can count, and how.
//!
//! Every command is a module with a structure of arguments and one function
//! that writes to standard output and answers the exit status. What they share
//! is here: options, refusals of one line, and a reader that goes away.

mod budget;
mod command;
mod doctor;
mod events;
mod output;
mod plan;
mod refusal;
mod smt;
mod stat;
mod topo;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::command::Cli;
use crate::output::Output;

fn main() -> ExitCode {
    let mut out = Output::new(io::BufWriter::new(io::stdout().lock()));
    let status = answer(&mut out).unwrap_or_else(|(problem, status)| {
        refusal::complain(&problem);
        status
    });
    ExitCode::from(status)
}

/// Runs the command that the arguments name and writes what it says; the answer
/// is its exit status, or a problem and the exit status for it.
fn answer(out: &mut dyn Write) -> Result<u8, (String, u8)> {
    let done = match Cli::try_parse() {
        Ok(cli) => cli.command.run(out),
        // Help and version are answers, on standard output like any other.
        Err(asked) if !asked.use_stderr() => write!(out, "{}", asked.render()).map(|()| 0),
        Err(error) => return Err((refusal::usage(&error), refusal::BAD_INPUT)),
    };
    done.and_then(|status| out.flush().map(|()| status)).map_err(|error| refusal::reason(&error))
}
