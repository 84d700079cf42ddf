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
        own(&["--check"])
    };
    FOUND.get_or_init(find).clone()
}

/// As [`command`], of the architecture that this program is for.
pub fn own_architecture() -> Option<PathBuf> {
    if cfg!(target_arch = "aarch64") { arm_command() } else { command() }
}

/// The repository's own lab, if `lab/build` finds what the arguments ask for.
fn own(check: &[&str]) -> Option<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab"));
    let checked = Command::new(folder.join("build")).args(check).status();
    checked.is_ok_and(|status| status.success()).then(|| folder.join("lab"))
}

/// The lab's command, if its Arm emulator is built and programs for it can be compiled.
fn arm_command() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compiles = || Command::new(ARM_GCC).arg("--version").output().is_ok();
    FOUND.get_or_init(|| own(&["--arch", "aarch64", "--check"]).filter(|_| compiles())).clone()
}

/// The C compiler for the Arm guest, which `.ci/cross` installs.
pub const ARM_GCC: &str = "aarch64-linux-gnu-gcc";

/// The lab's guest program as a user would build it: with optimisation, because
/// the edges of a counted phase are the library's own instructions.
///
/// # Panics
/// If it does not build.
pub fn guest() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| stripped("strip", &built(&GUEST, "lab-guest"))).clone()
}

const GUEST: [&str; 5] = ["--release", "--package", "pacman-tests", "--bin", "lab-guest"];

/// The lab's guest program for Arm.
///
/// # Panics
/// If it does not build.
pub fn arm_guest() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| arm_stripped(&arm_built(&GUEST, "lab-guest"))).clone()
}

/// The command `pacman-pmu` for Arm, and the libraries that it preloads into OpenMP programs.
///
/// # Panics
/// If they do not build.
pub fn arm_command_and_libraries() -> [PathBuf; 3] {
    const BOTH: [&str; 5] = ["--release", "--package", "pacman-cli", "--package", "pacman-omp"];
    static BUILT: OnceLock<[PathBuf; 3]> = OnceLock::new();
    let build = || {
        let engine = arm_built(&BOTH, "libpacman_omp_engine.so");
        [arm_built(&BOTH, "pacman-pmu"), engine.with_file_name("libpacman_omp.so"), engine]
            .map(|file| arm_stripped(&file))
    };
    BUILT.get_or_init(build).clone()
}

/// As [`built`], for Arm.
fn arm_built(options: &[&str], file: &str) -> PathBuf {
    let mut cross = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.ci/cross"));
    cross.arg("aarch64");
    built_by(cross, options, file)
}

fn arm_stripped(program: &Path) -> PathBuf {
    stripped("aarch64-linux-gnu-strip", program)
}

/// The command `pacman-pmu`.
///
/// # Panics
/// If it does not build.
pub fn pacman_pmu() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT
        .get_or_init(|| {
            stripped(
                "strip",
                &built(&["--package", "pacman-cli", "--bin", "pacman-pmu"], "pacman-pmu"),
            )
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
            [
                stripped("strip", &engine.with_file_name("libpacman_omp.so")),
                stripped("strip", &engine),
            ]
        })
        .clone()
}

/// The file of that name that `cargo build` makes with these options.
fn built(options: &[&str], file: &str) -> PathBuf {
    built_by(Command::new(env!("CARGO")), options, file)
}

fn built_by(mut cargo: Command, options: &[&str], file: &str) -> PathBuf {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let built = cargo
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
fn stripped(strip: &str, program: &Path) -> PathBuf {
    let copy = program.parent().expect("a directory").join("stripped");
    fs::create_dir_all(&copy).expect("cargo's own directory can be written to");
    let copy = copy.join(program.file_name().expect("a program has a name"));
    let mut strip = Command::new(strip);
    strip.arg("--strip-debug").arg("-o").arg(&copy).arg(program);
    // Without binutils the boots take longer.
    if strip.status().is_ok_and(|status| status.success()) { copy } else { program.into() }
}

/// Runs a line of shell in the lab, which has `programs` in `/t`.
///
/// # Panics
/// If there is no lab, or it cannot be started.
pub fn shell(options: &[&str], line: &str, programs: &[&Path]) -> Output {
    shell_of(&command().expect("a lab"), options, line, programs)
}

/// As [`shell`], in an Arm guest.
///
/// # Panics
/// If there is no Arm lab, or it cannot be started.
pub fn arm_shell(options: &[&str], line: &str, programs: &[&Path]) -> Output {
    shell_of(&arm_command().expect("an Arm lab"), options, line, programs)
}

fn shell_of(lab: &Path, options: &[&str], line: &str, programs: &[&Path]) -> Output {
    let mut lab = Command::new(lab);
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

/// Whether there is an Arm lab; says so where there is none.
pub fn arm_is_there() -> bool {
    let there = arm_command().is_some();
    if !there {
        crate::skipped(
            "no Arm lab: `lab/build --arch aarch64` builds it, `.ci/cross aarch64` its compiler",
        );
    }
    there
}
