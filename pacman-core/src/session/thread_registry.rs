//! The attachments that the calling thread keeps.
//!
//! A thread that cannot keep an [`Attached`] value (a pool's worker, an OpenMP
//! thread) leaves it here; it is detached when the thread ends.

use std::cell::{Cell, RefCell};
use std::ptr;

use super::attached::Attached;
use crate::report::ThreadState;

thread_local! {
    /// The attachments that the thread left here.
    static KEPT: Kept = const { Kept { list: RefCell::new(Vec::new()) } };
    /// The kept attachment used last, and its session: most threads have one.
    /// Has no destructor, so that reading it is one load from the thread's block.
    static LAST: Cell<(u64, *const Attached)> = const { Cell::new((0, ptr::null())) };
}

struct Kept {
    /// Boxed, because `LAST` points at them.
    #[allow(clippy::vec_box)]
    list: RefCell<Vec<Box<Attached>>>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        LAST.set((0, ptr::null()));
        for attached in self.list.get_mut().drain(..) {
            attached.leave(ThreadState::Exited);
        }
    }
}

/// Whether the thread can keep an attachment: not once its thread-locals are gone.
pub(super) fn can_keep() -> bool {
    KEPT.try_with(|_| ()).is_ok()
}

/// Leaves an attachment with the thread; false if the thread [cannot keep](can_keep) it, which
/// ends it.
pub(super) fn keep(attached: Attached) -> bool {
    KEPT.try_with(|kept| kept.list.borrow_mut().push(Box::new(attached))).is_ok()
}

/// Takes an attachment back from the thread; `None` if there is none, or if it
/// is in use by [`with`] further up this thread's stack.
pub(super) fn take(session: u64) -> Option<Attached> {
    let taken = KEPT.try_with(|kept| {
        let mut list = kept.list.try_borrow_mut().ok()?;
        let position = list.iter().position(|attached| attached.session() == session)?;
        LAST.set((0, ptr::null()));
        Some(*list.swap_remove(position))
    });
    taken.ok().flatten()
}

/// Runs `act` with the attachment that the thread keeps for a session.
pub(super) fn with<R>(session: u64, act: impl FnOnce(&Attached) -> R) -> Option<R> {
    let done = KEPT.try_with(|kept| {
        // The borrow lasts while `act` runs: `take` then finds the list in use.
        let list = kept.list.borrow();
        Some(act(list.iter().find(|attached| attached.session() == session)?))
    });
    done.ok().flatten()
}

/// As [`with`], for an `act` of this crate that takes no attachment away.
#[inline(always)]
pub(super) fn quickly<R>(session: u64, act: impl FnOnce(&Attached) -> R) -> Option<R> {
    let (of, mut last) = LAST.get();
    if of != session {
        last = look_up(session)?;
    }
    // SAFETY: LAST points at a boxed attachment of this thread's list, and is
    // cleared before one leaves the list; `act` removes none.
    Some(act(unsafe { &*last }))
}

/// Points `LAST` at the attachment for a session, and answers it.
#[cold]
fn look_up(session: u64) -> Option<*const Attached> {
    KEPT.try_with(|kept| {
        let list = kept.list.borrow();
        let attached = list.iter().find(|attached| attached.session() == session)?;
        LAST.set((session, &raw const **attached));
        Some(&raw const **attached)
    })
    .ok()?
}
