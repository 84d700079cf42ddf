//! The work of a thread as the primary thread of a region.

use std::sync::atomic::{Ordering, compiler_fence};

use super::thread::Worker;

impl Worker {
    /// Runs `start`, in which the runtime starts a team of this library.
    #[inline(always)]
    pub(crate) fn starts(&self, start: impl FnOnce()) {
        let around = self.starting.replace(self.depth() + 1);
        start();
        self.starting.set(around);
    }

    /// Runs `whole`: a region with this thread as its primary, until it is in the rows.
    #[inline(always)]
    pub(crate) fn run_as_primary(&self, whole: impl FnOnce()) {
        self.open_region();
        whole();
        self.close_region();
    }

    /// The thread opens a region as its primary thread.
    #[inline(always)]
    pub(crate) fn open_region(&self) {
        let thread = self.thread.get();
        thread.set_open_regions(thread.open_regions() + 1);
        // ATOMICS: a signal handler may end the process at any instruction, here or on a member of the
        // team. The fence orders this thread; the runtime's barriers order the members.
        compiler_fence(Ordering::SeqCst);
    }

    /// The region is in the rows.
    #[inline(always)]
    pub(crate) fn close_region(&self) {
        compiler_fence(Ordering::SeqCst);
        let thread = self.thread.get();
        thread.set_open_regions(thread.open_regions() - 1);
    }

    /// Whether the runtime is starting a team of this library, and no body of it runs here yet.
    pub(crate) fn is_starting(&self) -> bool {
        u32::from(self.starting.get() as u16) == self.depth() + 1
    }
}
