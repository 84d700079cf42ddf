//! The directory in which the processes of one run leave their recordings.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pacman_regions::Recording;

/// A directory of this process's own, gone with the value.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
}

/// What a run left.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// By process, each with the time at which the process began at the latest.
    pub(super) recordings: Vec<(Recording, SystemTime)>,
    /// Lines about files that are no recordings.
    pub(super) wrong: Vec<String>,
}

impl Directory {
    /// Makes one among the temporary files; a refusal names the place.
    pub(crate) fn new() -> Result<Directory, String> {
        let place = std::env::temp_dir();
        Directory::within(&place).map_err(|error| {
            format!(
                "cannot make a directory for recordings in {}: {error}; TMPDIR can name another \
                 place",
                place.display()
            )
        })
    }

    fn within(place: &Path) -> io::Result<Directory> {
        let pattern = std::path::absolute(place.join("pacman-run-XXXXXX"))?;
        let mut name = CString::new(pattern.as_os_str().as_bytes())?.into_bytes_with_nul();
        // SAFETY: a zero closes the name, which the call changes in place.
        if unsafe { libc::mkdtemp(name.as_mut_ptr().cast()) }.is_null() {
            return Err(io::Error::last_os_error());
        }
        name.pop();
        Ok(Directory { path: std::ffi::OsString::from_vec(name).into() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What is there now.
    pub(super) fn found(&self) -> io::Result<Found> {
        let (recordings, mut wrong) = Recording::found_in(&self.path)?;
        let mut written: Vec<(u32, SystemTime)> = Vec::new();
        for entry in std::fs::read_dir(&self.path)? {
            let entry = entry?;
            let path = entry.path();
            if path.extension() == Some(OsStr::new("partial")) {
                wrong.push(format!("{}: was not written to its end", path.display()));
            }
            let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or("");
            let pid = stem.split('-').next().and_then(|pid| pid.parse().ok());
            if let (Some(pid), Ok(time)) = (pid, entry.metadata()?.modified()) {
                written.push((pid, time));
            }
        }
        let began = |recording: &Recording| {
            // A process that replaced itself left several files: the earliest is on the safe side.
            let of_process = written.iter().filter(|(pid, _)| *pid == recording.process.pid);
            let earliest = of_process.map(|(_, time)| *time).min();
            let life = Duration::try_from_secs_f64(recording.process.seconds).unwrap_or_default();
            earliest.and_then(|time| time.checked_sub(life)).unwrap_or(SystemTime::UNIX_EPOCH)
        };
        let recordings = recordings
            .into_iter()
            .map(|recording| {
                let began = began(&recording);
                (recording, began)
            })
            .collect();
        Ok(Found { recordings, wrong })
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Nobody else knows of it; what cannot be removed is a temporary file like others.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
