//! The program `pacman-train`.

use std::process::ExitCode;

/// The loader calls this function before Rust's runtime begins. The static is in the binary,
/// because a linker may drop it from a library that does not use it.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = pacman_cli::started::look;

fn main() -> ExitCode {
    pacman_train::main()
}
