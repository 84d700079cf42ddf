//! The directory in which adaptation's measurements are kept from run to run.

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pacman_adapt::Evidence;
use pacman_core::atomic_write;
use pacman_events::shown::shown_path;
use pacman_regions::{ProgramKey, ProgramMemory, RegionMemory, StartMemory};

/// The most files. A program has another one after each build, and the oldest go first.
const MOST_FILES: usize = 256;
/// The file whose lock one writer has at a time.
const LOCK: &str = ".lock";

/// This command's cache, in the directory that XDG_CACHE_HOME or HOME gives.
pub(crate) fn cache() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let all = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(all.join("pacman-pmu"))
}

/// The directory of memories.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    directory: PathBuf,
}

/// A file of the directory.
pub(super) struct Kept {
    pub(super) path: PathBuf,
    /// The time of the latest change.
    pub(super) changed: SystemTime,
    /// Its content, or the line that says what is wrong with it.
    pub(super) memory: Result<ProgramMemory, String>,
}

impl Store {
    /// The user's: PACMAN_OMP_MEMORY, or in the cache directory that XDG_CACHE_HOME or HOME gives. `None`
    /// without one, and if PACMAN_OMP_MEMORY is empty.
    pub(crate) fn of_user() -> Option<Store> {
        if let Some(named) = std::env::var_os("PACMAN_OMP_MEMORY") {
            let directory = std::path::absolute(named).ok()?;
            return Some(Store { directory });
        }
        Some(Store { directory: cache()?.join("memory") })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Checks that nobody else may write there.
    ///
    /// # Errors
    /// A line that says who may.
    pub(crate) fn check(&self) -> Result<(), String> {
        ProgramMemory::check(&self.directory)
    }

    /// The memory of a program; an empty one if there is none.
    ///
    /// # Errors
    /// A line that says what is wrong with the file or its directory.
    pub(crate) fn of(&self, of: &ProgramKey) -> Result<ProgramMemory, String> {
        ProgramMemory::read_in(&self.directory, of)
    }

    /// Whether a file may be the memory of a program with that build ID. Few programs have one, and the key of a program
    /// takes the topology, which is a hundred files.
    pub(crate) fn may_have(&self, build_id: &str) -> bool {
        let build_id = build_id.get(..16).unwrap_or(build_id);
        let files = self.files().unwrap_or_default();
        let mut names = files.iter().filter_map(|(path, _)| path.file_name()?.to_str());
        names.any(|name| name.contains(build_id))
    }

    /// Adds what a run has measured of a program. Other runs that add at the same time wait.
    ///
    /// # Errors
    /// A line that says what the system refused; the old file is then as it was.
    pub(crate) fn add(
        &self,
        of: &ProgramKey,
        regions: Vec<RegionMemory>,
        start: Option<StartMemory>,
    ) -> Result<(), String> {
        let refused = |error: io::Error| {
            format!(
                "cannot keep what adaptation measured in {}: {error}; --no-memory does without",
                shown_path(&self.directory)
            )
        };
        self.check()?;
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory).map_err(refused)?;
        let _alone = self.lock().map_err(refused)?;
        // The library has said what is wrong with a damaged file, and this replaces it.
        let known = ProgramMemory::read_in(&self.directory, of);
        let mut memory = known.unwrap_or_else(|_| ProgramMemory::new(of.clone()));
        regions.into_iter().for_each(|region| memory.add(region, Evidence::are_alike));
        start.into_iter().for_each(|start| memory.add_start(start));
        let (name, text) = (of.file_name(), memory.to_text());
        atomic_write::write_in(&self.directory, &name, text.as_bytes()).map_err(refused)?;
        self.remove_oldest().map_err(refused)
    }

    /// Waits until no other process writes. The lock goes with the file.
    fn lock(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.custom_flags(libc::O_NOFOLLOW).open(self.directory.join(LOCK))?;
        loop {
            // SAFETY: the descriptor is open.
            if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } == 0 {
                return Ok(file);
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }

    fn remove_oldest(&self) -> io::Result<()> {
        let mut files = self.files()?;
        files.sort_by_key(|(_, changed)| std::cmp::Reverse(*changed));
        files.iter().skip(MOST_FILES).try_for_each(|(path, _)| fs::remove_file(path))
    }

    /// The files with their times of change; none where nothing was ever kept.
    fn files(&self) -> io::Result<Vec<(PathBuf, SystemTime)>> {
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            let data = entry.metadata()?;
            if data.is_file() && path.extension() == Some(OsStr::new("json")) {
                files.push((path, data.modified()?));
            }
        }
        Ok(files)
    }

    /// The kept memories, the latest first.
    pub(super) fn all(&self) -> io::Result<Vec<Kept>> {
        let mut files = self.files()?;
        files.sort_by_key(|(_, changed)| std::cmp::Reverse(*changed));
        let kept = files.into_iter().filter_map(|(path, changed)| {
            // Another process may have removed it meanwhile.
            let memory = ProgramMemory::read(&path).transpose()?;
            Some(Kept { path, changed, memory })
        });
        Ok(kept.collect())
    }
}
