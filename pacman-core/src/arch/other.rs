//! Processors without counter reads in user mode by this library: the kernel reads for them.

use super::UserReads;
pub use super::whole::RawCount;

/// The index of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register(u32);

impl Register {
    /// No counter: nothing here reads one.
    pub fn of(_: u32) -> Option<Register> {
        None
    }

    /// A simulated machine's counter.
    pub fn simulated(index: u32) -> Register {
        Register(index)
    }

    /// The index that it was made of.
    pub fn index(self) -> u32 {
        self.0
    }

    pub(crate) fn followed_by(self, _others: usize) -> Register {
        self
    }
}

/// As on the simulated machines.
pub(crate) const WIDTH: u32 = 48;
pub(crate) const OTHER_WIDTH: u32 = 48;

pub(crate) const READS_AHEAD: bool = false;

pub(crate) fn user_reads(_: &str) -> UserReads {
    UserReads::Missing
}

/// Never called, because [`Register::of`] names no counter.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn read_counter(register: Register) -> RawCount {
    unreachable!("{register:?} is not a counter of this machine")
}

/// # Safety
/// None is needed.
pub(crate) unsafe fn read_counters<const N: usize>(registers: [Register; N]) -> [RawCount; N] {
    // SAFETY: as above.
    registers.map(|register| unsafe { read_counter(register) })
}

pub(crate) fn shares_cycle_counter(_: &str) -> bool {
    false
}

/// Kernels have pages of 4, 16 or 64 KiB.
pub(crate) const PAGE: usize = 1 << 16;

/// No counter of time is read here.
pub const CLOCK_SOURCE: Option<&str> = None;

/// Nanoseconds of the system's clock.
pub(crate) fn ticks() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec; the clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

pub(crate) fn ticks_per_second() -> Option<u64> {
    Some(1_000_000_000)
}

/// Nothing: the state of this processor is not known.
#[cfg_attr(test, derive(Clone, Copy))]
pub(crate) struct FloatingPoint;

impl FloatingPoint {
    pub(crate) fn exchange() -> FloatingPoint {
        FloatingPoint
    }

    pub(crate) fn restore(self) {}

    #[cfg(test)]
    pub(crate) const TRIED: [FloatingPoint; 0] = [];

    #[cfg(test)]
    pub(crate) fn is_now(&self) -> bool {
        true
    }
}

/// `read(2)` by the C library's `syscall`, which is no cancellation point. Returns minus the `errno` if
/// it fails.
pub(crate) fn read_call(fd: i32, into: &mut [u64]) -> isize {
    let (at, size) = (into.as_mut_ptr(), size_of_val(into));
    // SAFETY: the buffer is valid for its whole length in bytes.
    let bytes = unsafe { libc::syscall(libc::SYS_read, fd, at, size) };
    let errno = || std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    if bytes < 0 { -(errno() as isize) } else { bytes as isize }
}

/// Inline assembly is not stable on all of these processors.
pub(crate) fn made(value: u64) -> u64 {
    std::hint::black_box(value)
}
