//! The command `pacman-pmu`.

use std::process::ExitCode;

/// The loader calls it before Rust's runtime begins. It stands here, because a linker may leave out
/// what nothing of a library refers to.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = pacman_cli::started::look;

fn main() -> ExitCode {
    pacman_cli::main()
}
