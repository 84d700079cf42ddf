//! Whether another command has written a file since this one looked, so that neither takes the answer of the other.
//!
//! Ranks of a launcher that names none all get the same `-o`, as do commands in two terminals.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use pacman_core::atomic_write;

use crate::turn::Turn;

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

    /// Writes the file, at the same moment as other commands may.
    ///
    /// # Errors
    /// As [`atomic_write::write`]; `AlreadyExists` if the file is there and another one than before.
    pub(crate) fn write(&self, content: &[u8]) -> io::Result<()> {
        let taken = || {
            io::Error::new(
                io::ErrorKind::AlreadyExists,
                "another process has written it during this run",
            )
        };
        if fs::metadata(&self.path).is_ok_and(|about| !about.is_file()) {
            return atomic_write::write(&self.path, content);
        }
        if self.state.is_none() {
            return match atomic_write::write_new(&self.path, content) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(taken()),
                done => done,
            };
        }
        let turn = Turn::wait(&self.path);
        match state(&self.path) {
            now if !turn.is_made() && now.is_some() && now != self.state => Err(taken()),
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

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    /// Ranks end together.
    #[test]
    fn of_commands_that_end_at_once_one_writes_and_the_others_are_told() {
        let place = tempfile::tempdir().expect("a folder");
        for (round, there) in (0..20).flat_map(|round| [(round, false), (round, true)]) {
            let path = place.path().join(format!("{round}-{there}"));
            if there {
                fs::write(&path, "of an earlier run").expect("it is written");
            }
            let together = Barrier::new(8);
            let write = |number: usize| {
                let before = Before::now(&path).expect("it can be written");
                together.wait();
                before.write(number.to_string().as_bytes()).map(|()| number)
            };
            let ended: Vec<_> = thread::scope(|scope| {
                let all: Vec<_> = (0..8).map(|number| scope.spawn(move || write(number))).collect();
                all.into_iter().map(|one| one.join().expect("no panic")).collect()
            });
            let wrote: Vec<usize> = ended.iter().flatten().copied().collect();
            let [number] = wrote[..] else { panic!("{path:?}: {wrote:?} wrote") };
            assert_eq!(fs::read_to_string(&path).expect("text"), number.to_string());
            let told = ended.iter().filter_map(|end| end.as_ref().err());
            assert!(
                told.clone().count() == 7
                    && told.clone().all(|error| error.kind() == io::ErrorKind::AlreadyExists)
            );
        }
        assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 40, "no draft stays");
    }

    #[test]
    fn a_file_that_was_removed_during_the_run_is_written_again() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("report");
        fs::write(&path, "old").expect("it is written");
        let before = Before::now(&path).expect("it can be written");
        fs::remove_file(&path).expect("it was there");
        before.write(b"new").expect("nobody else wrote it");
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
    }
}
