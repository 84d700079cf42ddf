//! The file in memory through which adapted programs of one user share the machine.
//!
//! Every run with `--share` holds a shared lock on it. The last one removes it. A run whose command was
//! killed leaves the file, and a later run removes it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use pacman_events::shown::shown_path;
use pacman_regions::sharing::Table;

/// The directory of files in memory.
const DIRECTORY: &str = "/dev/shm";

/// The open file. The run holds it to its end.
#[derive(Debug)]
pub(super) struct Shared {
    path: PathBuf,
    file: File,
}

impl Shared {
    /// Opens the user's file, or makes it.
    ///
    /// # Errors
    /// A line that says what the system refused.
    pub(super) fn open() -> Result<Shared, String> {
        // SAFETY: takes nothing.
        let user = unsafe { libc::geteuid() };
        let path = Path::new(DIRECTORY).join(format!("pacman-share-{user}"));
        let file = open(&path, user).map_err(|why| {
            format!(
                "--share: cannot use {}: {why}; remove it if it is not in use",
                shown_path(&path)
            )
        })?;
        Ok(Shared { path, file })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Nobody has it any more, and whoever opens it now waits for the lock.
        if lock(&self.file, libc::LOCK_EX | libc::LOCK_NB).is_ok() {
            // A file that stays is used by the next run.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn open(path: &Path, user: u32) -> io::Result<File> {
    loop {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
        // A run that ends holds the lock while it removes the file.
        lock(&file, libc::LOCK_SH)?;
        let about = file.metadata()?;
        if !about.is_file() || about.uid() != user || about.mode() & 0o077 != 0 {
            return Err(io::Error::other("it is not a file that only this user may access"));
        }
        if about.nlink() == 0 {
            continue;
        }
        if about.len() == 0 {
            file.set_len(Table::BYTES as u64)?;
        }
        return Ok(file);
    }
}

fn lock(file: &File, how: libc::c_int) -> io::Result<()> {
    loop {
        // SAFETY: the descriptor is open.
        if unsafe { libc::flock(file.as_raw_fd(), how) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
