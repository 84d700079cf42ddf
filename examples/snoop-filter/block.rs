//! Memory in huge pages where the system gives them.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fs;
use std::slice;

/// A huge page of x86; its offset decides the set of a private cache.
const HUGE: usize = 2 << 20;

/// Words that begin at a huge page. The thread that makes the block touches it first.
pub(crate) struct Block {
    first: *mut u64,
    words: usize,
    layout: Layout,
}

// SAFETY: the block owns its memory, which has no tie to a thread.
unsafe impl Send for Block {}

impl Block {
    pub(crate) fn new(bytes: usize) -> Block {
        let whole = bytes.next_multiple_of(HUGE);
        let layout = Layout::from_size_align(whole, HUGE).expect("options bound the size");
        // SAFETY: the size is at least a huge page, so not 0.
        let first = unsafe { alloc(layout) }.cast::<u64>();
        if first.is_null() {
            handle_alloc_error(layout);
        }
        let words = bytes / size_of::<u64>();
        // Before the first touch, which decides the size of the page. It is advice only: without huge
        // pages the experiment still runs, and its output says so.
        // SAFETY: the range is the allocation, and the advice changes no content.
        unsafe { libc::madvise(first.cast(), whole, libc::MADV_HUGEPAGE) };
        // SAFETY: the allocation has room for as many words.
        unsafe { first.write_bytes(1, words) };
        Block { first, words, layout }
    }

    /// Reads the block once and returns the sum of its words.
    pub(crate) fn sum(&self) -> u64 {
        // SAFETY: `new` wrote all words, and no code writes them later.
        let words = unsafe { slice::from_raw_parts(self.first, self.words) };
        words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it with this layout, and no borrow is left.
        unsafe { dealloc(self.first.cast(), self.layout) };
    }
}

/// The bytes of this process in huge pages; `None` if the kernel does not report them.
pub(crate) fn in_huge_pages() -> Option<usize> {
    let text = fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("AnonHugePages:"))?;
    let kilobytes: usize = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes << 10)
}
