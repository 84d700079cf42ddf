//! The attachments of the calling thread.
//!
//! C has no value that detaches when it goes out of scope, so a thread's
//! attachments stay here and are ended when the thread ends. They hold the
//! counters but not the session: closing a session frees its name at once,
//! whichever threads are still attached, and each of these lets go of its
//! counters at its next call or at its end.

use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pacman_core::{Attached, Phase, cancel};

use crate::error::{Failure, Result, Status};
use crate::registry::{self, Entry, Life};

/// One attachment of this thread.
pub(crate) struct Kept {
    handle: usize,
    life: Arc<Life>,
    pub(crate) attached: Attached,
    /// How many events each of its samples has.
    pub(crate) events: usize,
    /// The one used last, under its word: most begins are followed by their end.
    recent: Cell<(u64, Option<Phase>)>,
}

struct Here {
    /// Boxed, because `LAST` points at them.
    #[allow(clippy::vec_box)]
    list: RefCell<Vec<Box<Kept>>>,
}

thread_local! {
    static HERE: Here = const { Here { list: RefCell::new(Vec::new()) } };
    /// The attachment used last, under its handle: most threads have one. Has no
    /// destructor, so that looking costs a load and a comparison.
    static LAST: Cell<(usize, *const Kept)> = const { Cell::new((0, ptr::null())) };
}

impl Drop for Here {
    fn drop(&mut self) {
        LAST.set((0, ptr::null()));
        for kept in self.list.get_mut().drain(..) {
            kept.attached.detach_exited();
        }
    }
}

impl Kept {
    /// The phase behind a word from C.
    #[inline]
    pub(crate) fn phase(&self, bits: u64) -> Result<Phase> {
        match self.recent.get() {
            (word, Some(phase)) if word == bits => Ok(phase),
            _ => self.other_phase(bits),
        }
    }

    fn other_phase(&self, bits: u64) -> Result<Phase> {
        let Some(phase) = self.attached.phase_from_bits(bits) else {
            return Err(cancel::put_off_during(|| self.foreign(bits)));
        };
        self.recent.set((bits, Some(phase)));
        Ok(phase)
    }

    #[cold]
    fn foreign(&self, bits: u64) -> Failure {
        let entry = match registry::find(self.handle, "use a phase") {
            Ok(entry) => entry,
            Err(failure) => return failure,
        };
        Failure::new(
            Status::Handle,
            format!(
                "cannot use phase {bits:#x} in session {:?}: it is not one of its phases; \
                 pass what pacman_phase_define gave for this session",
                entry.session.name()
            ),
        )
    }
}

/// Runs `act` with the attachment that this thread keeps for a session. `act`
/// must not take an attachment away.
#[inline(always)]
pub(crate) fn with<R>(
    handle: usize,
    wish: &str,
    act: impl FnOnce(&Kept) -> Result<R>,
) -> Result<R> {
    let (of, mut last) = LAST.get();
    if of != handle {
        last = look_up(handle);
    }
    // SAFETY: `LAST` points at a boxed attachment of this thread's list, or is
    // null, also under the handle 0, which no session has; it is cleared before
    // one leaves the list, and `act` removes none.
    match unsafe { last.as_ref() } {
        Some(kept) if !kept.life.is_closed() => act(kept),
        _ => Err(cancel::put_off_during(|| absent(handle, wish))),
    }
}

/// Points `LAST` at the attachment for a session; null if there is none.
#[cold]
fn look_up(handle: usize) -> *const Kept {
    let found = HERE.try_with(|here| {
        let list = here.list.borrow();
        let kept = list.iter().find(|kept| kept.handle == handle)?;
        LAST.set((handle, &raw const **kept));
        Some(&raw const **kept)
    });
    found.ok().flatten().unwrap_or(ptr::null())
}

/// Whether this thread is attached, and on which CPU the session bound it.
pub(crate) fn standing(handle: usize) -> Option<Option<u32>> {
    HERE.try_with(|here| {
        let list = here.list.borrow();
        let kept = list.iter().find(|kept| kept.handle == handle)?;
        Some(kept.attached.place().map(|place| place.cpu()))
    })
    .ok()
    .flatten()
}

/// Refuses a thread whose thread-locals are gone: nothing would end its attachment.
pub(crate) fn check_alive(wish: &str) -> Result<()> {
    HERE.try_with(|_| ()).map_err(|_| ending(wish))
}

#[cold]
fn ending(wish: &str) -> Failure {
    Failure::new(
        Status::Detached,
        format!(
            "cannot {wish}: it is ending, in an exit handler or a destructor, and keeps no \
             counters any more"
        ),
    )
}

/// Keeps an attachment until it is taken, its session closed or the thread ended.
pub(crate) fn keep(handle: usize, entry: &Entry, attached: Attached) -> Result<()> {
    let (number, life) = (attached.number(), &entry.life);
    let kept = Kept {
        handle,
        life: Arc::clone(life),
        attached,
        events: entry.session.events().len(),
        recent: Cell::new((0, None)),
    };
    HERE.try_with(|here| here.list.borrow_mut().push(Box::new(kept)))
        .map_err(|_| ending("attach this thread"))?;
    life.threads.fetch_max(number + 1, Ordering::Relaxed);
    Ok(())
}

/// Ends this thread's attachment to a session.
pub(crate) fn end(handle: usize, wish: &str) -> Result<()> {
    LAST.set((0, ptr::null()));
    let taken = HERE.try_with(|here| {
        let mut list = here.list.borrow_mut();
        let position = list.iter().position(|kept| kept.handle == handle)?;
        Some(list.swap_remove(position))
    });
    match taken {
        Ok(Some(kept)) if !kept.life.is_closed() => Ok(()),
        _ => Err(absent(handle, wish)),
    }
}

/// Ends this thread's attachments to sessions that were closed.
pub(crate) fn let_go() {
    LAST.set((0, ptr::null()));
    // A thread that is past its end has nothing left to let go.
    let _ = HERE.try_with(|here| here.list.borrow_mut().retain(|kept| !kept.life.is_closed()));
}

/// Why there is no attachment: a wrong handle, or a thread that is not attached.
#[cold]
fn absent(handle: usize, wish: &str) -> Failure {
    let_go();
    match registry::find(handle, wish) {
        Err(failure) => failure,
        Ok(_) if check_alive(wish).is_err() => ending(&format!("{wish} on this thread")),
        Ok(entry) => Failure::new(
            Status::Detached,
            format!(
                "cannot {wish} on this thread: it is not attached to session {:?}; \
                 call pacman_attach first",
                entry.session.name()
            ),
        ),
    }
}
