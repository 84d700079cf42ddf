//! Commands of another program: `pacman-train` trains models, so that the everyday command carries no linear
//! algebra.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::iter;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::error::ErrorKind as Kind;
use pacman_events::shown::shown_path;

use crate::error::CliError;
use crate::started;
use crate::typed::command_at;

/// The program that has the commands.
const PROGRAM: &str = "pacman-train";

/// Its commands.
const COMMANDS: [&str; 4] = ["evaluate", "predict", "record", "train"];

// Without a comment that the help would show: the text about each command is beside its name.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Elsewhere {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<OsString>,
}

/// Whether a request for help, in the words of the process's arguments, is one for a command of that program.
/// `definition` has the options that may come before the commands.
pub(crate) fn is_helped(
    asked: &clap::Error,
    words: &[OsString],
    definition: &clap::Command,
) -> bool {
    let is_own = |word: &OsString| COMMANDS.iter().any(|command| word == *command);
    asked.kind() == Kind::DisplayHelp
        && command_at(words, || definition.clone())
            .is_some_and(|at| words[at] == "help" && words.get(at + 1).is_some_and(is_own))
}

/// Becomes that program, with this process's arguments. The program is beside this one or in `PATH`.
/// Returns why it did not.
pub(crate) fn become_it() -> CliError {
    let own = env::current_exe().unwrap_or_default();
    let beside = own.parent().unwrap_or(Path::new("/"));
    let Some(program) = found(&own, beside) else {
        return CliError::NotFound(format!(
            "cannot run {PROGRAM}, which has the commands {}: it is neither in {} nor in PATH; \
             install it with ./install.sh, or build it with cargo build -p {PROGRAM}",
            COMMANDS.join(", "),
            shown_path(beside)
        ));
    };
    let mut arguments = env::args_os();
    let name = arguments.next();
    let mut command = Command::new(&program);
    // Its usage lines have the name that the user typed.
    command.arg0(name.as_deref().unwrap_or(OsStr::new("pacman-pmu"))).args(arguments);
    let restore = || {
        started::restore();
        Ok(())
    };
    // SAFETY: the closure makes system calls only.
    unsafe { command.pre_exec(restore) };
    let error = command.exec();
    CliError::not_run(program, &error)
}

/// The first file of that name. A link to `own` would become itself for ever.
fn found(own: &Path, beside: &Path) -> Option<PathBuf> {
    let identity = |path: &Path| {
        let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some((file.dev(), file.ino()))
    };
    let own = identity(own);
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = iter::once(beside.to_owned()).chain(env::split_paths(&path));
    let mut files = folders.map(|folder| folder.join(PROGRAM));
    files.find(|file| identity(file).is_some_and(|file| Some(file) != own))
}
