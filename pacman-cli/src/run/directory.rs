//! A directory for what the processes of one run leave.

use crate::error::{CliError, CliResult};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use pacman_events::shown::shown_path;

/// A directory of this process's own, gone with the value.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    /// Makes one among the temporary files; a refusal names the place.
    pub(crate) fn new() -> CliResult<Directory> {
        let place = std::env::temp_dir();
        Directory::within(&place).map_err(|error| {
            CliError::Refused(format!(
                "cannot make a directory for recordings in {}: {error}; TMPDIR can name another \
                 place",
                shown_path(&place)
            ))
        })
    }

    /// Makes one in memory if there is such a place, else among the temporary files.
    pub(super) fn in_memory() -> CliResult<Directory> {
        Directory::within(Path::new("/dev/shm")).or_else(|_| Directory::new())
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
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Nobody else knows of it; what cannot be removed is a temporary file like others.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
