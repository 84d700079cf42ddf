//! The library's observations of a region's body.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::process;

/// Bits that are only ever set.
#[derive(Debug, Default)]
pub(crate) struct Seen(AtomicU32);

impl Seen {
    /// The body asked for its thread's number without asking how many there are, before that, or the
    /// other way round.
    pub(crate) const THREAD_NUMBER: u32 = 1;
    /// The body asked how many there are and then for its number: GCC's code for a static loop.
    pub(crate) const BOTH_NUMBERS: u32 = 16;
    /// The body asked how many threads there could be.
    pub(crate) const QUERY: u32 = 2;
    /// The region has regions inside.
    pub(crate) const NESTED: u32 = 4;
    /// The region has tasks that depend on each other.
    pub(crate) const TASK_DEPEND: u32 = 8;
    /// The body had the runtime share work out, or did as GCC's loops do.
    pub(crate) const SHARES: u32 = 32;
    /// The body made tasks, which may run after it.
    pub(crate) const TASKS: u32 = 64;
    /// The body called a function of MPI that is timed.
    pub(crate) const MPI: u32 = 128;
    /// The body asked for numbers, and its machine code is proved to divide a static loop by them.
    pub(crate) const STATIC_LOOP: u32 = 256;
    pub(crate) const ALL: u32 = 511;

    /// Questions that are not proved to divide loops.
    pub(crate) const QUESTIONS: u32 = Seen::THREAD_NUMBER | Seen::BOTH_NUMBERS | Seen::QUERY;

    /// Whether any of the bits is not set yet.
    #[inline]
    pub(crate) fn lacks(&self, bits: u32) -> bool {
        self.get() & bits != bits
    }

    pub(crate) fn add(&self, bits: u32) {
        if self.lacks(bits) {
            self.0.fetch_or(bits, Ordering::Relaxed);
            process::advance_config_epoch();
        }
    }

    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
