//! The library's costs, next to those of its foundation, in one run.
//!
//! `cargo bench --bench costs` prints ratios on this machine and, where the lab
//! is found (`PACMAN_LAB`, or the repository's own once `lab/build` built it), exact
//! instruction counts on its emulated Haswell. With `-- --lab` only those, which
//! no noise disturbs. Exit status 1 if a bound the project set itself was exceeded.

mod baseline;
mod doorbell;
mod here;
mod lab;

use std::process::{Command, exit};

#[global_allocator]
static ALLOCATOR: here::Counting = here::Counting;

fn main() {
    if doorbell::in_lab() {
        finish(lab::run());
    }
    let held = if std::env::args().any(|argument| argument == "--lab") {
        Ok(true)
    } else {
        println!("On this machine (medians, by turns with the baseline):");
        let held = here::run();
        println!();
        held
    };
    println!("In the lab (instructions, exact; 4 hardware events):");
    let Some(lab) = pacman_suite::lab::command() else {
        println!("skipped: {}", pacman_suite::lab::LACK);
        finish(held);
    };
    let program = std::env::current_exe().expect("a running program has a file");
    let name = program.file_name().expect("it has a name").to_string_lossy().into_owned();
    let status = Command::new(lab)
        .args(["--cpu", "core", "--", &format!("/t/{name} --bench")])
        .arg(&program)
        .status();
    let in_lab = status.is_ok_and(|status| status.success());
    finish(held.map(|held| held && in_lab));
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
