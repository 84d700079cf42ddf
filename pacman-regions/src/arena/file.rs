//! Arenas as files of a directory.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::reader::read;
use crate::Recording;

/// The file name extension of recordings.
pub const EXTENSION: &str = "regions";

/// The most bytes to read from a file.
const LARGEST: u64 = 4 << 30;

impl Recording {
    /// Reads all recordings in `directory`, in order of process, and a line for each file that is not a
    /// recording.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn found_in(directory: &Path) -> io::Result<(Vec<Recording>, Vec<String>)> {
        let (mut found, mut wrong) = (Vec::new(), Vec::new());
        let mut paths: Vec<PathBuf> = std::fs::read_dir(directory)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<_>>()?;
        paths.retain(|path| path.extension() == Some(OsStr::new(EXTENSION)));
        paths.sort();
        for path in paths {
            match in_file(&path) {
                Ok(recordings) => found.extend(recordings),
                Err(problem) => wrong.push(format!("{}: {problem}", path.display())),
            }
        }
        found.sort_by_key(|recording| recording.process.pid);
        Ok((found, wrong))
    }
}

fn in_file(path: &Path) -> Result<Vec<Recording>, String> {
    let words = |error: io::Error| error.to_string();
    // Do not follow a link, and do not wait for a writer of a pipe.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file = File::options().read(true).custom_flags(flags).open(path).map_err(words)?;
    let about = file.metadata().map_err(words)?;
    if !about.is_file() {
        return Err("is not a regular file".into());
    }
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).map_err(words)?;
    read(&bytes)
}
