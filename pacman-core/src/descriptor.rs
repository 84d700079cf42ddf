//! The numbers of this library's file descriptors.
//!
//! The kernel gives the lowest free number to each opened file. Some programs rely on that, or may
//! have only few files open. Such a program must get the same numbers as without this library. So
//! the library moves its descriptors to higher numbers.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicBool, Ordering};

/// The library leaves at least this many descriptors, and all numbers below it, to the program.
const LEAST: u64 = 64;
/// The first number that `select(2)` cannot take. Higher numbers gain nothing, and enlarge the
/// kernel's table.
const SELECTABLE: u64 = 1024;

/// See [`leave_a_floor`].
static LEAVES_A_FLOOR: AtomicBool = AtomicBool::new(false);

/// Makes this library leave a quarter of the descriptor limit (`RLIMIT_NOFILE`), and at least 64
/// descriptors, to the program.
///
/// Opening counters fails with `NoDescriptors` if it would leave fewer. The setting holds for the
/// rest of the process. It is for libraries that are loaded into a program without its knowledge.
/// A program that opens sessions itself can choose its limit.
pub fn leave_a_floor() {
    LEAVES_A_FLOOR.store(true, Ordering::Relaxed);
}

/// Whether [`leave_a_floor`] was called.
pub(crate) fn leaves_a_floor() -> bool {
    LEAVES_A_FLOOR.load(Ordering::Relaxed)
}

/// This process's current limit on open descriptors.
///
/// It comes from a system call, because a process without a free descriptor cannot open `/proc`.
pub(crate) fn limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer refers to a live rlimit.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return u64::MAX;
    }
    limit.rlim_cur
}

/// The range of numbers that this library takes under `limit`.
///
/// The numbers outside of the range are the program's. They are a quarter of the limit, or 64.
fn range(limit: u64) -> (u64, u64) {
    let floor = (limit / 4).max(LEAST);
    let first = floor.min(SELECTABLE);
    (first, limit.saturating_sub(floor - first))
}

/// A file that the library keeps open while other code runs.
///
/// The program may close its descriptor and open another file under the same number.
#[derive(Debug)]
pub(crate) struct Kept {
    file: ManuallyDrop<File>,
    is: (u64, u64),
}

impl Kept {
    /// Opens a file for reading, [out of the program's way](out_of_the_way).
    pub(crate) fn open(path: &str) -> io::Result<Kept> {
        let fd = out_of_the_way(File::open(path)?.into_raw_fd())?;
        // SAFETY: the descriptor is new, and has no other owner.
        let file = unsafe { File::from_raw_fd(fd) };
        let is = identity(&file)?;
        Ok(Kept { file: ManuallyDrop::new(file), is })
    }

    /// As `File::read_at`; `EBADF` if the number belongs to another file now.
    pub(crate) fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        match self.is_ours() {
            true => self.file.read_at(into, at),
            false => Err(io::Error::from_raw_os_error(libc::EBADF)),
        }
    }

    fn is_ours(&self) -> bool {
        identity(&self.file).is_ok_and(|is| is == self.is)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.is_ours() {
            close(self.file.as_raw_fd());
        }
    }
}

fn identity(file: &File) -> io::Result<(u64, u64)> {
    let of = file.metadata()?;
    Ok((of.dev(), of.ino()))
}

/// Moves `fd` out of the program's way and returns its new number.
///
/// No other code may know `fd` yet. The function closes `fd` if it moves it, or if it fails.
///
/// # Errors
/// `EMFILE` if the [floor](leave_a_floor) is left and no number above it is free.
pub fn out_of_the_way(fd: RawFd) -> io::Result<RawFd> {
    let (first, end) = range(limit());
    // SAFETY: the call duplicates a new descriptor; a number that is too high is an error.
    let moved = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, first as libc::c_int) };
    let insists = leaves_a_floor();
    if moved >= 0 && (!insists || (moved as u64) < end) {
        close(fd);
        return Ok(moved);
    }
    close(moved);
    if insists {
        close(fd);
        return Err(io::Error::from_raw_os_error(libc::EMFILE));
    }
    above_standard(fd)
}

/// Moves a descriptor away from the numbers of standard input, output and error.
///
/// A program that was started with one of them closed would otherwise write into a counter.
fn above_standard(fd: RawFd) -> io::Result<RawFd> {
    const FIRST: RawFd = 3;
    if fd >= FIRST {
        return Ok(fd);
    }
    // SAFETY: the call duplicates a new descriptor, whose number no other code knows.
    let moved = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, FIRST) };
    let moved = if moved < 0 { Err(io::Error::last_os_error()) } else { Ok(moved) };
    close(fd);
    moved
}

/// Closes a descriptor; does nothing for a negative number.
fn close(fd: RawFd) {
    if fd >= 0 {
        // SAFETY: this module owns the descriptor; it is its file's, or new and unknown elsewhere.
        unsafe { libc::close(fd) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_is_the_program_s() {
        assert_eq!(range(256), (64, 256));
        assert_eq!(range(1024), (256, 1024));
        assert_eq!(range(4096), (1024, 4096));
        assert_eq!(range(1 << 20), (1024, (1 << 20) - (1 << 18) + 1024), "in two parts");
        assert_eq!(range(64), (64, 64), "none are left");
        assert_eq!(range(10), (64, 10));
    }
}
