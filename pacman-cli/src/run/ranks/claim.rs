//! A file that a process has for as long as it lives.
//!
//! A lock of the kernel's ends with its holder, however it ends, and network file systems pass it on to
//! other hosts. Some file systems have no locks. There the file names the process, and only processes of
//! the same host know whether it lives.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use pacman_topology::process_files;
use serde::{Deserialize, Serialize};

use crate::run::endings::start_ticks;
use crate::system;

/// The file, and with it the lock.
#[derive(Debug)]
pub(super) struct Claim {
    file: File,
    /// Whether the kernel holds a lock. Without one, others must ask for the process.
    pub(super) is_locked: bool,
}

/// Another process's hold on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// No process has it.
    None,
    /// A process has it.
    Held,
    /// There is no lock, and the process is on another host.
    Unknown,
}

/// The process that wrote a file, and what it writes in it.
#[derive(Debug, Serialize, Deserialize)]
struct Owner<T> {
    /// Of the boot and the PID namespace.
    place: String,
    pid: u32,
    /// Clock ticks between the boot and the start of the process.
    started: Option<u64>,
    content: T,
}

impl Claim {
    /// Takes the file, which is made if it is not there; the error says who has it.
    pub(super) fn take(path: &Path) -> io::Result<Result<Claim, Hold>> {
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
            let (file, is_new) = match options.create_new(true).open(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    match options.create_new(false).open(path) {
                        // Its last holder has just removed it.
                        Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                        opened => (opened?, false),
                    }
                }
                made => (made?, true),
            };
            match lock(&file, libc::F_OFD_SETLK) {
                Ok(()) if is_at(&file, path)? => {
                    return Ok(Ok(Claim { file, is_locked: true }));
                }
                Ok(()) => {}
                Err(error) if is_held(&error) => return Ok(Err(Hold::Held)),
                Err(error) if !has_no_locks(&error) => return Err(error),
                Err(_) if is_new => return Ok(Ok(Claim { file, is_locked: false })),
                Err(_) => match hold_of_owner(&file) {
                    Hold::None => match fs::remove_file(path) {
                        Err(error) if error.kind() != io::ErrorKind::NotFound => {
                            return Err(error);
                        }
                        _ => {}
                    },
                    held => return Ok(Err(held)),
                },
            }
        }
    }

    /// Waits until no other process has the file, and takes it; `None` if the file system has no locks.
    pub(super) fn wait(path: &Path) -> io::Result<Option<Claim>> {
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).mode(0o600);
            let file = options.custom_flags(libc::O_NOFOLLOW).open(path)?;
            match lock(&file, libc::F_OFD_SETLKW) {
                Ok(()) if is_at(&file, path)? => {
                    return Ok(Some(Claim { file, is_locked: true }));
                }
                Ok(()) => {}
                Err(error) if has_no_locks(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes what other processes read of the file.
    pub(super) fn say<T: Serialize>(&mut self, content: T) -> io::Result<()> {
        let pid = std::process::id();
        let owner = Owner { place: place(), pid, started: start_ticks(pid), content };
        let text = serde_json::to_vec(&owner)?;
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(&text)
    }
}

/// The hold of another process on a file, and what it wrote in it; `None` without the file.
pub(super) fn seen<T: for<'a> Deserialize<'a>>(
    path: &Path,
) -> io::Result<Option<(Hold, Option<T>)>> {
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(libc::O_NOFOLLOW).open(path);
    let file = match file {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let content = owner::<T>(&file);
    let hold = match is_locked(&file) {
        Ok(true) => Hold::Held,
        Ok(false) => Hold::None,
        Err(error) if has_no_locks(&error) => hold_of_owner(&file),
        Err(error) => return Err(error),
    };
    Ok(Some((hold, content.map(|owner| owner.content))))
}

fn owner<T: for<'a> Deserialize<'a>>(mut file: &File) -> Option<Owner<T>> {
    let mut text = Vec::new();
    file.rewind().ok()?;
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Whether the process that the file names lives.
fn hold_of_owner(file: &File) -> Hold {
    match owner::<serde::de::IgnoredAny>(file) {
        Some(owner) if owner.place == place() && process_files::are_ours() => {
            let lives = start_ticks(owner.pid);
            if lives.is_some() && lives == owner.started { Hold::Held } else { Hold::None }
        }
        // A process that has made the file and not written to it yet is one that nobody knows.
        _ => Hold::Unknown,
    }
}

/// Whether the path still leads to the file: its last holder may have removed it.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let own = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (own.dev(), own.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The boot and the PID namespace, in which process numbers have their meaning.
pub(super) fn place() -> String {
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", system::boot(), space.display())
}

fn lock(file: &File, command: libc::c_int) -> io::Result<()> {
    system::file_lock(file, command, libc::F_WRLCK).map(drop)
}

fn is_locked(file: &File) -> io::Result<bool> {
    let found = system::file_lock(file, libc::F_OFD_GETLK, libc::F_WRLCK)?;
    Ok(found.l_type != libc::F_UNLCK as libc::c_short)
}

fn is_held(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES))
}

fn has_no_locks(error: &io::Error) -> bool {
    let codes = [libc::ENOLCK, libc::ENOSYS, libc::EOPNOTSUPP, libc::EINVAL];
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

/// Bytes of a file that are read.
const LONGEST: u64 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_has_a_file_as_long_as_it_holds_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("own");
        assert!(seen::<u32>(&path).expect("it is looked for").is_none());
        let mut first = Claim::take(&path).expect("it is made").expect("nobody has it");
        assert!(first.is_locked, "this file system has locks");
        first.say(7).expect("it is written");
        assert_eq!(seen(&path).expect("it is read"), Some((Hold::Held, Some(7))));
        assert_eq!(Claim::take(&path).expect("it opens").err(), Some(Hold::Held));
        drop(first);
        assert_eq!(seen(&path).expect("it is read"), Some((Hold::None, Some(7))));
        assert!(Claim::take(&path).expect("it opens").is_ok());
    }

    #[test]
    fn a_waiting_process_makes_a_file_that_was_removed_anew() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("own");
        let first = Claim::wait(&path).expect("it is made").expect("a lock");
        std::thread::scope(|scope| {
            let second = scope.spawn(|| Claim::wait(&path).expect("it is made").expect("a lock"));
            fs::remove_file(&path).expect("it is there");
            drop(first);
            let second = second.join().expect("it gets the file");
            assert!(is_at(&second.file, &path).expect("it is looked for"));
        });
    }

    #[test]
    fn without_locks_the_process_that_a_file_names_is_looked_for() {
        let directory = tempfile::tempdir().expect("a directory");
        let write = |owner: &Owner<u32>| {
            let path = directory.path().join("own");
            fs::write(&path, serde_json::to_vec(owner).expect("JSON")).expect("a file");
            hold_of_owner(&File::open(path).expect("the file"))
        };
        let pid = std::process::id();
        let own = Owner { place: place(), pid, started: start_ticks(pid), content: 1 };
        assert_eq!(write(&own), Hold::Held);
        assert_eq!(write(&Owner { started: Some(1), ..own }), Hold::None, "another of its number");
        let there = Owner { place: "another host".into(), pid, started: Some(1), content: 1 };
        assert_eq!(write(&there), Hold::Unknown);
    }
}
