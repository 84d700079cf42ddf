//! Writes files as a whole: a reader finds either all of the old content or all of the new.
//!
//! The new content is a draft beside the file until it is renamed. The draft has a random name and
//! is made with O_CREAT | O_EXCL, so that it follows no link and opens no existing file. So another
//! user of the directory cannot prepare a trap. If a draft is impossible (a directory without write
//! access, a file that is a mount point), an existing file is written in place.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Whether [`write()`] can write there. Some obstacles show only during the write.
///
/// # Errors
/// As [`write()`].
pub fn check(path: &Path) -> io::Result<()> {
    let place = Place::of(path)?;
    match place.draft() {
        Some(Err(error)) if !place.can_be_in_place(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Writes all of `content`, or leaves the file as it is. Links, devices and pipes are kept.
///
/// # Errors
/// The system's error; `IsADirectory` for a directory.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let place = Place::of(path)?;
    let done = match place.draft() {
        None => return place.open()?.write_all(content),
        Some(draft) => draft.and_then(|draft| finish(draft, &place.path, content)),
    };
    match done {
        Err(error) if place.can_be_in_place(&error) => {
            let mut file = place.open()?;
            file.set_len(0)?;
            file.write_all(content)
        }
        done => done,
    }
}

/// Writes a file that is not there yet, as a whole.
///
/// # Errors
/// The system's error; `AlreadyExists` if a file is there by now, which stays.
pub fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let place = Place::of(path)?;
    if place.there.is_some() {
        return Err(io::Error::from_raw_os_error(libc::EEXIST));
    }
    let directory = place.path.parent().unwrap_or(Path::new(""));
    let mut draft = Draft::within(directory, None)?;
    draft.file.write_all(content)?;
    match fs::hard_link(&draft.path.0, &place.path) {
        // A file system without links, such as FAT.
        Err(error)
            if [libc::EPERM, libc::EOPNOTSUPP].contains(&error.raw_os_error().unwrap_or(0)) =>
        {
            finish(draft, &place.path, &[])
        }
        done => done,
    }
}

/// Writes a file whose name others can guess: it replaces any file of that name, and does not
/// follow a link.
///
/// # Errors
/// The system's error; then no file is left behind.
pub fn write_in(directory: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    finish(Draft::within(directory, None)?, &directory.join(name), content)
}

/// Whether two names lead to one file. If so, the second write would overwrite the first.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(|path| Place::of(path).map(|place| place.path));
    matches!((one, other), (Ok(one), Ok(other)) if one == other)
}

fn finish(mut draft: Draft, path: &Path, content: &[u8]) -> io::Result<()> {
    draft.file.write_all(content)?;
    fs::rename(&draft.path.0, path)?;
    // The draft has another name now.
    draft.path.0.clear();
    Ok(())
}

/// A file with an unguessable name, which is removed when dropped.
///
/// Crate `tempfile` cannot be used, because its random names need thread-local storage. Reports are
/// also written by threads that have lost theirs.
struct Draft {
    file: File,
    path: Unfinished,
}

/// The name of a draft, which is removed when dropped; empty after the draft was renamed.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // The caller reports the first failure.
            let _ = fs::remove_file(&self.0);
        }
    }
}

impl Draft {
    /// Creates a draft with the permissions of the file that it replaces, or those of a new file.
    /// It has them before it has content.
    fn within(directory: &Path, replaced: Option<&fs::Metadata>) -> io::Result<Draft> {
        let mode = if replaced.is_some() { 0o600 } else { 0o666 };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode).custom_flags(libc::O_NOFOLLOW);
        let mut tries = 0;
        let draft = loop {
            let path = directory.join(format!(".pacman-{:016x}.partial", random()));
            match options.open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => {
                    tries += 1;
                }
                opened => break Draft { file: opened?, path: Unfinished(path) },
            }
        };
        if let Some(about) = replaced {
            draft.file.set_permissions(about.permissions())?;
        }
        Ok(draft)
    }
}

/// Number of names to try before giving up.
const TRIES: u32 = 64;

/// A random number, so that nobody can guess the name. Without a random number of the kernel it
/// comes from the clock; if the name is taken, the kernel refuses it.
fn random() -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: at most as many bytes are written as the array has.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), 8, libc::GRND_NONBLOCK) };
    if got == 8 {
        return u64::from_ne_bytes(bytes);
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_nanos() as u64) ^ u64::from(std::process::id()) << 32
}

/// The file behind a name.
struct Place {
    path: PathBuf,
    there: Option<fs::Metadata>,
}

impl Place {
    /// Refuses a directory, and a file that may not be written: renaming would not notice that.
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
                // A pipe behind /dev/stdout has no path of its own.
                if let Ok(about) = fs::metadata(path) {
                    return Ok(Place { path: path.to_owned(), there: Some(about) });
                }
                let beside = path.parent().unwrap_or(Path::new(""));
                // A link without a target yet.
                let path = fs::read_link(path).map_or(path.to_owned(), |to| beside.join(to));
                Ok(Place { path, there: None })
            }
            Err(error) => Err(error),
        }
    }

    /// A draft beside the file, so that the renaming stays on one file system. `None` for a device
    /// or pipe, which a file must not replace.
    fn draft(&self) -> Option<io::Result<Draft>> {
        if self.there.as_ref().is_some_and(|about| !about.is_file()) {
            return None;
        }
        let directory = self.path.parent().unwrap_or(Path::new(""));
        Some(Draft::within(directory, self.there.as_ref()))
    }

    /// Opens the existing file, and never makes one. The path of a regular file has its links
    /// resolved already, so a link there now is newer and refused.
    fn open(&self) -> io::Result<File> {
        let regular = self.there.as_ref().is_some_and(fs::Metadata::is_file);
        let flags = if regular { libc::O_NOFOLLOW } else { 0 };
        OpenOptions::new().write(true).custom_flags(flags).open(&self.path)
    }

    /// Whether only the draft failed, so that writing in place may work. After an error such as a
    /// full disk it must not be tried: the old content would be lost.
    fn can_be_in_place(&self, error: &io::Error) -> bool {
        use libc::{EACCES, EBUSY, EPERM, EROFS};
        let in_the_way = |code| [EACCES, EBUSY, EPERM, EROFS].contains(&code);
        self.there.is_some() && error.raw_os_error().is_some_and(in_the_way)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs::Permissions;
    use std::io::Read;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_and_permissions_stay() {
        let place = tempfile::tempdir().unwrap();
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

    /// Runs on a thread of a user who may write to public files, but to no directory of the test.
    fn as_nobody<T: Send>(run: impl FnOnce() -> T + Send) -> T {
        let part = || {
            // SAFETY: the call itself changes only this thread, which ends afterwards.
            let done = unsafe { libc::syscall(libc::SYS_setresuid, -1, 65_534, -1) };
            assert!(done == 0 || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM));
            run()
        };
        std::thread::scope(|scope| scope.spawn(part).join().unwrap())
    }

    #[test]
    fn a_file_that_nothing_can_be_beside_is_written_where_it_is() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        fs::write(&file, b"much longer than what comes").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
        fs::set_permissions(place.path(), Permissions::from_mode(0o555)).unwrap();
        as_nobody(|| {
            check(&file).unwrap();
            write(&file, b"new").unwrap();
            let new = check(&place.path().join("new")).unwrap_err();
            assert_eq!(new.raw_os_error(), Some(libc::EACCES));
        });
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn links_at_names_that_could_be_guessed_lead_nowhere() {
        let place = tempfile::tempdir().unwrap();
        let (file, victim) = (place.path().join("file"), place.path().join("victim"));
        fs::write(&file, b"old").unwrap();
        fs::write(&victim, b"the user's").unwrap();
        // SAFETY: neither call has an argument.
        let numbers = unsafe { [libc::getpid(), libc::gettid()] };
        for name in numbers.iter().flat_map(|n| [format!("file.{n}"), format!("file.{n}.part")]) {
            let _ = symlink("victim", place.path().join(name));
        }
        let links = fs::read_dir(place.path()).unwrap().count();
        check(&file).unwrap();
        write(&file, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::read(&victim).unwrap(), b"the user's");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), links, "nobody's file was deleted");

        symlink("victim", place.path().join("1-1.json")).unwrap();
        symlink("victim", place.path().join("1-1.json.partial")).unwrap();
        write_in(place.path(), "1-1.json", b"report").unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"the user's");
        let report = place.path().join("1-1.json");
        assert!(!fs::symlink_metadata(&report).unwrap().is_symlink());
        assert_eq!(fs::read(&report).unwrap(), b"report");
    }

    #[test]
    fn new_files_get_what_the_umask_leaves() {
        let place = tempfile::tempdir().unwrap();
        let (ours, theirs) = (place.path().join("ours"), place.path().join("theirs"));
        write(&ours, b"").unwrap();
        fs::write(&theirs, b"").unwrap();
        let [ours, theirs] = [ours, theirs].map(|path| fs::metadata(path).unwrap().permissions());
        assert_eq!(ours, theirs);
    }

    #[test]
    fn a_pipe_is_written_to_and_stays_a_pipe() {
        let place = tempfile::tempdir().unwrap();
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
        let place = tempfile::tempdir().unwrap();
        assert_eq!(check(place.path()).unwrap_err().raw_os_error(), Some(libc::EISDIR));
        let within = place.path().join("missing/file");
        assert_eq!(check(&within).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(write(&within, b"").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
