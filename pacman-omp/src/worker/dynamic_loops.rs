//! The thread's part in the dynamic loops of a region.

use std::cell::Cell;

/// How the thread takes chunks of dynamic loops, and how many the region has had.
#[derive(Debug)]
pub(crate) struct DynamicLoops {
    /// The chunks that it takes at once.
    multiple: Cell<u32>,
    /// Chunks are counted.
    counts: Cell<bool>,
    chunks: Cell<u64>,
}

impl Default for DynamicLoops {
    fn default() -> DynamicLoops {
        DynamicLoops { multiple: Cell::new(1), counts: Cell::new(false), chunks: Cell::new(0) }
    }
}

/// Takes one chunk at once again, also when the body unwinds.
pub(crate) struct RestoreMultiple<'w>(&'w DynamicLoops, u32);

impl Drop for RestoreMultiple<'_> {
    fn drop(&mut self) {
        self.0.multiple.set(self.1);
    }
}

impl DynamicLoops {
    /// Whether loops matter: chunks are counted, or taken several at once.
    #[inline]
    pub(crate) fn matter(&self) -> bool {
        self.counts.get() || self.multiple.get() > 1
    }

    /// The chunks that the thread takes at once.
    #[inline]
    pub(crate) fn multiple(&self) -> u32 {
        self.multiple.get()
    }

    /// Has the thread take `multiple` chunks at once until the answer is dropped.
    #[inline]
    pub(crate) fn take_at_once(&self, multiple: u32) -> RestoreMultiple<'_> {
        RestoreMultiple(self, self.multiple.replace(multiple))
    }

    /// Begins to count the chunks of a region.
    #[inline]
    pub(crate) fn begin(&self) {
        self.counts.set(true);
        self.chunks.set(0);
    }

    /// A loop has that many chunks.
    #[inline]
    pub(crate) fn add(&self, chunks: u64) {
        self.chunks.set(self.chunks.get().saturating_add(chunks));
    }

    /// Ends the count; answers it.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.counts.set(false);
        self.chunks.get()
    }
}
