//! The calling thread's own list of the sessions it takes part in.
//!
//! A thread that cannot keep an [`Attached`] value (a pool's worker, an OpenMP
//! thread) leaves it here; it is detached when the thread ends.

use std::cell::{Cell, RefCell};

use super::attached::Attached;
use crate::report::ThreadState;

thread_local! {
    /// The numbers of all sessions this thread is attached to.
    static SESSIONS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    /// The attachments that the thread left here.
    static KEPT: Kept = const { Kept { list: RefCell::new(Vec::new()) } };
    /// Where in the list the last one asked for stands: most threads have one.
    static LAST: Cell<usize> = const { Cell::new(0) };
}

struct Kept {
    list: RefCell<Vec<(u64, Attached)>>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        for (_, attached) in self.list.get_mut().drain(..) {
            attached.leave(ThreadState::Exited);
        }
    }
}

/// Enters a session in the thread's list; false if it stands there already.
pub(super) fn enroll(session: u64) -> bool {
    SESSIONS.with_borrow_mut(|sessions| {
        let new = !sessions.contains(&session);
        if new {
            sessions.push(session);
        }
        new
    })
}

/// Strikes a session from the thread's list.
pub(super) fn forget(session: u64) {
    // At the end of a thread the list may be gone before the last attachment.
    let _ = SESSIONS.try_with(|sessions| sessions.borrow_mut().retain(|s| *s != session));
}

/// Leaves an attachment with the thread.
pub(super) fn keep(attached: Attached) {
    KEPT.with(|kept| kept.list.borrow_mut().push((attached.session(), attached)));
}

/// Takes an attachment back from the thread.
pub(super) fn take(session: u64) -> Option<Attached> {
    KEPT.with(|kept| {
        let mut list = kept.list.borrow_mut();
        let position = list.iter().position(|(number, _)| *number == session)?;
        Some(list.swap_remove(position).1)
    })
}

/// Runs `act` with the attachment that the thread keeps for a session.
#[inline]
pub(super) fn with<R>(session: u64, act: impl FnOnce(&Attached) -> R) -> Option<R> {
    KEPT.with(|kept| {
        let list = kept.list.borrow();
        let last = LAST.get();
        match list.get(last) {
            Some((number, attached)) if *number == session => Some(act(attached)),
            _ => {
                let position = list.iter().position(|(number, _)| *number == session)?;
                LAST.set(position);
                Some(act(&list[position].1))
            }
        }
    })
}
