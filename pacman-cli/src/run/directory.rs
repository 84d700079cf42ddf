//! A directory for the recordings of one run's processes.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use pacman_events::shown::shown_path;
use tempfile::TempDir;

use crate::error::{CliError, CliResult};

/// A directory of this process's own, gone with the value.
#[derive(Debug)]
pub(crate) struct Directory(TempDir);

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
        let mut made = tempfile::Builder::new();
        // Only the user may read recordings, with any umask.
        made.prefix("pacman-run-").permissions(Permissions::from_mode(0o700));
        Ok(Directory(made.tempdir_in(std::path::absolute(place)?)?))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_its_owner_s_alone_and_goes_with_the_value() {
        let directory = Directory::new().unwrap();
        let (path, about) = (directory.path().to_owned(), directory.path().metadata().unwrap());
        assert_eq!(about.permissions().mode() & 0o777, 0o700);
        drop(directory);
        assert!(!path.exists());
    }
}
