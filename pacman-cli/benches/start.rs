//! The CPU time of the start and end of `pacman-pmu run`.
//!
//! `cargo bench -p pacman-cli --bench start` runs two programs alone and under `run`, by turns: one without
//! regions, and one with a region. It prints the CPU time of all processes of a run, beside the project's
//! bound. A figure over the bound is marked, but does not fail: a busy machine exceeds any bound.

use std::io;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

const TURNS: usize = 60;
/// Milliseconds of CPU time that `run` may take beside the program's own.
const BOUND: f64 = 4.0;

const PROGRAMS: [(&str, &str); 2] = [
    ("no region", "int main(void) { return 0; }\n"),
    (
        "one region",
        "int main(void) {\n#pragma omp parallel\n__asm__ volatile(\"\");\nreturn 0; }\n",
    ),
];

fn main() -> ExitCode {
    match print() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("start: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print() -> io::Result<()> {
    let scratch = tempfile::tempdir()?;
    println!("ms of CPU time: first quartile and median of {TURNS} runs each by turns");
    println!("{:<12} {:<8} {:>8} {:>8} {:>8}", "program", "as", "quartile", "median", "more");
    for (name, source) in PROGRAMS {
        let (file, program) = (scratch.path().join("source.c"), scratch.path().join("program"));
        std::fs::write(&file, source)?;
        succeed(Command::new("gcc").args(["-O2", "-fopenmp", "-o"]).args([&program, &file]))?;
        let mut all = [Vec::new(), Vec::new()];
        for _ in 0..TURNS {
            all[0].push(cpu_time(&mut clean(&program))?);
            let mut run = clean(Path::new(env!("CARGO_BIN_EXE_pacman-pmu")));
            all[1].push(cpu_time(run.args(["run", "--"]).arg(&program))?);
        }
        let [alone, run] = all.map(|mut times| {
            times.sort_by(f64::total_cmp);
            (times[TURNS / 4], times[TURNS / 2])
        });
        let more = run.0 - alone.0;
        let mark = if more > BOUND { "  OVER" } else { "" };
        println!("{name:<12} {:<8} {:>8.2} {:>8.2}", "alone", alone.0, alone.1);
        println!(
            "{name:<12} {:<8} {:>8.2} {:>8.2} {more:>8.2} (bound {BOUND}){mark}",
            "run", run.0, run.1
        );
    }
    Ok(())
}

/// A command without variables that change OpenMP or the library. Threads that wait do not spin.
fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["OMP_", "GOMP_", "KMP_", "PACMAN_"].iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(&*name);
        }
    }
    let library = std::env::current_exe().expect("a running program has a file");
    // Cargo builds the library beside the benches.
    command.env("PACMAN_OMP_LIBRARY", library.with_file_name("libpacman_omp.so"));
    command.env("OMP_WAIT_POLICY", "passive").stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The milliseconds that the command and its children ran.
fn cpu_time(command: &mut Command) -> io::Result<f64> {
    let before = of_children();
    succeed(command)?;
    Ok(of_children() - before)
}

fn succeed(command: &mut Command) -> io::Result<()> {
    let status = command.status();
    let status = status.map_err(|error| io::Error::other(format!("{command:?}: {error}")))?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{command:?}: {status}"))),
    }
}

/// The milliseconds of all children that have ended.
fn of_children() -> f64 {
    // SAFETY: zeros are a valid value, and the call fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let milliseconds = |time: libc::timeval| time.tv_sec as f64 * 1e3 + time.tv_usec as f64 * 1e-3;
    milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)
}
