//! The program `pacman-train` as a library, for its two programs and the fuzz targets only: no promise of
//! compatibility.

mod command;
mod model;
mod noise;
pub mod parsers;
mod progress;
mod record;
#[cfg(test)]
mod schemas;

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

#[cfg(test)]
mod tests {
    use super::{command_line, own};

    #[test]
    fn the_everyday_command_lists_the_commands_as_they_are() {
        let (whole, everyday) = (command_line(), pacman_cli::command_line());
        let abouts = |all: &clap::Command| -> Vec<(String, String)> {
            all.get_subcommands()
                .map(|one| (one.get_name().to_owned(), one.get_about().map(ToString::to_string)))
                .map(|(name, about)| (name, about.expect("each command says what it does")))
                .collect()
        };
        assert_eq!(abouts(&whole), abouts(&everyday));
        let own = own();
        assert!(own.get_subcommands().count() == 4);
        for command in own.get_subcommands() {
            let listed = whole.find_subcommand(command.get_name()).expect("a command of both");
            assert!(listed.get_after_help().is_some(), "{} has its own help", listed.get_name());
        }
    }

    #[test]
    fn no_command_has_an_option_of_the_name_that_all_of_them_have() {
        let cli = command_line();
        let global: Vec<_> = cli.get_arguments().filter(|option| option.is_global_set()).collect();
        assert!(global.iter().any(|option| option.get_long() == Some("machine")));
        for option in cli.get_subcommands().flat_map(clap::Command::get_arguments) {
            // The parser would silently give both the same value.
            assert!(!global.iter().any(|other| other.get_id() == option.get_id()), "{option}");
        }
    }
}
