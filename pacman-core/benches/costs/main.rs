//! The library's costs, next to those of its foundation, in one run.
//!
//! `cargo bench --bench costs` prints ratios on this machine and, where the lab
//! is found (`PACMAN_LAB`, or the repository's own once `lab/build` built it), exact
//! instruction counts on its emulated Haswell. With `-- --lab` only those, which
//! no noise disturbs. Exit status 1 if a bound the project set itself was exceeded.
//!
//! `.ci/cross aarch64 bench -p pacman-core --bench costs -- --lab` prints those of the Arm lab.

mod baseline;
mod here;
mod lab;
mod registers;

use std::process::{Command, exit};

#[global_allocator]
static ALLOCATOR: here::Counting = here::Counting;

/// The lab's processors, and what has it run this program in its guest.
const PROCESSORS: &[&[&str]] = match cfg!(target_arch = "aarch64") {
    true => &[&["--model", "neoverse-n1"], &["--model", "olympus"]],
    false => &[&["--cpu", "core"]],
};
const IN_GUEST: &str = "--in-guest";

fn main() {
    let asked = |option: &str| std::env::args().any(|argument| argument == option);
    if asked(IN_GUEST) {
        finish(lab::run());
    }
    let mut held = if asked("--lab") {
        Ok(true)
    } else {
        println!("On this machine (medians, by turns with the baseline):");
        let held = here::run();
        println!();
        held
    };
    let Some(lab) = pacman_suite::lab::own_architecture() else {
        println!("skipped: {}", pacman_suite::lab::LACK);
        finish(held);
    };
    let program = std::env::current_exe().expect("a running program has a file");
    let name = program.file_name().expect("it has a name").to_string_lossy().into_owned();
    for options in PROCESSORS {
        println!("In the lab, {} (instructions, exact; 4 hardware events):", options.join(" "));
        let mut command = Command::new(&lab);
        command.args(*options).args(["--", &format!("/t/{name} {IN_GUEST}")]).arg(&program);
        let in_lab = command.status().is_ok_and(|status| status.success());
        held = held.map(|held| held && in_lab);
    }
    finish(held);
}

fn finish(held: pacman_core::Result<bool>) -> ! {
    match held {
        Ok(held) => exit(if held { 0 } else { 1 }),
        Err(error) => {
            eprintln!("costs: {error}");
            exit(2);
        }
    }
}
