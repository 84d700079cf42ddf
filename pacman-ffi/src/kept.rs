//! The attachments of the calling thread.
//!
//! C has no value that detaches when it goes out of scope. So a thread's attachments stay here until
//! the thread ends. They hold the counters but not the session: closing a session frees its name at
//! once, also if threads are still attached. Each of these threads closes its counters at its next
//! call or at its end.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::LocalKey;

use pacman_core::thread_registry::{self, Keep, Last};
use pacman_core::{Attached, Phase, cancel};

use crate::error::{Failure, Result, Status};
use crate::input::EventNumbers;
use crate::registry::{self, Entry, Life};

/// One attachment of this thread.
pub(crate) struct Kept {
    handle: usize,
    life: Arc<Life>,
    pub(crate) attached: Attached,
    /// The numbers of events of each of its samples.
    pub(crate) events: EventNumbers,
    /// The phase used last, under its word: most begins are followed by their end.
    recent: Cell<(u64, Option<Phase>)>,
}

thread_local! {
    static KEPT: thread_registry::Kept<Kept> = const { thread_registry::Kept::new() };
    static LAST: Last<Kept> = const { thread_registry::none() };
}

impl Keep for Kept {
    fn key(&self) -> u64 {
        self.handle as u64
    }

    fn exited(self) {
        self.attached.detach_exited();
    }

    #[inline(always)]
    fn kept() -> &'static LocalKey<thread_registry::Kept<Kept>> {
        &KEPT
    }

    #[inline(always)]
    fn last() -> &'static LocalKey<Last<Kept>> {
        &LAST
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
    let act = |kept: &Kept| if kept.life.is_closed() { None } else { Some(act(kept)) };
    let done = match handle {
        0 => None,
        // SAFETY: not 0, and the callers' acts take no attachment away.
        handle => unsafe { thread_registry::quickly(handle as u64, act) },
    };
    match done {
        Some(Some(answer)) => answer,
        _ => Err(cancel::put_off_during(|| absent(handle, wish))),
    }
}

/// Whether this thread is attached to a session that is open.
#[inline(always)]
pub(crate) fn is_attached(handle: usize) -> bool {
    // SAFETY: the callers' handles are not 0, and the closure takes no attachment away.
    let open =
        unsafe { thread_registry::quickly(handle as u64, |kept: &Kept| !kept.life.is_closed()) };
    open == Some(true)
}

/// Whether this thread is attached, and on which CPU the session bound it.
pub(crate) fn standing(handle: usize) -> Option<Option<u32>> {
    thread_registry::with(handle as u64, |kept: &Kept| {
        kept.attached.place().map(|place| place.cpu())
    })
}

/// Whether this thread attached before the process was forked.
pub(crate) fn is_inherited(handle: usize) -> bool {
    let inherited = |kept: &Kept| kept.attached.is_inherited();
    thread_registry::with(handle as u64, inherited).unwrap_or(false)
}

/// Refuses a thread whose thread-locals are gone: nothing would end its attachment.
pub(crate) fn check_alive(wish: &str) -> Result<()> {
    if thread_registry::can_keep::<Kept>() { Ok(()) } else { Err(ending(wish)) }
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
        events: EventNumbers::of(&entry.session),
        recent: Cell::new((0, None)),
    };
    if !thread_registry::keep(kept) {
        return Err(ending("attach this thread"));
    }
    life.threads.fetch_max(number + 1, Ordering::Relaxed);
    Ok(())
}

/// Ends this thread's attachment to a session.
pub(crate) fn end(handle: usize, wish: &str) -> Result<()> {
    match thread_registry::take::<Kept>(handle as u64) {
        Some(kept) if !kept.life.is_closed() => Ok(()),
        _ => Err(absent(handle, wish)),
    }
}

/// Ends this thread's attachments to sessions that were closed.
pub(crate) fn let_go() {
    thread_registry::retain(|kept: &Kept| !kept.life.is_closed());
}

/// The reason why a thread has no attachment: a wrong handle, or a thread that is not attached.
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
