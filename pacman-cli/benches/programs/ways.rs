//! How a program is run.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Alone,
    /// Alone once more: the noise.
    Again,
    OneThread,
    Observed,
    Adapted,
    /// Adapted from what the rounds before have found; the first round finds nothing.
    Remembered,
}

pub(crate) const WAYS: [Way; 6] =
    [Way::Alone, Way::Again, Way::OneThread, Way::Observed, Way::Adapted, Way::Remembered];

impl Way {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Way::Alone => "alone",
            Way::Again => "alone again",
            Way::OneThread => "one thread",
            Way::Observed => "observed",
            Way::Adapted => "adapted",
            Way::Remembered => "adapted with memory",
        }
    }

    pub(crate) fn preloads(self) -> bool {
        !matches!(self, Way::Alone | Way::Again | Way::OneThread)
    }

    /// The time of a run, and what the program printed.
    pub(crate) fn run(
        self,
        command: &str,
        threads: u32,
        options: &str,
        scratch: &Path,
        memory: &Path,
    ) -> io::Result<(Duration, Vec<u8>)> {
        let mut words = command.split_whitespace();
        let program = words.next().ok_or_else(|| io::Error::other("a command line is empty"))?;
        let mut all = match self.preloads() {
            true => Command::new(env!("CARGO_BIN_EXE_pacman-pmu")),
            false => Command::new(program),
        };
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if ["OMP_", "GOMP_", "KMP_", "PACMAN_"].iter().any(|prefix| name.starts_with(prefix)) {
                all.env_remove(&*name);
            }
        }
        if self.preloads() {
            all.args(["run", "-o"]).arg(scratch.join("report.json"));
            all.args(options.split_whitespace());
            match self {
                Way::Adapted => drop(all.args(["--adapt", "--no-memory"])),
                Way::Remembered => drop(all.arg("--adapt").env("PACMAN_OMP_MEMORY", memory)),
                _ => {}
            }
            let library = std::env::current_exe()?;
            // Cargo builds the library beside the benches.
            all.env("PACMAN_OMP_LIBRARY", library.with_file_name("libpacman_omp.so"));
            all.arg("--").arg(program);
        }
        let threads = if self == Way::OneThread { 1 } else { threads };
        all.args(words).env("OMP_NUM_THREADS", threads.to_string()).stdin(Stdio::null());
        let begin = Instant::now();
        let output = all.output();
        let time = begin.elapsed();
        let output = output.map_err(|error| io::Error::other(format!("{all:?}: {error}")))?;
        match output.status.success() {
            true => Ok((time, output.stdout)),
            false => Err(io::Error::other(format!(
                "{all:?}: {}: {}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            ))),
        }
    }
}
