//! The lab: real kernels on emulated processors whose PMU counts exactly.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The lab's command: `PACMAN_LAB`, or `../shared/lab/lab` beside the project.
pub fn command() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/lab/lab");
    let named = std::env::var_os("PACMAN_LAB").map(PathBuf::from);
    named.or_else(|| Some(PathBuf::from(beside))).filter(|lab| lab.exists())
}

/// The lab's guest program as a user would build it: with optimisation, because
/// the edges of a counted phase are the library's own instructions.
///
/// # Panics
/// If it does not build.
pub fn guest() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build("pacman-tests", "lab-guest")).clone()
}

/// A program of this workspace, built with optimisation.
///
/// # Panics
/// If it does not build.
pub fn build(package: &str, binary: &str) -> PathBuf {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet", "--package", package])
        .args(["--bin", binary, "--message-format", "json"])
        .current_dir(root)
        .output()
        .expect("cargo runs");
    let messages = String::from_utf8_lossy(&built.stdout);
    let executable = messages
        .lines()
        .filter_map(|line| line.split("\"executable\":\"").nth(1)?.split('"').next())
        .next_back();
    PathBuf::from(executable.unwrap_or_else(|| {
        panic!("{binary} does not build: {}", String::from_utf8_lossy(&built.stderr))
    }))
}

/// Runs a program in the lab.
///
/// # Panics
/// If there is no lab, or it cannot be started.
pub fn run(options: &[&str], program: &Path, arguments: &str) -> Output {
    let name = program.file_name().expect("a program has a name").to_string_lossy();
    Command::new(command().expect("a lab"))
        .args(options)
        .args(["--", &format!("/t/{name} {arguments}")])
        .arg(program)
        .output()
        .expect("the lab starts")
}

/// Whether there is a lab; says so on stderr where there is none.
pub fn is_there() -> bool {
    let there = command().is_some();
    if !there {
        eprintln!("skipped: no lab");
    }
    there
}
