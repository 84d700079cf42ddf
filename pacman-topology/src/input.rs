//! Reads files from other sources, up to a limit on their size.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The most bytes of a file of data that a user names: tables, counts, metrics, events, models.
pub const MOST_BYTES: u64 = 64 << 20;

/// The most bytes of a file from a kernel, or of a copy of one.
pub const MOST_SYSTEM_BYTES: u64 = 1 << 20;

/// A file from a kernel, or of a copy of one. In a copy there may be anything: a pipe would never end the reading.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is no regular file"));
    }
    Ok(file)
}

/// The text of a file of at most `most` bytes.
///
/// # Errors
/// [`ErrorKind::InvalidData`] if it is longer or not UTF-8; otherwise the system's error.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    text_of(File::open(path)?, most)
}

/// The text of an open file of at most `most` bytes.
///
/// # Errors
/// As [`read_text`].
pub fn text_of(from: impl Read, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes)?;
    let wrong = |why: String| Err(io::Error::new(ErrorKind::InvalidData, why));
    if bytes.len() as u64 > most {
        return wrong(format!("it has more than {} MiB", most >> 20));
    }
    String::from_utf8(bytes).or_else(|_| wrong("it is not text in UTF-8".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_the_limit() {
        assert_eq!(text_of(&b"four"[..], 4).unwrap(), "four");
        for (from, why) in [
            (Box::new(io::repeat(b'x')) as Box<dyn Read>, "it has more than 2 MiB"),
            (Box::new(&b"\xff"[..]), "it is not text in UTF-8"),
        ] {
            let error = text_of(from, 2 << 20).unwrap_err();
            assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidData, why.into()));
        }
        let endless = read_text(Path::new("/dev/zero"), MOST_SYSTEM_BYTES).unwrap_err();
        assert_eq!(endless.to_string(), "it has more than 1 MiB");
    }

    #[test]
    fn a_pipe_of_a_copied_tree_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let name = std::ffi::CString::new(pipe.as_os_str().as_encoded_bytes()).unwrap();
        // SAFETY: the name ends with a zero and outlives the call.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        for path in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
            let error = open_regular(path).unwrap_err();
            assert_eq!(error.to_string(), "it is no regular file", "{}", path.display());
        }
    }
}
