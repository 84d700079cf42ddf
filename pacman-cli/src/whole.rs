//! Files that are written as a whole: who reads one finds what was there before, or all of the new.
//!
//! That takes a second file beside it, for a moment. Where none can be (a directory that is not one's
//! own, a file that is mounted by itself, a name that is too long already), a file that is there is
//! written where it is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

/// Whether [`write()`] can write there, as far as that can be known without writing.
pub(crate) fn check(path: &Path) -> io::Result<()> {
    let place = Place::of(path)?;
    let Some(unfinished) = place.unfinished() else { return Ok(()) };
    match File::create(&unfinished).and_then(|_| fs::remove_file(&unfinished)) {
        Err(error) if place.there.is_some() && cannot_be_beside(&error) => Ok(()),
        done => done,
    }
}

/// Writes all of `content`, or leaves the file as it is; a link stays one, and a device or a
/// pipe what it is.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let place = Place::of(path)?;
    let Some(unfinished) = place.unfinished() else {
        return OpenOptions::new().write(true).open(&place.path)?.write_all(content);
    };
    let done = fs::write(&unfinished, content)
        .and_then(|()| match &place.there {
            Some(about) => fs::set_permissions(&unfinished, about.permissions()),
            None => Ok(()),
        })
        .and_then(|()| fs::rename(&unfinished, &place.path));
    if done.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    match done {
        Err(error) if place.there.is_some() && cannot_be_beside(&error) => {
            fs::write(&place.path, content)
        }
        done => done,
    }
}

/// Whether it is the second file that is in the way, and not what is written: a full disk must not
/// cost what was there.
fn cannot_be_beside(error: &io::Error) -> bool {
    use libc::{EACCES, EBUSY, ENAMETOOLONG, EPERM, EROFS};
    error
        .raw_os_error()
        .is_some_and(|code| [EACCES, EBUSY, ENAMETOOLONG, EPERM, EROFS].contains(&code))
}

/// Whether two names lead to one file: the second written would be all that is left.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(|path| Place::of(path).map(|place| place.path));
    matches!((one, other), (Ok(one), Ok(other)) if one == other)
}

/// Where a name leads.
struct Place {
    path: PathBuf,
    there: Option<fs::Metadata>,
}

impl Place {
    /// Refuses a directory, and a file that may not be written, which renaming would not mind.
    fn of(path: &Path) -> io::Result<Place> {
        match fs::canonicalize(path) {
            Ok(path) => {
                let about = fs::metadata(&path)?;
                if about.is_file() {
                    OpenOptions::new().write(true).open(&path)?;
                } else if about.is_dir() {
                    return Err(io::Error::from_raw_os_error(libc::EISDIR));
                }
                Ok(Place { path, there: Some(about) })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let beside = path.parent().unwrap_or(Path::new(""));
                // A link that leads nowhere yet.
                let path = fs::read_link(path).map_or(path.to_owned(), |to| beside.join(to));
                Ok(Place { path, there: None })
            }
            Err(error) => Err(error),
        }
    }

    /// A name of this process's own beside the file, so that the renaming stays on one file
    /// system; none for what is no file, whose place must not be taken by one.
    fn unfinished(&self) -> Option<PathBuf> {
        if self.there.as_ref().is_some_and(|about| !about.is_file()) {
            return None;
        }
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{}", process::id()));
        Some(name.into())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::io::Read;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    use super::*;
    use crate::run::directory::Directory;

    #[test]
    fn links_and_permissions_stay() {
        let place = Directory::new().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        symlink("file", &link).unwrap();
        check(&link).unwrap();
        assert!(is_same(&link, &file) && !is_same(&link, &place.path().join("other")));
        assert!(!file.exists(), "looking makes nothing");
        write(&link, b"first").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        write(&link, b"second").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"second");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "nothing unfinished stays");
    }

    #[test]
    fn a_file_that_nothing_can_be_beside_is_written_where_it_is() {
        let place = Directory::new().unwrap();
        let longest = place.path().join("x".repeat(255));
        assert_eq!(check(&longest).unwrap_err().raw_os_error(), Some(libc::ENAMETOOLONG));
        fs::write(&longest, b"much longer than what comes").unwrap();
        check(&longest).unwrap();
        write(&longest, b"new").unwrap();
        assert_eq!(fs::read(&longest).unwrap(), b"new");
    }

    #[test]
    fn a_pipe_is_written_to_and_stays_a_pipe() {
        let place = Directory::new().unwrap();
        let path = place.path().join("pipe");
        let name = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: a zero closes the name.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        check(&path).unwrap();
        let reader = {
            let path = path.clone();
            std::thread::spawn(move || {
                let mut text = String::new();
                File::open(path).unwrap().read_to_string(&mut text).map(|_| text)
            })
        };
        write(&path, b"through").unwrap();
        assert_eq!(reader.join().unwrap().unwrap(), "through");
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
    }

    #[test]
    fn directories_are_refused_before_anything_is_written() {
        let place = Directory::new().unwrap();
        assert_eq!(check(place.path()).unwrap_err().raw_os_error(), Some(libc::EISDIR));
        let within = place.path().join("missing/file");
        assert_eq!(check(&within).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(write(&within, b"").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
