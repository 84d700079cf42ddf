//! The turns of tests that measure times, and the command that they run.

use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pacman_suite::command::with_default_signals;

/// The turn of a test. One that failed does not hold up the others.
pub(super) fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `pacman-pmu` with `arguments`, and the library as cargo built it for this test.
pub(super) fn pacman_pmu(arguments: &[&str]) -> Command {
    let test = std::env::current_exe().expect("a test has a path");
    let library = test.with_file_name("libpacman_omp.so");
    assert!(library.exists(), "cargo builds {} with this test", library.display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_pacman-pmu"));
    command.args(arguments).env("PACMAN_OMP_LIBRARY", library);
    // No run knows of another's, and the user's own memory stays as it is.
    command.env("PACMAN_OMP_MEMORY", "");
    with_default_signals(&mut command);
    command
}

pub(super) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("everything the command says is UTF-8")
}
