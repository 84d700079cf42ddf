//! The library's observations of a region's body.

use std::sync::atomic::{AtomicU32, Ordering};

/// Bits that are only ever set.
#[derive(Debug, Default)]
pub(crate) struct Seen(AtomicU32);

impl Seen {
    /// The region has regions inside.
    pub(crate) const NESTED: u32 = 1;
    /// The body made tasks, which may run after it.
    pub(crate) const TASKS: u32 = 2;
    /// The body called a function of MPI that is timed.
    pub(crate) const MPI: u32 = 4;

    /// Whether any of the bits is not set yet.
    #[inline]
    pub(crate) fn lacks(&self, bits: u32) -> bool {
        self.get() & bits != bits
    }

    pub(crate) fn add(&self, bits: u32) {
        if self.lacks(bits) {
            self.0.fetch_or(bits, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
