//! The program `pacman-train` as a library, for its two programs and the fuzz targets only: no promise of
//! compatibility.

mod command;
mod model;
mod noise;
pub mod parsers;
mod progress;
mod record;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::Subcommand;

use crate::command::Command;

/// Runs the command that the process's arguments name. Call it before any other thread starts.
pub fn main() -> ExitCode {
    pacman_cli::main_of(command::about, Command::run)
}

/// The definition of `pacman-pmu` with the commands of this program, for man pages and completions.
pub fn command_line() -> clap::Command {
    let (own, everyday) = (own(), pacman_cli::command_line());
    let names: Vec<String> =
        everyday.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    // clap moves a changed subcommand to the end. Changing each in turn keeps their order.
    names.iter().fold(everyday, |whole, name| {
        let full = own.find_subcommand(name).cloned();
        whole.mut_subcommand(name, |known| full.unwrap_or(known))
    })
}

/// The commands of this program.
fn own() -> clap::Command {
    Command::augment_subcommands(clap::Command::new("own"))
}
