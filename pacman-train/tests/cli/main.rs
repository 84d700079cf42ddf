//! The built programs, run as a user runs them.

mod drafts;
#[path = "../../../pacman-cli/tests/cli/forbidden.rs"]
mod forbidden;
#[allow(dead_code, reason = "the everyday command's tests need more of it")]
#[path = "../../../pacman-cli/tests/cli/harmless.rs"]
mod harmless;
mod hostile;
mod pairs;
mod record;
mod run_training;
#[allow(dead_code, reason = "the everyday command's tests need more of it")]
#[path = "../../../pacman-cli/tests/cli/schema.rs"]
mod schema;
mod schemas;
#[path = "../../../pacman-cli/tests/cli/scratch.rs"]
mod scratch;
mod shell;

use std::path::{Path, PathBuf};
use std::process::Command;

use pacman_suite::command::with_default_signals;
use pacman_suite::skipped;

/// The program that has the command of `arguments`, ready to be spawned: `pacman-pmu` for those of others, which a
/// test takes where [`everyday`] has found it.
fn pacman_pmu(arguments: &[&str]) -> Command {
    let own = Path::new(env!("CARGO_BIN_EXE_pacman-train"));
    let of_others = ["run", "stat", "compare", "report", "metrics", "budget"];
    match arguments.first().is_some_and(|first| of_others.contains(first)) {
        true => command(&own.with_file_name("pacman-pmu"), arguments),
        false => command(own, arguments),
    }
}

/// `pacman-pmu` as cargo built it beside this program; `None`, said aloud, where it was not built.
fn everyday() -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_BIN_EXE_pacman-train")).with_file_name("pacman-pmu");
    if !program.exists() {
        skipped("no pacman-pmu: cargo builds it with -p pacman-cli");
        return None;
    }
    Some(program)
}

fn command(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).env("PACMAN_OMP_LIBRARY", library());
    // No run knows of another's, and the user's own memory stays as it is.
    command.env("PACMAN_OMP_MEMORY", "");
    with_default_signals(&mut command);
    command
}

/// The library as cargo built it for this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let path = test.with_file_name("libpacman_omp.so");
    assert!(path.exists(), "cargo builds {} with this test", path.display());
    path
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("everything the command says is UTF-8")
}
