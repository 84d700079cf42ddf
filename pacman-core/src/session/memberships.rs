//! The numbers of the sessions that the calling thread is attached to.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

thread_local! {
    /// The numbers of all sessions this thread is attached to. The list has no destructor, so a
    /// thread can attach and detach while its other thread-locals are destroyed. An empty list
    /// holds no memory.
    static SESSIONS: RefCell<ManuallyDrop<Vec<u64>>> =
        const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

#[allow(clippy::disallowed_methods, reason = "has no destructor, so it is always there")]
fn sessions<R>(act: impl FnOnce(&mut Vec<u64>) -> R) -> R {
    SESSIONS.with_borrow_mut(|sessions| act(sessions))
}

/// Adds a session to the thread's list; false if it is there already.
pub(super) fn register(session: u64) -> bool {
    sessions(|sessions| {
        let new = !sessions.contains(&session);
        if new {
            sessions.push(session);
        }
        new
    })
}

/// Removes a session from the thread's list.
pub(super) fn forget(session: u64) {
    sessions(|sessions| {
        sessions.retain(|other| *other != session);
        if sessions.is_empty() {
            *sessions = Vec::new();
        }
    });
}
