//! The commands: one variant and one arm each.

use std::io::{self, Write};

use clap::{Parser, Subcommand};

use crate::doctor;

/// Hardware performance counters of threads on SMT cores: what this machine has and can count.
#[derive(Debug, Parser)]
#[command(name = "pacman-pmu", version, after_help = AFTER)]
#[command(infer_subcommands = false, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What can be asked.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Doctor(doctor::DoctorArgs),
}

impl Command {
    /// Runs the command; the answer is its exit status.
    pub(crate) fn run(&self, out: &mut dyn Write) -> io::Result<u8> {
        match self {
            Command::Doctor(args) => doctor::doctor(args, out),
        }
    }
}

const AFTER: &str = "\
Examples:
  pacman-pmu doctor                what can be counted here, and what is in the way
  pacman-pmu doctor --json         the same for a program
  pacman-pmu doctor --help         all about one command

Exit status:
  0  done
  2  bad input: one line on standard error says what and why
  4  the answer could not be written
  A command may add its own; its --help says which.
  A reader that closes standard output early changes nothing.";
