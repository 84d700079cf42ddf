//! A file in a directory of the user.
//!
//! The library opens the directory once, when it is loaded, and creates a new file in it. No descriptor
//! stays open. To extend the file the library opens it again and checks that it is the same one. The
//! file has no holes and never exceeds the limit, so that neither a full disk nor `RLIMIT_FSIZE` ends
//! the program by a signal.

use std::ffi::{CStr, CString};
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::atomic::AtomicU64;

use pacman_core::system_calls;
use pacman_regions::arena::{EXTENSION, MOST_PAGES, PAGE, Pages, pieces, prepare};

use super::mapped::{Mapped, allow, last_error, words};
use super::truncated;

/// The file of this process and of those that it forks.
pub(super) struct Made {
    directory: CString,
    name: CString,
    /// Device and inode of the directory and of the file.
    identity: [(libc::dev_t, libc::ino_t); 2],
    mapped: Mapped,
    /// Bytes of the file that the disk has allocated.
    allocated: usize,
}

/// Bytes to allocate at the start, if the disk has room: more than most programs need. A program that
/// changes its root or its user cannot extend the file.
const FIRST: usize = 256 << 10;

/// Bytes to allocate before the program filters its system calls.
const AHEAD: usize = 4 << 20;

/// A path needs no permission to list the directory.
const DIRECTORY: libc::c_int =
    libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;

/// Creates a file in `directory`. The user must own the directory, or it is a drop box: all may create files,
/// nobody but its owner sees their names, and nobody else removes them.
pub(super) fn create(directory: &Path) -> Result<Made, String> {
    let shown = directory.display();
    let says = |why: &dyn std::fmt::Display| format!("cannot record in {shown}: {why}");
    let path = std::path::absolute(directory).map_err(|error| says(&error))?;
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|error| says(&error))?;
    let opened = open(libc::AT_FDCWD, &path, DIRECTORY).map_err(|error| says(&error))?;
    let of_directory = about(&opened).map_err(|error| says(&error))?;
    let is_drop_box = of_directory.st_mode & 0o7777 == 0o1733;
    // SAFETY: it only returns a number.
    let uid = unsafe { libc::geteuid() };
    if of_directory.st_uid != uid && !is_drop_box {
        return Err(says(&format_args!(
            "user {} owns it; name a directory of your own",
            of_directory.st_uid
        )));
    }
    if of_directory.st_mode & libc::S_IWOTH != 0 && !is_drop_box {
        return Err(says(&"every user may write to it; name a directory of your own"));
    }
    let (file, name) = new_file(&opened).map_err(|error| says(&error))?;
    if is_drop_box {
        // The owner of the directory reads it, whoever this user is.
        // SAFETY: takes numbers only.
        unsafe { libc::fchmod(file.as_raw_fd(), 0o644) };
    }
    let place = allocate(&file, 0, FIRST).map(|()| FIRST);
    let place = place.or_else(|_| allocate(&file, 0, PAGE).map(|()| PAGE));
    let first = pieces(MOST_PAGES).next().unwrap_or_default();
    let placed = place.and_then(|allocated| Ok((map(&file, first)?, allocated)));
    let (first, allocated) = placed.map_err(|error| {
        // SAFETY: the name is a C string. Removes the file, because an empty one is not a recording.
        unsafe { libc::unlinkat(opened.as_raw_fd(), name.as_ptr(), 0) };
        says(&error)
    })?;
    if !truncated::guard(0, first) || !allow(&first[..PAGE / 8]) {
        return Err(says(&last_error()));
    }
    prepare(first, MOST_PAGES, 0);
    let of_file = about(&file).map_err(|error| says(&error))?;
    let identity = [identity(&of_directory), identity(&of_file)];
    let mapped = Mapped::new(MOST_PAGES, first);
    Ok(Made { directory: path, name, identity, mapped, allocated })
}

/// Maps a piece of the file, without access.
fn map(file: &OwnedFd, piece: Range<usize>) -> std::io::Result<&'static [AtomicU64]> {
    let (bytes, from) = (piece.len() * PAGE, piece.start * PAGE);
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
    // SAFETY: the kernel chooses the address, and the mapping stays.
    unsafe {
        let (any, file) = (ptr::null_mut(), file.as_raw_fd());
        let base = libc::mmap(any, bytes, libc::PROT_NONE, flags, file, from as libc::off_t);
        if base == libc::MAP_FAILED { Err(last_error()) } else { Ok(words(base, bytes)) }
    }
}

/// Creates a file that did not exist, with the process's number in its name.
fn new_file(directory: &OwnedFd) -> std::io::Result<(OwnedFd, CString)> {
    // After an exec the new program records under the same process number.
    for serial in 0..10_000 {
        let name = CString::new(format!("{}-{serial}.{EXTENSION}", std::process::id()))?;
        let flags =
            libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        match open(directory.as_raw_fd(), &name, flags) {
            Ok(file) => return Ok((file, name)),
            Err(error) if error.raw_os_error() == Some(libc::EEXIST) => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::from_raw_os_error(libc::EEXIST))
}

fn open(directory: libc::c_int, name: &CStr, flags: libc::c_int) -> std::io::Result<OwnedFd> {
    // SAFETY: the name is a C string.
    let descriptor = unsafe { libc::openat(directory, name.as_ptr(), flags, 0o600) };
    if descriptor < 0 {
        return Err(last_error());
    }
    // SAFETY: a new descriptor of the call above.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn about(descriptor: &OwnedFd) -> std::io::Result<libc::stat> {
    // SAFETY: the call fills it.
    unsafe {
        let mut about: libc::stat = std::mem::zeroed();
        match libc::fstat(descriptor.as_raw_fd(), &raw mut about) {
            0 => Ok(about),
            _ => Err(last_error()),
        }
    }
}

fn identity(about: &libc::stat) -> (libc::dev_t, libc::ino_t) {
    (about.st_dev, about.st_ino)
}

fn limit(of: libc::__rlimit_resource_t) -> libc::rlim_t {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: 0 };
    // SAFETY: the call fills it or leaves it as it is.
    unsafe { libc::getrlimit(of, &raw mut limit) };
    limit.rlim_cur
}

/// Allocates bytes of the file on the disk.
fn allocate(file: &OwnedFd, from: usize, to: usize) -> std::io::Result<()> {
    // Beyond the limit the kernel sends SIGXFSZ, which ends most programs.
    if to as libc::rlim_t > limit(libc::RLIMIT_FSIZE) {
        return Err(std::io::Error::from_raw_os_error(libc::EFBIG));
    }
    // SAFETY: the descriptor is open.
    match unsafe {
        libc::posix_fallocate(file.as_raw_fd(), from as libc::off_t, (to - from) as libc::off_t)
    } {
        0 => Ok(()),
        error => Err(std::io::Error::from_raw_os_error(error)),
    }
}

impl Pages for Made {
    fn header(&self) -> &'static [AtomicU64] {
        &self.mapped.first()[..PAGE / 8]
    }

    fn count(&self) -> usize {
        self.mapped.count
    }

    fn make(&mut self, pages: Range<usize>) -> Option<&'static [AtomicU64]> {
        let (from, to) = (pages.start * PAGE, pages.end * PAGE);
        // Another process may extend the file at the same time: each allocates its own pages.
        if to > self.allocated {
            if system_calls::are_forbidden() {
                return None;
            }
            allocate(&opened(&self.directory, &self.name, &self.identity)?, from, to).ok()?;
        }
        let Made { directory, name, identity, mapped, .. } = self;
        mapped.make(pages, |number, piece| {
            let words = map(&opened(directory, name, identity)?, piece).ok()?;
            truncated::guard(number, words);
            Some(words)
        })
    }

    fn map_ahead(&mut self) {
        let file = opened(&self.directory, &self.name, &self.identity);
        if file.is_some_and(|file| allocate(&file, self.allocated, AHEAD).is_ok()) {
            self.allocated = self.allocated.max(AHEAD);
        }
    }
}

/// Opens the file again.
fn opened(
    directory: &CStr,
    name: &CStr,
    identities: &[(libc::dev_t, libc::ino_t); 2],
) -> Option<OwnedFd> {
    let same = |descriptor: &OwnedFd, at: usize| {
        about(descriptor).is_ok_and(|about| identity(&about) == identities[at])
    };
    let directory = open(libc::AT_FDCWD, directory, DIRECTORY).ok().filter(|one| same(one, 0))?;
    let flags = libc::O_RDWR | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    open(directory.as_raw_fd(), name, flags).ok().filter(|one| same(one, 1))
}
