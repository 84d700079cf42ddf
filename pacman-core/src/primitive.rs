//! The atomics of this crate's concurrent protocols.
//!
//! Under `--cfg loom` they are loom's, which tries every interleaving. The protocols import only
//! from here, so that the checked code is the code that runs.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(all(test, loom))]
pub(crate) use pacman_suite::interleave;
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Tells the machine (or loom) that this thread waits for another.
#[inline]
pub(crate) fn relax() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::hint::spin_loop();
}

/// The value of `word`. The calling thread must be its only writer.
///
/// Under loom this is not an access of its own, because loom 0.7 remembers only the last access of
/// a word. The writer's load, right before its store, would hide the reader's load from the store.
/// Then loom would try no execution in which the store comes first. Loom still fails if another
/// thread writes the word.
#[inline(always)]
pub(crate) fn own(word: &AtomicU64) -> u64 {
    #[cfg(loom)]
    // SAFETY: loom's function checks what it asks for: no other thread stores.
    return unsafe { word.unsync_load() };
    // ATOMICS: a thread sees its own stores in order.
    #[cfg(not(loom))]
    word.load(Ordering::Relaxed)
}

/// Like [`own`], by a plain load, which the compiler can merge with a comparison.
///
/// # Safety
/// Other threads may load the word, and none may store to it.
#[inline(always)]
pub(crate) unsafe fn own_plain(word: &AtomicU64) -> u64 {
    #[cfg(loom)]
    return own(word);
    // ATOMICS: loads do not race with each other, and the only stores are this thread's.
    // SAFETY: the reference is valid, and the caller keeps its promise.
    #[cfg(not(loom))]
    unsafe {
        word.as_ptr().read()
    }
}

/// Returns `value`, and makes the compiler compute it here and only once.
///
/// Otherwise the compiler may delay or repeat the computation, which takes more registers or
/// instructions on the fast path.
#[inline(always)]
pub(crate) fn made(value: u64) -> u64 {
    crate::arch::made(value)
}
