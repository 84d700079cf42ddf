//! A file in a directory of the user's.
//!
//! The directory is looked at once, when the library is loaded, and the file made in it where there is
//! none. No descriptor stays open. To make the file longer it is opened again, and must be the same
//! one. It has no holes and is not made longer than the limit: neither a full disk nor
//! `RLIMIT_FSIZE` then ends the program by a signal.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use pacman_regions::arena::{EXTENSION, Key, PAGE, prepare};

use super::mapped::{Mapped, allow, last_error, limit, room, words};

/// The file that this process and those that it forks write to.
struct Made {
    base: usize,
    directory: CString,
    name: CString,
    /// Of the directory and the file: device and number.
    identity: [(libc::dev_t, libc::ino_t); 2],
}

static MADE: OnceLock<Made> = OnceLock::new();
/// Bytes of the file that there is place for on the disk.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

/// There from the beginning, if the disk has so much: more than most programs need. A program that
/// changes its root or its user cannot have more.
const FIRST: usize = 256 << 10;

const DIRECTORY: libc::c_int = libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;

/// Makes a file in `directory`, which must be the user's.
pub(super) fn create(directory: &Path) -> Result<Mapped, String> {
    let shown = directory.display();
    let says = |why: &dyn std::fmt::Display| format!("cannot record in {shown}: {why}");
    let path = std::path::absolute(directory).map_err(|error| says(&error))?;
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|error| says(&error))?;
    let opened = open(libc::AT_FDCWD, &path, DIRECTORY).map_err(|error| says(&error))?;
    let about = about(&opened).map_err(|error| says(&error))?;
    // SAFETY: takes nothing.
    let uid = unsafe { libc::geteuid() };
    if about.st_uid != uid {
        return Err(says(&format_args!("it is user {}'s; name one of your own", about.st_uid)));
    }
    if about.st_mode & libc::S_IWOTH != 0 {
        return Err(says(&"everybody may write to it; name one of your own"));
    }
    let (file, name) = new_file(&opened).map_err(|error| says(&error))?;
    let bytes = room();
    let place = allocate(&file, 0, FIRST).map(|()| FIRST);
    let place = place.or_else(|_| allocate(&file, 0, PAGE).map(|()| PAGE));
    let placed = place.and_then(|allocated| {
        // SAFETY: the kernel chooses the place.
        let base = unsafe {
            let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
            libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, flags, file.as_raw_fd(), 0)
        };
        if base == libc::MAP_FAILED { Err(last_error()) } else { Ok((base, allocated)) }
    });
    let (base, allocated) = placed.map_err(|error| {
        // SAFETY: the name is there. An empty file is no recording.
        unsafe { libc::unlinkat(opened.as_raw_fd(), name.as_ptr(), 0) };
        says(&error)
    })?;
    // SAFETY: mapped just now; pages beyond the file's end have no access.
    let words = unsafe {
        libc::madvise(base, bytes, libc::MADV_DONTDUMP);
        words(base, bytes)
    };
    if !allow(words.as_ptr(), 0, 1) {
        return Err(says(&last_error()));
    }
    prepare(words, &Key { nonce: 0, uid });
    let identity = [identity(&about), identity(&self::about(&file).map_err(|error| says(&error))?)];
    ALLOCATED.store(allocated, Ordering::Relaxed);
    let made = Made { base: base.expose_provenance(), directory: path, name, identity };
    if MADE.set(made).is_err() {
        return Err(says(&"it was asked for twice"));
    }
    Ok(Mapped { words, grow })
}

/// A file that nobody has made before, with this process's number in its name.
fn new_file(directory: &OwnedFd) -> std::io::Result<(OwnedFd, CString)> {
    // A process may replace itself by another program, which then records under the same number.
    for turn in 0..10_000 {
        let name = CString::new(format!("{}-{turn}.{EXTENSION}", std::process::id()))?;
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
    // SAFETY: the name ends in a zero.
    let descriptor = unsafe { libc::openat(directory, name.as_ptr(), flags, 0o600) };
    if descriptor < 0 {
        return Err(last_error());
    }
    // SAFETY: the call has made it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn about(descriptor: &OwnedFd) -> std::io::Result<libc::stat> {
    // SAFETY: filled by the call.
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

/// Has the disk keep place for bytes of the file.
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

/// Makes pages usable: `pages` of them from `page` on.
fn grow(page: usize, pages: usize) -> bool {
    let Some(made) = MADE.get() else { return false };
    let (from, to) = (page * PAGE, (page + pages) * PAGE);
    if to > ALLOCATED.load(Ordering::Relaxed) && !is_longer(made, from, to) {
        return false;
    }
    allow(ptr::with_exposed_provenance(made.base), page, pages)
}

/// Another process may have made the file longer, or be at it: each cares for its own pages.
fn is_longer(made: &Made, from: usize, to: usize) -> bool {
    let same = |descriptor: &OwnedFd, at: usize| {
        about(descriptor).is_ok_and(|about| identity(&about) == made.identity[at])
    };
    let opened = open(libc::AT_FDCWD, &made.directory, DIRECTORY);
    let Some(directory) = opened.ok().filter(|directory| same(directory, 0)) else { return false };
    let flags = libc::O_RDWR | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    let file = open(directory.as_raw_fd(), &made.name, flags);
    let Some(file) = file.ok().filter(|file| same(file, 1)) else { return false };
    allocate(&file, from, to).is_ok()
}
