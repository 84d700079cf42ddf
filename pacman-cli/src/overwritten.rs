//! Whether another command has written a file since this one looked, so that neither takes the answer of the other.
//!
//! Ranks of a launcher that names none all get the same `-o`, as do commands in two terminals.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use pacman_core::atomic_write;

/// A file as it was.
#[derive(Debug)]
pub(crate) struct Before {
    path: PathBuf,
    /// `None` if there was no regular file.
    state: Option<State>,
}

impl Before {
    /// The file as it is now.
    ///
    /// # Errors
    /// As [`atomic_write::check`], so that it is known before the run.
    pub(crate) fn now(path: &Path) -> io::Result<Before> {
        atomic_write::check(path)?;
        Ok(Before { path: path.to_owned(), state: state(path) })
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// As [`atomic_write::write`]; `AlreadyExists` if the file is there and another one than before.
    pub(crate) fn write(&self, content: &[u8]) -> io::Result<()> {
        match state(&self.path) {
            Some(now) if self.state != Some(now) => Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "another process has written it during this run",
            )),
            _ => atomic_write::write(&self.path, content),
        }
    }
}

/// Device, inode, size, and seconds and nanoseconds of the last change.
type State = (u64, u64, u64, i64, i64);

fn state(path: &Path) -> Option<State> {
    let file = fs::metadata(path).ok().filter(Metadata::is_file)?;
    Some((file.dev(), file.ino(), file.size(), file.mtime(), file.mtime_nsec()))
}
