//! A kernel seam that passes all calls on and remembers why a page could not be mapped.
//!
//! If counter pages cannot be mapped, a group silently goes on without them. That suits a session,
//! but a diagnosis must know.

use std::os::fd::RawFd;
use std::ptr::NonNull;
use std::sync::Arc;

use parking_lot::Mutex;
use perf_event_open_sys::bindings::perf_event_attr;

use pacman_core::backend::Target;
use pacman_core::backend::perf::{Errno, PerfSys, RawCount, Register};

/// The seam `S` with a record of the latest failure.
#[derive(Clone, Debug)]
pub(super) struct Recorder<S> {
    sys: S,
    unmapped: Arc<Mutex<Option<Errno>>>,
}

impl<S: PerfSys> Recorder<S> {
    pub(super) fn new(sys: S) -> Recorder<S> {
        Recorder { sys, unmapped: Arc::default() }
    }

    /// Takes the error of the counter page that could not be mapped last.
    pub(super) fn take_unmapped(&self) -> Option<Errno> {
        self.unmapped.lock().take()
    }
}

impl<S: PerfSys> PerfSys for Recorder<S> {
    fn is_real(&self) -> bool {
        self.sys.is_real()
    }

    fn open(
        &self,
        attr: &mut perf_event_attr,
        target: Target,
        group: RawFd,
    ) -> Result<RawFd, Errno> {
        self.sys.open(attr, target, group)
    }

    fn id(&self, fd: RawFd) -> Result<u64, Errno> {
        self.sys.id(fd)
    }

    fn close(&self, fd: RawFd) {
        self.sys.close(fd);
    }

    fn enable_group(&self, leader: RawFd) -> Result<(), Errno> {
        self.sys.enable_group(leader)
    }

    fn disable_group(&self, leader: RawFd) -> Result<(), Errno> {
        self.sys.disable_group(leader)
    }

    fn read(&self, leader: RawFd, into: &mut [u64]) -> Result<usize, Errno> {
        self.sys.read(leader, into)
    }

    fn reserve(&self, pages: usize) -> Result<NonNull<u8>, Errno> {
        self.sys.reserve(pages)
    }

    unsafe fn map(&self, fd: RawFd, base: NonNull<u8>, slot: usize) -> Result<(), Errno> {
        // SAFETY: the caller keeps the contract of this method of `PerfSys`.
        let mapped = unsafe { self.sys.map(fd, base, slot) };
        if let Err(errno) = mapped {
            *self.unmapped.lock() = Some(errno);
        }
        mapped
    }

    unsafe fn release(&self, base: NonNull<u8>, pages: usize) {
        // SAFETY: the caller keeps the contract of this method of `PerfSys`.
        unsafe { self.sys.release(base, pages) }
    }

    fn register(&self, index: u32) -> Option<Register> {
        self.sys.register(index)
    }

    unsafe fn read_counter(&self, register: Register) -> RawCount {
        // SAFETY: the caller keeps the contract of this method of `PerfSys`.
        unsafe { self.sys.read_counter(register) }
    }

    fn between_loads(&self) {
        self.sys.between_loads();
    }
}
