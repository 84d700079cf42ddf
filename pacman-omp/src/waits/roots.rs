//! The threads that start regions inside no other.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The first of them.
static ROOT: AtomicUsize = AtomicUsize::new(0);
static ARE_SEVERAL: AtomicBool = AtomicBool::new(false);

/// Any thread may be the first, as in the child of a fork.
pub(crate) fn forget_root() {
    ROOT.store(0, Ordering::Relaxed);
    ARE_SEVERAL.store(false, Ordering::Relaxed);
}

/// Whether several threads started regions inside no other.
pub(crate) fn are_several() -> bool {
    ARE_SEVERAL.load(Ordering::Relaxed)
}

/// The kind of thread that starts a region inside no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    First,
    FirstAgain,
    Another,
}

/// Notes the thread whose state has that address.
pub(crate) fn note(own: usize) -> Root {
    if ROOT.load(Ordering::Relaxed) == own {
        return Root::FirstAgain;
    }
    match ROOT.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => Root::First,
        Err(_) => {
            ARE_SEVERAL.store(true, Ordering::Relaxed);
            Root::Another
        }
    }
}
