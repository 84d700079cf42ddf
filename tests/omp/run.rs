//! Runs of a program, alone and with the library.

use std::fmt;
use std::fs::{self, File};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pacman_regions::{Objective, Options};
use tempfile::TempDir;

use crate::catalogue::Program;
use crate::compilers::{Built, Flavour};

/// Far more than any program needs on a busy machine: only a deadlock takes longer. An emulator asks for more.
fn patience() -> Duration {
    let asked = std::env::var("PACMAN_OMP_PATIENCE").ok();
    Duration::from_secs(asked.map_or(90, |seconds| seconds.parse().expect("a number of seconds")))
}

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunMode {
    Alone,
    /// Observed: time only.
    Timed,
    /// Observed, with events.
    Counted,
    /// Adapted, without smaller teams.
    Adapted,
    /// With smaller teams where they pay.
    Narrowed,
    /// No team whose size the program leaves open gets more than half of the threads: at once, and not only where it
    /// pays.
    Reduced,
    /// Observed, and the waits inside of regions are timed.
    Waits,
    /// The same in a sample of the executions of each region: an overhead budget of next to nothing.
    Sampled,
}

impl RunMode {
    pub(crate) fn word(self) -> &'static str {
        match self {
            RunMode::Alone => "alone",
            RunMode::Timed => "timed",
            RunMode::Counted => "counted",
            RunMode::Adapted => "adapted",
            RunMode::Narrowed => "narrow",
            RunMode::Reduced => "reduced",
            RunMode::Waits => "waits",
            RunMode::Sampled => "sampled",
        }
    }

    pub(crate) fn adapts(self) -> bool {
        self == RunMode::Adapted || self.narrows()
    }

    pub(crate) fn narrows(self) -> bool {
        matches!(self, RunMode::Narrowed | RunMode::Reduced)
    }

    pub(crate) fn times_waits(self) -> bool {
        matches!(self, RunMode::Waits | RunMode::Sampled)
    }

    /// The events that it counts.
    pub(crate) fn events(self) -> &'static [&'static str] {
        if self == RunMode::Counted { &["task-clock", "page-faults"] } else { &[] }
    }
}

/// The visible results of a program.
#[derive(PartialEq, Eq)]
pub(crate) struct Outcome {
    status: Option<i32>,
    signal: Option<i32>,
    printed: String,
    complained: String,
}

impl Outcome {
    /// The lacks that the program named.
    pub(crate) fn lacks(&self) -> Option<&str> {
        self.printed.lines().find_map(|line| line.strip_prefix("skipped: "))
    }

    /// Whether the program found itself wrong, or crashed.
    pub(crate) fn says_not_so(&self) -> bool {
        self.signal.is_some() || self.printed.contains("not so: ")
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.status, self.signal) {
            (Some(status), _) => write!(f, "status {status}")?,
            (None, signal) => write!(f, "signal {}", signal.unwrap_or_default())?,
        }
        write!(f, ", {:?}", self.printed)?;
        if self.complained.is_empty() { Ok(()) } else { write!(f, ", {:?}", self.complained) }
    }
}

pub(crate) enum Ended {
    InTime(Outcome),
    /// It was killed; what it had printed.
    Hung(String),
}

impl Built {
    /// Runs it; `recordings` is where the library leaves what it has, unless alone.
    pub(crate) fn run(
        &self,
        program: &Program,
        flavour: Flavour,
        threads: u32,
        mode: RunMode,
        recordings: Option<&TempDir>,
    ) -> Ended {
        let mut command = Command::new(&self.path);
        for (name, _) in std::env::vars() {
            let ours = ["OMP_", "KMP_", "GOMP_", "PACMAN_"].iter().any(|it| name.starts_with(it));
            if ours || name == "LD_PRELOAD" {
                command.env_remove(name);
            }
        }
        command.env("OMP_NUM_THREADS", threads.to_string());
        // Threads of libomp that steal iterations from each other fail an assertion once in many thousand loops on a busy
        // machine, alone as well (llvm/llvm-project#86995 and #132164).
        command.env("KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE", "1");
        command.envs(program.variables.iter().copied());
        let mut preloaded = Vec::new();
        let runtime = self.libomp.as_ref().map(|path| path.to_string_lossy().into_owned());
        if flavour == Flavour::ClangByOmpt {
            // Where it is part of the program nothing comes before it.
            preloaded.extend(runtime.clone());
        }
        if let Some(folder) = recordings {
            let options = Options {
                directory: Some(folder.path().to_path_buf()),
                events: mode.events().join(","),
                adapt: mode.adapts().then_some(Objective::Time),
                narrow: mode.narrows(),
                max_threads: (mode == RunMode::Reduced).then_some((threads / 2).max(1)),
                waits: mode.times_waits(),
                overhead: (mode == RunMode::Sampled).then(|| "0.0001".parse().expect("a budget")),
                ..Options::default()
            };
            command.envs(options.variables());
            preloaded.push(self.library.to_string_lossy().into_owned());
        }
        if flavour == Flavour::GccOnLibomp {
            preloaded.push(runtime.expect("why_not was asked"));
        }
        command.env("LD_LIBRARY_PATH", self.folder.path());
        if !preloaded.is_empty() {
            command.env("LD_PRELOAD", preloaded.join(":"));
        }
        finish(command)
    }
}

/// Takes away what LLVM's runtime leaves of processes that end without it.
///
/// It makes a file with the process's number in its name, and takes it away when it ends: not where the
/// process ends by `_exit` or a signal, or was forked. A later process of that number stops at an
/// empty one by SIGBUS, and at one of zeros as if there were two runtimes.
pub(crate) fn forget_the_dead() {
    let Ok(files) = fs::read_dir("/dev/shm") else { return };
    for file in files.flatten() {
        let name = file.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix("__KMP_REGISTERED_LIB_"));
        let Some((process, _)) = process.and_then(|rest| rest.split_once('_')) else { continue };
        if !Path::new("/proc").join(process).exists() {
            // Another user's stays, and so it does for a process of that user.
            let _ = fs::remove_file(file.path());
        }
    }
}

/// Runs a command to its end, or for as long as there is patience.
fn finish(mut command: Command) -> Ended {
    forget_the_dead();
    // Files, because a child left behind would hold a pipe open.
    let folder = tempfile::tempdir().expect("a folder for output");
    let (printed, complained) = (folder.path().join("stdout"), folder.path().join("stderr"));
    let create = |path: &Path| File::create(path).expect("a file for output");
    command.stdin(Stdio::null()).stdout(create(&printed)).stderr(create(&complained));
    let mut child = command.process_group(0).spawn().expect("a program starts");
    let text = |path: &Path| {
        String::from_utf8_lossy(&fs::read(path).expect("the file was made")).into_owned()
    };
    if !ends_in_time(&child) {
        let group = i32::try_from(child.id()).expect("a process number");
        // SAFETY: the group is the child's own, which is not reaped yet.
        unsafe { libc::kill(-group, libc::SIGKILL) };
        child.wait().expect("it was killed");
        return Ended::Hung(format!("{:?} {:?}", text(&printed), text(&complained)));
    }
    let status = child.wait().expect("it ended");
    Ended::InTime(Outcome {
        status: status.code(),
        signal: status.signal(),
        printed: text(&printed),
        complained: text(&complained),
    })
}

/// Waits for the end of a child that it leaves to be reaped.
fn ends_in_time(child: &Child) -> bool {
    // SAFETY: the call takes a process number and flags.
    let number = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id(), 0) };
    let number = i32::try_from(number).expect("a descriptor");
    assert!(number >= 0, "pidfd_open: {}", std::io::Error::last_os_error());
    // SAFETY: the call has just made it for us.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    let mut wait = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let patience = i32::try_from(patience().as_millis()).expect("it is short");
    // SAFETY: one entry, which lives during the call.
    unsafe { libc::poll(&mut wait, 1, patience) == 1 }
}
