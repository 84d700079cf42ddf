//! Every system call of counting by the kernel, and reads of its counters in user mode.

use std::os::fd::RawFd;
use std::ptr::NonNull;
use std::sync::Arc;

use perf_event_open_sys::bindings::perf_event_attr;

use super::{Errno, SysResult, Target};
use crate::arch::{self, RawCount, Register};

/// Bytes from one mapped counter page to the next.
pub const PAGE: usize = arch::PAGE;

/// The kernel's counter interface, as the perf backend uses it.
///
/// The trait can be an object, so that a [`Platform`](crate::platform::Platform) can return its
/// kernel without its type. The driver is generic over the seam: for Linux every call is direct.
pub trait PerfSys: Send + Sync + 'static {
    /// Whether descriptors belong to this process and are inherited by a forked child. A simulation
    /// has no such descriptors, and its counts are labelled as simulated.
    fn is_real(&self) -> bool;

    /// `perf_event_open(2)`.
    fn open(&self, attr: &mut perf_event_attr, target: Target, group: RawFd) -> SysResult<RawFd>;

    /// The identity of the counter behind `fd`; an error if there is none. A program may close a
    /// descriptor that it did not open, and soon another file has its number.
    fn id(&self, fd: RawFd) -> Result<u64, Errno>;

    /// `close(2)`.
    fn close(&self, fd: RawFd);

    /// Puts a whole group on the counters by enabling its leader.
    fn enable_group(&self, leader: RawFd) -> Result<(), Errno>;

    /// Takes a whole group off the counters by disabling its leader.
    fn disable_group(&self, leader: RawFd) -> Result<(), Errno>;

    /// `read(2)` of a group. Returns the number of 64-bit words read.
    fn read(&self, leader: RawFd, into: &mut [u64]) -> Result<usize, Errno>;

    /// Reserves address space for `pages` adjacent counter pages.
    fn reserve(&self, pages: usize) -> Result<NonNull<u8>, Errno>;

    /// Maps the counter page of `fd` at page `slot` of a reservation.
    ///
    /// # Safety
    /// `base` must come from [`reserve`](Self::reserve) for more than `slot` pages.
    unsafe fn map(&self, fd: RawFd, base: NonNull<u8>, slot: usize) -> Result<(), Errno>;

    /// Releases a reservation, with everything mapped in it.
    ///
    /// # Safety
    /// `base` and `pages` must name one reservation, and nothing may use it later.
    unsafe fn release(&self, base: NonNull<u8>, pages: usize);

    /// The counter that a page names by `index`, less 1; `None` if the processor has no such counter.
    fn register(&self, index: u32) -> Option<Register> {
        Register::of(index)
    }

    /// Reads a hardware counter of this hardware context in user mode.
    ///
    /// # Safety
    /// The kernel must allow user reads of the counter now, or the thread gets a signal.
    unsafe fn read_counter(&self, register: Register) -> RawCount;

    /// The counter, for [`read_counters`](Self::read_counters), where it is followed by so many `others`.
    #[inline(always)]
    fn followed_by(&self, register: Register, _others: usize) -> Register
    where
        Self: Sized,
    {
        register
    }

    /// As [`read_counter`](Self::read_counter), one after the other. Each register must be
    /// [followed by](Self::followed_by) those after it.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn read_counters<const N: usize>(&self, registers: [Register; N]) -> [RawCount; N]
    where
        Self: Sized,
    {
        registers.map(|register| {
            // SAFETY: as the contract of this function.
            let count = unsafe { self.read_counter(register) };
            self.between_loads();
            count
        })
    }

    /// Called between any two loads of a read. The kernel does nothing here; a simulation may
    /// preempt the thread.
    #[inline(always)]
    fn between_loads(&self) {}
}

/// A kernel of unknown type. A clone refers to the same kernel.
impl PerfSys for Arc<dyn PerfSys> {
    fn is_real(&self) -> bool {
        (**self).is_real()
    }

    fn open(&self, attr: &mut perf_event_attr, target: Target, group: RawFd) -> SysResult<RawFd> {
        (**self).open(attr, target, group)
    }

    fn id(&self, fd: RawFd) -> Result<u64, Errno> {
        (**self).id(fd)
    }

    fn close(&self, fd: RawFd) {
        (**self).close(fd);
    }

    fn enable_group(&self, leader: RawFd) -> Result<(), Errno> {
        (**self).enable_group(leader)
    }

    fn disable_group(&self, leader: RawFd) -> Result<(), Errno> {
        (**self).disable_group(leader)
    }

    fn read(&self, leader: RawFd, into: &mut [u64]) -> Result<usize, Errno> {
        (**self).read(leader, into)
    }

    fn reserve(&self, pages: usize) -> Result<NonNull<u8>, Errno> {
        (**self).reserve(pages)
    }

    unsafe fn map(&self, fd: RawFd, base: NonNull<u8>, slot: usize) -> Result<(), Errno> {
        // SAFETY: the caller keeps the contract of this method of `PerfSys`.
        unsafe { (**self).map(fd, base, slot) }
    }

    unsafe fn release(&self, base: NonNull<u8>, pages: usize) {
        // SAFETY: the caller keeps the contract of this method of `PerfSys`.
        unsafe { (**self).release(base, pages) };
    }

    fn register(&self, index: u32) -> Option<Register> {
        (**self).register(index)
    }

    unsafe fn read_counter(&self, register: Register) -> RawCount {
        // SAFETY: the caller keeps the contract of this method of `PerfSys`.
        unsafe { (**self).read_counter(register) }
    }

    fn between_loads(&self) {
        (**self).between_loads();
    }
}
