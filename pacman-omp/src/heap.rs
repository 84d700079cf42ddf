//! The library's own heap.
//!
//! What a preloaded library takes from the program's heap lies between the program's own blocks.
//! libgomp, which allocates a team of one anew at every region, then takes two hundred instructions
//! more to find and to merge the same block; and a program that reads what it has freed reads
//! something else. So the library's memory comes from elsewhere.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

use dlmalloc::GlobalDlmalloc;

#[global_allocator]
static HEAP: Heap = Heap { spare: Spare::new() };

/// The heap, and what there is when the kernel refuses it more: a library in a program that did not
/// ask for it does not end the program for want of a few bytes.
struct Heap {
    spare: Spare,
}

// SAFETY: each block is of one of two allocators, and goes back to that one.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as asked.
        let block = unsafe { GlobalDlmalloc.alloc(layout) };
        if block.is_null() { self.spare.alloc(layout) } else { block }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as asked.
        let block = unsafe { GlobalDlmalloc.alloc_zeroed(layout) };
        // No part of the spare memory is given away twice, and all was zero.
        if block.is_null() { self.spare.alloc(layout) } else { block }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !self.spare.has(block) {
            // SAFETY: it came from there.
            unsafe { GlobalDlmalloc.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.spare.has(block) {
            // SAFETY: it came from there.
            let larger = unsafe { GlobalDlmalloc.realloc(block, layout, size) };
            if !larger.is_null() {
                return larger;
            }
        }
        // SAFETY: the caller has made sure that the size, rounded up, is a layout's; the new block has
        // room for the smaller of the two sizes, and the old one goes when it was copied.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                ptr::copy_nonoverlapping(block, new, layout.size().min(size));
                self.dealloc(block, layout);
            }
            new
        }
    }
}

/// Memory of the library's own image, given away once.
struct Spare {
    memory: UnsafeCell<[u8; Spare::SIZE]>,
    used: AtomicUsize,
}

// SAFETY: every byte is given to one caller, by the atomic counter.
unsafe impl Sync for Spare {}

impl Spare {
    /// A few threads and regions; takes no memory until it is used.
    const SIZE: usize = 256 * 1024;

    const fn new() -> Spare {
        Spare { memory: UnsafeCell::new([0; Spare::SIZE]), used: AtomicUsize::new(0) }
    }

    fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = self.memory.get().cast::<u8>();
        let fits = |used: usize| -> Option<(usize, usize)> {
            let padding = (start as usize + used).wrapping_neg() & (layout.align() - 1);
            let first = used + padding;
            first
                .checked_add(layout.size())
                .filter(|end| *end <= Spare::SIZE)
                .map(|end| (first, end))
        };
        // ATOMICS: who gets a block is all that is agreed upon; what is in it passes by other means.
        let used = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            fits(used).map(|(_, end)| end)
        });
        let first = used.ok().and_then(|used| Some(fits(used)?.0));
        // SAFETY: it is within the memory.
        first.map_or(null_mut(), |first| unsafe { start.add(first) })
    }

    fn has(&self, block: *mut u8) -> bool {
        let start = self.memory.get() as usize;
        (start..start + Spare::SIZE).contains(&(block as usize))
    }
}

/// Has the heap's lock held over forks. Before [`fork::watch`](crate::fork::watch): whoever holds a
/// lock of this library may be asking for memory, so that theirs are taken first.
pub(crate) fn watch_forks() {
    // SAFETY: registers handlers that are never unloaded; called once.
    unsafe { dlmalloc::enable_alloc_after_fork() };
}

#[cfg(test)]
mod tests {
    use std::alloc::Layout;

    use super::Spare;

    #[test]
    fn spare_memory_is_given_once_and_ends() {
        let spare = Box::new(Spare::new());
        let layout = |size, align| Layout::from_size_align(size, align).unwrap();
        let first = spare.alloc(layout(3, 1));
        let second = spare.alloc(layout(100, 64));
        assert!(second as usize >= first as usize + 3 && second as usize % 64 == 0);
        assert!(spare.has(first) && spare.has(second));
        assert!(spare.alloc(layout(Spare::SIZE, 1)).is_null(), "more than is left");
        let third = spare.alloc(layout(8, 8));
        assert!(third as usize >= second as usize + 100, "what did not fit took nothing");
        assert!(!spare.has(std::ptr::null_mut()));
    }
}
