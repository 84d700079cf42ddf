//! The lab: real kernels on emulated processors whose PMU counts exactly.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The lab's command: `PACMAN_LAB`, or the repository's own if its emulator is built.
pub fn command() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        if let Some(named) = std::env::var_os("PACMAN_LAB") {
            return Some(PathBuf::from(named)).filter(|lab| lab.exists());
        }
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab"));
        let check = Command::new(folder.join("build")).arg("--check").status();
        check.is_ok_and(|status| status.success()).then(|| folder.join("lab"))
    };
    FOUND.get_or_init(find).clone()
}

/// The lab's guest program as a user would build it: with optimisation, because
/// the edges of a counted phase are the library's own instructions.
///
/// # Panics
/// If it does not build.
pub fn guest() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT
        .get_or_init(|| {
            stripped(&built(
                &["--release", "--package", "pacman-tests", "--bin", "lab-guest"],
                "lab-guest",
            ))
        })
        .clone()
}

/// The command `pacman-pmu`.
///
/// # Panics
/// If it does not build.
pub fn pacman_pmu() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT
        .get_or_init(|| {
            stripped(&built(&["--package", "pacman-cli", "--bin", "pacman-pmu"], "pacman-pmu"))
        })
        .clone()
}

/// The library that is preloaded into OpenMP programs and its engine, as a user would build them.
///
/// # Panics
/// If they do not build.
pub fn libpacman_omp() -> [PathBuf; 2] {
    static BUILT: OnceLock<[PathBuf; 2]> = OnceLock::new();
    BUILT
        .get_or_init(|| {
            let engine =
                built(&["--release", "--package", "pacman-omp"], "libpacman_omp_engine.so");
            [stripped(&engine.with_file_name("libpacman_omp.so")), stripped(&engine)]
        })
        .clone()
}

/// The file of that name that `cargo build` makes with these options.
fn built(options: &[&str], file: &str) -> PathBuf {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--message-format", "json"])
        .args(options)
        .current_dir(root)
        .output()
        .expect("cargo runs");
    let messages = String::from_utf8_lossy(&built.stdout);
    let path = messages.split('"').rfind(|word| word.ends_with(&format!("/{file}")));
    PathBuf::from(path.unwrap_or_else(|| {
        panic!("{options:?} does not build: {}", String::from_utf8_lossy(&built.stderr))
    }))
}

/// A copy without debugging information: a guest unpacks its programs by emulation, and ninety
/// megabytes of names take longer than its boot.
fn stripped(program: &Path) -> PathBuf {
    let copy = program.parent().expect("a directory").join("stripped");
    fs::create_dir_all(&copy).expect("cargo's own directory can be written to");
    let copy = copy.join(program.file_name().expect("a program has a name"));
    let mut strip = Command::new("strip");
    strip.arg("--strip-debug").arg("-o").arg(&copy).arg(program);
    // Without binutils the boots take longer.
    if strip.status().is_ok_and(|status| status.success()) { copy } else { program.into() }
}

/// Runs a line of shell in the lab, which has `programs` in `/t`.
///
/// # Panics
/// If there is no lab, or it cannot be started.
pub fn shell(options: &[&str], line: &str, programs: &[&Path]) -> Output {
    let mut lab = Command::new(command().expect("a lab"));
    lab.args(QUICK).args(options).args(["--", line]).args(programs);
    lab.output().expect("the lab starts")
}

/// A third of a boot is the kernel's tests of its ciphers and its move to a random address.
const QUICK: [&str; 2] = ["--append", "cryptomgr.notests nokaslr"];

/// The words of a skip for want of a lab.
pub const LACK: &str = "no lab: `lab/build` builds it";

/// Whether there is a lab; says so where there is none.
pub fn is_there() -> bool {
    let there = command().is_some();
    if !there {
        crate::skipped(LACK);
    }
    there
}
