//! A directory for the recordings of one run's processes.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pacman_events::shown::shown_path;
use tempfile::TempDir;

use crate::error::{CliError, CliResult};

/// A directory of this process's own, gone with the value.
#[derive(Debug)]
pub struct Directory {
    _made: TempDir,
    path: PathBuf,
}

impl Directory {
    /// Makes one among the temporary files; a refusal names the place.
    pub fn new() -> CliResult<Directory> {
        Directory::somewhere(&|place| {
            // Only the user may read recordings, with any umask.
            let made = within(place, 0o700)?;
            Ok(Directory { path: made.path().to_owned(), _made: made })
        })
    }

    /// Makes one in which processes of any user can record, in memory if there is such a place, else among the
    /// temporary files. Its name is the key: nobody can list the directory that has it, and the name is in the
    /// environment of the processes that record.
    pub(super) fn drop_box() -> CliResult<Directory> {
        let drop_box = |place: &Path| {
            let made = within(place, 0o711)?;
            let mut inside = tempfile::Builder::new();
            let inside =
                inside.prefix("").rand_bytes(32).permissions(Permissions::from_mode(0o1733));
            let path = inside.tempdir_in(made.path())?.keep();
            // The umask does not apply.
            std::fs::set_permissions(made.path(), Permissions::from_mode(0o711))?;
            std::fs::set_permissions(&path, Permissions::from_mode(0o1733))?;
            Ok(Directory { _made: made, path })
        };
        drop_box(Path::new("/dev/shm")).or_else(|_| Directory::somewhere(&drop_box))
    }

    fn somewhere(make: &dyn Fn(&Path) -> io::Result<Directory>) -> CliResult<Directory> {
        let place = std::env::temp_dir();
        make(&place).map_err(|error| {
            CliError::Refused(format!(
                "cannot make a directory for recordings in {}: {error}; TMPDIR can name another \
                 place",
                shown_path(&place)
            ))
        })
    }

    /// The place of recordings.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn within(place: &Path, mode: u32) -> io::Result<TempDir> {
    let mut made = tempfile::Builder::new();
    made.prefix("pacman-run-").permissions(Permissions::from_mode(mode));
    made.tempdir_in(std::path::absolute(place)?)
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

    #[test]
    fn a_drop_box_is_found_by_its_name_only() {
        let directory = Directory::drop_box().unwrap();
        let (path, around) = (directory.path(), directory._made.path().to_owned());
        assert_eq!(path.parent(), Some(&*around));
        assert!(path.file_name().is_some_and(|name| name.len() == 32), "{path:?}");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode(&around), mode(path)), (0o711, 0o1733));
        drop(directory);
        assert!(!around.exists());
    }
}
