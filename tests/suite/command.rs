//! Commands that tests run.

use std::process::{Command, Output};

/// Runs a command that must succeed.
///
/// # Panics
/// If it cannot be run or fails; the message has its output.
pub fn finish(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Whether the machine has a command.
pub fn have(command: &str) -> bool {
    Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success())
}
