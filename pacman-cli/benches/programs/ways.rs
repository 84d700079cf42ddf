//! How a program is run.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pacman_regions::OverheadBudget;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Alone,
    /// Alone once more: the noise.
    Again,
    OneThread,
    Observed,
    /// Observed by the library alone: no command starts, and none writes a report.
    Preloaded,
    Adapted,
    /// Adapted from what the rounds before have found; the first round finds nothing. A team of as many threads as
    /// there are contexts is left open, so that the run may start with fewer.
    Remembered,
}

pub(crate) const WAYS: [Way; 6] =
    [Way::Alone, Way::Again, Way::OneThread, Way::Observed, Way::Adapted, Way::Remembered];

/// The ways without adaptation, and those in which only the library runs.
pub(crate) const OBSERVED: [Way; 3] = [Way::Alone, Way::Again, Way::Observed];
pub(crate) const PRELOADED: [Way; 3] = [Way::Alone, Way::Again, Way::Preloaded];

/// The wall time of a run, and the time that its threads had a processor.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) wall: Duration,
    pub(crate) processor: Duration,
}

impl Way {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Way::Alone => "alone",
            Way::Again => "alone again",
            Way::OneThread => "one thread",
            Way::Observed => "observed",
            Way::Preloaded => "library alone",
            Way::Adapted => "adapted",
            Way::Remembered => "adapted with memory",
        }
    }

    pub(crate) fn preloads(self) -> bool {
        !matches!(self, Way::Alone | Way::Again | Way::OneThread)
    }

    pub(crate) fn adapts(self) -> bool {
        matches!(self, Way::Adapted | Way::Remembered)
    }

    /// The times of a run with `options`, and with more of them where it adapts, and what the program printed, with a last line for its status.
    pub(crate) fn run(
        self,
        command: &str,
        threads: u32,
        (options, adaptation): (&str, &[&str]),
        scratch: &Path,
        memory: &Path,
    ) -> io::Result<(Times, Vec<u8>)> {
        let mut words = command.split_whitespace();
        let program = words
            .next()
            .ok_or_else(|| io::Error::other("cannot run an empty command line: give a program"))?;
        let by_command = self.preloads() && self != Way::Preloaded;
        let mut all = match by_command {
            true => Command::new(env!("CARGO_BIN_EXE_pacman-pmu")),
            false => Command::new(program),
        };
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if ["OMP_", "GOMP_", "KMP_", "PACMAN_"].iter().any(|prefix| name.starts_with(prefix)) {
                all.env_remove(&*name);
            }
        }
        // Cargo builds the library beside the benches.
        let library = std::env::current_exe()?.with_file_name("libpacman_omp.so");
        if self == Way::Preloaded {
            all.env("LD_PRELOAD", &library).env("PACMAN_OMP_DIR", memory);
            all.env("PACMAN_OMP_OVERHEAD", OverheadBudget::DEFAULT.to_string());
            if options.split_whitespace().any(|option| option == "--waits") {
                all.env("PACMAN_OMP_WAITS", "1");
            }
        }
        if by_command {
            all.args(["run", "-o"]).arg(scratch.join("report.json"));
            all.args(options.split_whitespace());
            if self.adapts() {
                all.arg("--adapt").args(adaptation);
            }
            match self {
                Way::Adapted => drop(all.arg("--no-memory")),
                Way::Remembered => drop(all.env("PACMAN_OMP_MEMORY", memory)),
                _ => {}
            }
            all.env("PACMAN_OMP_LIBRARY", &library);
            all.arg("--").arg(program);
        }
        all.args(words).stdin(Stdio::null());
        let contexts = std::thread::available_parallelism()?.get();
        match self {
            Way::OneThread => drop(all.env("OMP_NUM_THREADS", "1")),
            Way::Remembered if threads as usize == contexts => {}
            _ => drop(all.env("OMP_NUM_THREADS", threads.to_string())),
        }
        let (begin, before) = (Instant::now(), processor_time());
        let output = all.output();
        let times =
            Times { wall: begin.elapsed(), processor: processor_time().saturating_sub(before) };
        let output = output.map_err(|error| io::Error::other(format!("{all:?}: {error}")))?;
        // A program may end with a status of its own. Without one a signal ended it.
        match output.status.code() {
            Some(status) => {
                let mut text = output.stdout;
                text.extend(format!("exit status {status}").bytes());
                Ok((times, text))
            }
            None => Err(io::Error::other(format!(
                "{all:?}: {}: {}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            ))),
        }
    }
}

/// The processor time of all processes that have been waited for.
fn processor_time() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the system fills the structure, whose zeros are valid.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let of = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
    };
    of(usage.ru_utime) + of(usage.ru_stime)
}
