//! The commands: one variant and one arm each.

use std::io::Write;

use clap::Subcommand;
use pacman_cli::error::CliResult;

use crate::{model, record};

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Evaluate(model::EvaluateArgs),
    Predict(model::PredictArgs),
    Record(record::RecordArgs),
    Train(model::TrainArgs),
}

impl Command {
    /// Runs the command; returns its exit status.
    pub(crate) fn run(&self, out: &mut dyn Write) -> CliResult {
        match self {
            Command::Evaluate(args) => model::evaluate(args, out),
            Command::Predict(args) => model::predict(args, out),
            Command::Record(args) => record::record(args, out),
            Command::Train(args) => model::train(args, out),
        }
    }
}

/// The help of the program by itself.
pub(crate) fn about(own: clap::Command) -> clap::Command {
    own.about("Train and try models of a phase's time at other numbers of threads. pacman-pmu starts this program")
        .after_help(AFTER)
}

const AFTER: &str = "\
Examples:
  pacman-pmu record -o data.csv -- ./solver input
  pacman-pmu train measured.csv -o model.json

Exit status:
  0  done
  2  bad input: one line on standard error gives the reason
  4  the answer could not be written
  Some commands have more; their --help lists them.";
