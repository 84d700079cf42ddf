//! A directory for what one run leaves behind.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{env, process};

/// For this user alone, and gone with all that is in it when dropped.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn new(number: usize) -> io::Result<Directory> {
        let path = env::temp_dir().join(format!("pacman-record-{}-{number}", process::id()));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Directory(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
