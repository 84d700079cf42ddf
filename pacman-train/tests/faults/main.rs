//! Every system call of `record` and of the preloaded library failing in turn, as in the tests of the everyday command.

#[allow(dead_code, reason = "the everyday command's tests need more of it")]
#[path = "../../../pacman-cli/tests/faults/harness.rs"]
mod harness;
mod record;

/// The program whose calls fail.
const PROGRAM: &str = env!("CARGO_BIN_EXE_pacman-train");
