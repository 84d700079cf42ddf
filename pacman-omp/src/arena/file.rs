//! A file in a directory of the user.
//!
//! The library opens the directory once, when it is loaded, and creates a new file in it. No descriptor
//! stays open. To extend the file the library opens it again and checks that it is the same one. The
//! file has no holes and never exceeds the limit, so that neither a full disk nor `RLIMIT_FSIZE` ends
//! the program by a signal.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use pacman_regions::arena::{EXTENSION, Key, PAGE, prepare};

use super::mapped::{Mapped, allow, last_error, limit, room, words};

/// The file of this process and of those that it forks.
struct Made {
    base: usize,
    directory: CString,
    name: CString,
    /// Device and inode of the directory and of the file.
    identity: [(libc::dev_t, libc::ino_t); 2],
}

static MADE: OnceLock<Made> = OnceLock::new();
/// Bytes of the file that the disk has allocated.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

/// Bytes to allocate at the start, if the disk has room: more than most programs need. A program that
/// changes its root or its user cannot extend the file.
const FIRST: usize = 256 << 10;

const DIRECTORY: libc::c_int = libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;

/// Creates a file in `directory`, which the user must own.
pub(super) fn create(directory: &Path) -> Result<Mapped, String> {
    let shown = directory.display();
    let says = |why: &dyn std::fmt::Display| format!("cannot record in {shown}: {why}");
    let path = std::path::absolute(directory).map_err(|error| says(&error))?;
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|error| says(&error))?;
    let opened = open(libc::AT_FDCWD, &path, DIRECTORY).map_err(|error| says(&error))?;
    let about = about(&opened).map_err(|error| says(&error))?;
    // SAFETY: it only returns a number.
    let uid = unsafe { libc::geteuid() };
    if about.st_uid != uid {
        return Err(says(&format_args!(
            "user {} owns it; name a directory of your own",
            about.st_uid
        )));
    }
    if about.st_mode & libc::S_IWOTH != 0 {
        return Err(says(&"every user may write to it; name a directory of your own"));
    }
    let (file, name) = new_file(&opened).map_err(|error| says(&error))?;
    let bytes = room();
    let place = allocate(&file, 0, FIRST).map(|()| FIRST);
    let place = place.or_else(|_| allocate(&file, 0, PAGE).map(|()| PAGE));
    let placed = place.and_then(|allocated| {
        // SAFETY: the kernel chooses the address.
        let base = unsafe {
            let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
            libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, flags, file.as_raw_fd(), 0)
        };
        if base == libc::MAP_FAILED { Err(last_error()) } else { Ok((base, allocated)) }
    });
    let (base, allocated) = placed.map_err(|error| {
        // SAFETY: the name is a C string. Removes the file, because an empty one is not a recording.
        unsafe { libc::unlinkat(opened.as_raw_fd(), name.as_ptr(), 0) };
        says(&error)
    })?;
    // SAFETY: mapped above; pages beyond the end of the file have no access.
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
        return Err(says(&"the library was loaded twice"));
    }
    Ok(Mapped { words, grow })
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

/// Makes `pages` pages from `page` on usable.
fn grow(page: usize, pages: usize) -> bool {
    let Some(made) = MADE.get() else { return false };
    let (from, to) = (page * PAGE, (page + pages) * PAGE);
    if to > ALLOCATED.load(Ordering::Relaxed) && !extend(made, from, to) {
        return false;
    }
    allow(ptr::with_exposed_provenance(made.base), page, pages)
}

/// Extends the file. Another process may extend it at the same time: each allocates its own pages.
fn extend(made: &Made, from: usize, to: usize) -> bool {
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
