//! The command `pacman-pmu`: what this machine is, what it can count, and how.
//!
//! Every command is a module with a structure of arguments and one function
//! that writes to standard output and answers the exit status. What they share
//! is here: options, refusals of one line, and a reader that goes away.

mod command;
mod doctor;
mod output;
mod refusal;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::command::Cli;
use crate::output::Output;

fn main() -> ExitCode {
    let mut out = Output::new(io::BufWriter::new(io::stdout().lock()));
    let done = match Cli::try_parse() {
        Ok(cli) => cli.command.run(&mut out),
        // Help and version are answers, on standard output like any other.
        Err(answer) if !answer.use_stderr() => write!(out, "{}", answer.render()).map(|()| 0),
        Err(error) => {
            refusal::complain(&refusal::usage(&error));
            return ExitCode::from(refusal::BAD_INPUT);
        }
    };
    let done = done.and_then(|status| out.flush().map(|()| status));
    ExitCode::from(done.unwrap_or_else(|error| refusal::explain(&error)))
}
