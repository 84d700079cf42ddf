//! The library's own heap.
//!
//! In the program's heap, the library's blocks would lie between the program's blocks. libgomp
//! allocates a team of one at every region, and would take two hundred more instructions to find and
//! merge the block. A program that reads freed memory would read other values. So the library has its
//! own heap.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dlmalloc::GlobalDlmalloc;

use crate::isolation::Quiet;

#[global_allocator]
static HEAP: Heap = Heap { spare: Spare::new() };

/// The heap, with spare memory in case the kernel refuses more. A preloaded library must not end the
/// program for lack of a few bytes.
struct Heap {
    spare: Spare,
}

/// Whether the kernel has refused memory. Spare memory is then for work that has begun.
pub(crate) fn is_short() -> bool {
    HEAP.spare.used.load(Ordering::Relaxed) > 0
}

/// Whether `fork` takes the heap's lock.
static FORKS_LOCK: AtomicBool = AtomicBool::new(false);

/// Has signals wait while the thread has the heap's lock: a handler that forks would wait for it.
fn quiet() -> Option<Quiet> {
    FORKS_LOCK.load(Ordering::Relaxed).then(Quiet::begin)
}

impl Heap {
    #[cold]
    fn short(&self, layout: Layout) -> *mut u8 {
        self.spare.alloc(layout)
    }
}

// SAFETY: each block belongs to one of two allocators, and goes back to that one.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _quiet = quiet();
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        let block = unsafe { GlobalDlmalloc.alloc(layout) };
        if block.is_null() { self.short(layout) } else { block }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let _quiet = quiet();
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        let block = unsafe { GlobalDlmalloc.alloc_zeroed(layout) };
        // Spare memory is zero, and `spare` gives each byte out only once.
        if block.is_null() { self.short(layout) } else { block }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !self.spare.has(block) {
            let _quiet = quiet();
            // SAFETY: the block belongs to this allocator.
            unsafe { GlobalDlmalloc.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.spare.has(block) {
            let _quiet = quiet();
            // SAFETY: the block belongs to this allocator.
            let larger = unsafe { GlobalDlmalloc.realloc(block, layout, size) };
            if !larger.is_null() {
                return larger;
            }
        }
        // SAFETY: the caller guarantees that the size, rounded up, is valid for a layout. The new block has
        // room for the smaller of the two sizes. The old one is freed after the copy.
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

/// Memory in the library's own image. Each byte is given out only once.
struct Spare {
    memory: UnsafeCell<[u8; Spare::SIZE]>,
    used: AtomicUsize,
}

// SAFETY: the atomic counter gives every byte to one caller.
unsafe impl Sync for Spare {}

impl Spare {
    /// Enough for a few threads and regions. Untouched pages take no memory.
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
        // ATOMICS: the counter only divides the memory; it publishes no contents.
        let used = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            fits(used).map(|(_, end)| end)
        });
        let first = used.ok().and_then(|used| Some(fits(used)?.0));
        // SAFETY: `first` and the block's end are within the memory.
        first.map_or(null_mut(), |first| unsafe { start.add(first) })
    }

    fn has(&self, block: *mut u8) -> bool {
        let start = self.memory.get() as usize;
        (start..start + Spare::SIZE).contains(&(block as usize))
    }
}

/// Makes `fork` hold the heap's lock. Call this before
/// [`install_atfork`](crate::fork::install_atfork): a thread that holds a lock of this library may
/// allocate, so `fork` must take those locks first.
pub(crate) fn watch_forks() {
    // SAFETY: registers handlers that are never unloaded; called once.
    unsafe { dlmalloc::enable_alloc_after_fork() };
    FORKS_LOCK.store(true, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use std::alloc::Layout;

    use super::Spare;

    #[test]
    fn spare_memory_is_given_out_once_and_runs_out() {
        let spare = Box::new(Spare::new());
        let layout = |size, align| Layout::from_size_align(size, align).unwrap();
        let first = spare.alloc(layout(3, 1));
        let second = spare.alloc(layout(100, 64));
        assert!(second as usize >= first as usize + 3 && second as usize % 64 == 0);
        assert!(spare.has(first) && spare.has(second));
        assert!(spare.alloc(layout(Spare::SIZE, 1)).is_null(), "more than is left");
        let third = spare.alloc(layout(8, 8));
        assert!(third as usize >= second as usize + 100, "a refused request takes nothing");
        assert!(!spare.has(std::ptr::null_mut()));
    }
}
