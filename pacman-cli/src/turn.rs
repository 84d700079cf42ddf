//! Commands that write one file take turns, so that none replaces the rows or the report of another.
//!
//! The lock is on the file itself and ends with its holder. It is none of `flock`'s, which a script may
//! hold around the command.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::system::file_lock;

/// Nobody else adds to the file while this value lives.
#[derive(Debug)]
pub(crate) struct Turn<'p> {
    path: &'p Path,
    /// `None` where the file cannot be locked: then nobody is waited for.
    file: Option<File>,
    /// The file was made for the lock.
    is_made: bool,
}

impl Turn<'_> {
    /// Waits for those that add to the file now.
    pub(crate) fn wait(path: &Path) -> Turn<'_> {
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true);
            let made = options.clone().create_new(true).open(path);
            let is_made = made.is_ok();
            let file = made.or_else(|_| options.open(path)).ok();
            let file =
                file.filter(|file| file_lock(file, libc::F_OFD_SETLKW, libc::F_WRLCK).is_ok());
            let turn = Turn { path, file, is_made };
            // The one before may have replaced the file.
            if turn.file.is_none() || turn.is_of_path() {
                return turn;
            }
        }
    }

    /// Whether there was no file before.
    pub(crate) fn is_made(&self) -> bool {
        self.is_made
    }

    fn is_of_path(&self) -> bool {
        let own = self.file.as_ref().and_then(|file| file.metadata().ok());
        let there = fs::metadata(self.path).ok();
        let number = |file: fs::Metadata| (file.dev(), file.ino());
        own.map(number) == there.map(number)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // A file that nothing was written to was not there before. One that cannot be replaced is written in place.
        let is_empty = fs::metadata(self.path).is_ok_and(|file| file.len() == 0);
        if self.is_made && is_empty && self.is_of_path() {
            let _ = fs::remove_file(self.path);
        }
    }
}
