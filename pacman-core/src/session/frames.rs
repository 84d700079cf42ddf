//! The memory of a thread's open phases.

use std::io;
use std::ptr::{self, NonNull};

use super::open::DEEPEST;
use crate::backend::Reading;
use pacman_events::{Error, ErrorKind, Result};

/// An open phase. The reading comes first, so that its address is also the frame's. This saves each
/// begin a register.
#[repr(C)]
pub(super) struct Frame {
    pub(super) reading: Reading,
    pub(super) ticks: u64,
}

const BYTES: usize = DEEPEST * size_of::<Frame>();

/// A frame for each phase that a thread may have open.
///
/// Frames never move and are never allocated later: a signal handler may begin a phase while its thread
/// is inside a begin, or inside the program's allocator. They are a mapping of their own, of which the
/// kernel backs only the pages that are used; a heap may fill recycled memory with zeros, all of it.
pub(super) struct Frames(NonNull<Frame>);

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for Frames {}

impl Frames {
    pub(super) fn new() -> Result<Frames> {
        let (access, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address that the kernel chooses.
        let mapped = unsafe { libc::mmap(ptr::null_mut(), BYTES, access, flags, -1, 0) };
        match NonNull::new(mapped) {
            Some(frames) if mapped != libc::MAP_FAILED => Ok(Frames(frames.cast())),
            _ => Err(no_memory(&io::Error::last_os_error())),
        }
    }

    /// The frame of a depth.
    ///
    /// # Safety
    /// The depth must be below [`DEEPEST`], and no other reference to its frame may be in use.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub(super) unsafe fn at(&self, depth: usize) -> &mut Frame {
        debug_assert!(depth < DEEPEST);
        // SAFETY: the mapping has DEEPEST frames, and the caller uses this one alone. A frame consists of
        // integers, for which the kernel's zeros are valid.
        unsafe { self.0.add(depth).as_mut() }
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this size, and no reference to a frame outlives this value.
        unsafe { libc::munmap(self.0.as_ptr().cast(), BYTES) };
    }
}

#[cold]
fn no_memory(said: &io::Error) -> Error {
    Error::from_errno(
        ErrorKind::System,
        said.raw_os_error().unwrap_or(libc::ENOMEM),
        format!(
            "cannot map {} kB for the open phases of this thread: {said}; raise its limit of address space \
             (ulimit -v)",
            BYTES / 1024
        ),
    )
}
