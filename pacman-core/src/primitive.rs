//! The atomics that the concurrent protocols of this crate are written in.
//!
//! Under `--cfg loom` they are loom's, which tries every interleaving; the
//! protocols import from here alone, so that the code checked is the code run.

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

/// The value of `word`, of which the calling thread is the only writer.
///
/// Under loom no access of its own: loom 0.7 remembers one access of a word, the last. The writer's
/// load, right before its store, hid the reader's load from the store, and loom tried no
/// execution in which the store comes first. Loom fails where another thread does write the word.
#[inline(always)]
pub(crate) fn own(word: &AtomicU64) -> u64 {
    #[cfg(loom)]
    // SAFETY: loom's function checks what it asks for: no other thread stores.
    return unsafe { word.unsync_load() };
    // ATOMICS: a thread sees its own stores in order.
    #[cfg(not(loom))]
    word.load(Ordering::Relaxed)
}

/// As [`own`], by a plain load, which the compiler makes a part of the comparison that needs it.
///
/// # Safety
/// Other threads may load the word, and none may store to it.
#[inline(always)]
pub(crate) unsafe fn own_plain(word: &AtomicU64) -> u64 {
    #[cfg(loom)]
    return own(word);
    // ATOMICS: loads do not race with each other, and the only stores are this thread's.
    // SAFETY: the word is there, and the caller's promise.
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
    let made;
    // SAFETY: no instruction. Not `pure`, or it would be put off as well.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) value => made,
            options(nomem, nostack, preserves_flags));
    }
    made
}
