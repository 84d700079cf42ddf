//! The phases that a thread has named, so that a name is looked up without a lock.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use pacman_core::Phase;

thread_local! {
    static KNOWN: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
}

/// A phase that this thread has begun before, in counters that it is attached to.
struct Known {
    counters: Weak<()>,
    name: Box<str>,
    phase: Phase,
}

/// The phase of that name in the counters that `token` stands for, if this thread remembers it.
///
/// Phases of one thread are few, and the last ones are used again: a list is quicker than a map.
pub(crate) fn phase(token: &Arc<()>, name: &str) -> Option<Phase> {
    let find = |known: &RefCell<Vec<Known>>| {
        let known = known.borrow();
        let of = |one: &&Known| one.counters.as_ptr() == Arc::as_ptr(token) && *one.name == *name;
        known.iter().find(of).map(|one| one.phase)
    };
    KNOWN.try_with(find).ok().flatten()
}

/// Remembers a phase on this thread, and forgets those of counters that are gone.
///
/// A thread whose thread-locals are gone remembers nothing.
pub(crate) fn remember(token: &Arc<()>, name: &str, phase: Phase) {
    let _ = KNOWN.try_with(|known| {
        let mut known = known.borrow_mut();
        known.retain(|one| one.counters.strong_count() > 0);
        known.push(Known { counters: Arc::downgrade(token), name: name.into(), phase });
    });
}
