//! The commands of this program, and its documents against their schemas and the manual.

pub(crate) mod schemas;

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
