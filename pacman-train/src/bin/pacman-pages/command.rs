//! The command's pages and completions, from its definition.

use std::io;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::roff;

/// A page for the command and one for each subcommand, with their file names.
pub(crate) fn pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    // `help` is on the page of the command; it needs none of its own.
    let mut command = pacman_train::command_line().disable_help_subcommand(true);
    command.build();
    let with_subcommands = std::iter::once(&command).chain(command.get_subcommands());
    with_subcommands.filter(|command| !command.is_hide_set()).map(page).collect()
}

fn page(command: &Command) -> io::Result<(String, Vec<u8>)> {
    let man = Man::new(command.clone());
    let file = man.get_filename();
    let mut page = roff::title(file.trim_end_matches(".1"), 1).into_bytes();
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    // Examples and tables: clap_mangen would fill their lines.
    let extra = command.get_after_long_help().or_else(|| command.get_after_help());
    let mut text = String::new();
    for part in extra.map(ToString::to_string).unwrap_or_default().split("\n\n") {
        match part.split_once('\n') {
            Some((title, rest)) if !title.starts_with(' ') && title.ends_with(':') => {
                roff::heading(&mut text, &title.trim_end_matches(':').to_uppercase());
                roff::verbatim(&mut text, rest);
            }
            _ => roff::verbatim(&mut text, part),
        }
    }
    page.extend(text.into_bytes());
    Ok((file, roff::ascii(&String::from_utf8_lossy(&page)).into_bytes()))
}

/// The completions for the shells that have a standard place for them, by the shell's name.
pub(crate) fn completions() -> Vec<(String, Vec<u8>)> {
    let shells = [Shell::Bash, Shell::Zsh, Shell::Fish];
    let script = |shell: Shell| {
        let mut script = Vec::new();
        clap_complete::generate(
            shell,
            &mut pacman_train::command_line(),
            "pacman-pmu",
            &mut script,
        );
        (shell.to_string(), script)
    };
    shells.into_iter().map(script).collect()
}
