//! The library's own heap.
//!
//! What a preloaded library takes from the program's heap lies between the program's own blocks.
//! libgomp, which allocates a team of one anew at every region, then takes two hundred instructions
//! more to find and to merge the same block; and a program that reads what it has freed reads
//! something else. So the library's memory comes from elsewhere.

use dlmalloc::GlobalDlmalloc;

#[global_allocator]
static HEAP: GlobalDlmalloc = GlobalDlmalloc;

/// Has the heap's lock held over forks. Before [`fork::watch`](crate::fork::watch): whoever holds a
/// lock of this library may be asking for memory, so that theirs are taken first.
pub(crate) fn watch_forks() {
    // SAFETY: registers handlers that are never unloaded; called once.
    unsafe { dlmalloc::enable_alloc_after_fork() };
}
