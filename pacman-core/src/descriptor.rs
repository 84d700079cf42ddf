//! Which numbers descriptors of this library get.
//!
//! The kernel gives the lowest free number to whoever opens a file. A program that counts on that, or
//! that may have few files open, is to find the numbers that it would find alone: what this library
//! keeps open is moved up.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicBool, Ordering};

/// The numbers below are left to the program, and of the limit at least as many in all.
const LEAST: u64 = 64;
/// Above what `select(2)` takes nothing is gained by going higher, and the kernel's table grows.
const SELECTABLE: u64 = 1024;

/// See [`leave_a_floor`].
static LEAVES_A_FLOOR: AtomicBool = AtomicBool::new(false);

/// From now on this library keeps no file open in this process where that would leave the program
/// fewer descriptors than a quarter of its limit (`RLIMIT_NOFILE`), and fewer than 64.
///
/// For libraries that a program does not know of: opening counters then fails with `NoDescriptors`.
/// A program that opens sessions itself decides by its limit.
pub fn leave_a_floor() {
    LEAVES_A_FLOOR.store(true, Ordering::Relaxed);
}

/// Whether the program is left a floor.
pub(crate) fn leaves_a_floor() -> bool {
    LEAVES_A_FLOOR.load(Ordering::Relaxed)
}

/// The limit on open descriptors of this process now: asked of the kernel, because whoever is out of
/// descriptors cannot open a file of `/proc`.
pub(crate) fn limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a live rlimit.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return u64::MAX;
    }
    limit.rlim_cur
}

/// The numbers that this library takes under that limit: at least so many are below and above them
/// together as are left to the program.
fn range(limit: u64) -> (u64, u64) {
    let floor = (limit / 4).max(LEAST);
    let first = floor.min(SELECTABLE);
    (first, limit.saturating_sub(floor - first))
}

/// A file that stays open while the program does what it likes, which may be to close it and to
/// open another one under its number.
#[derive(Debug)]
pub(crate) struct Kept {
    file: ManuallyDrop<File>,
    is: (u64, u64),
}

impl Kept {
    /// Opens a file to read, [out of the program's way](out_of_the_way).
    pub(crate) fn open(path: &str) -> io::Result<Kept> {
        let fd = out_of_the_way(File::open(path)?.into_raw_fd())?;
        // SAFETY: just made, and owned by nobody else.
        let file = unsafe { File::from_raw_fd(fd) };
        let is = identity(&file)?;
        Ok(Kept { file: ManuallyDrop::new(file), is })
    }

    /// As `File::read_at`; `EBADF` where the number is another file's.
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

/// Moves `fd`, which nobody else knows yet, out of the program's way, and answers its new number. It
/// is closed in any case where it was moved or refused.
///
/// # Errors
/// `EMFILE` where a [floor](leave_a_floor) is left and no number above it is free.
pub fn out_of_the_way(fd: RawFd) -> io::Result<RawFd> {
    let (first, end) = range(limit());
    // SAFETY: duplicates a descriptor just made; a number too high is an error.
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

/// Moves a descriptor out of the way of standard input, output and error: a program that was
/// started with one of them closed would write into a counter.
fn above_standard(fd: RawFd) -> io::Result<RawFd> {
    const FIRST: RawFd = 3;
    if fd >= FIRST {
        return Ok(fd);
    }
    // SAFETY: duplicates a descriptor just made; nothing else knows its number.
    let moved = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, FIRST) };
    let moved = if moved < 0 { Err(io::Error::last_os_error()) } else { Ok(moved) };
    close(fd);
    moved
}

/// Closes a number, if it is one.
fn close(fd: RawFd) {
    if fd >= 0 {
        // SAFETY: this module's own: just made, and told to nobody.
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
