//! The binding of single threads to places.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use pacman_core::Place;
use pacman_regions::watch::affinity::{self, Mask};

use crate::process;

/// Threads were bound, and may still be.
static BOUND: AtomicBool = AtomicBool::new(false);

/// The program used the mask of a bound thread. No thread is bound after that.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Whether threads may still be bound.
pub(crate) fn may_bind() -> bool {
    !ENDED.load(Ordering::Relaxed)
}

/// Threads may be bound from now on.
pub(crate) fn bind_from_now_on() {
    process::set_once(&BOUND);
}

/// Whether any thread of this process is bound or was.
#[inline]
pub(crate) fn has_bound() -> bool {
    // ATOMICS: threads that a team binds learn of it with the team.
    BOUND.load(Ordering::Relaxed)
}

/// The binding of one thread.
#[derive(Default)]
pub(crate) struct ThreadBinding {
    to: Cell<Option<u32>>,
    own: Cell<Option<Mask>>,
}

impl ThreadBinding {
    /// Binds the calling thread to `place`; without one, gives it its own mask back.
    #[inline]
    pub(crate) fn bind(&self, place: Option<&Place>) {
        let wanted = place.map(Place::cpu);
        if self.to.get() != wanted {
            self.bind_to(wanted);
        }
    }

    /// Ends all binding in this process, if the calling thread is bound.
    pub(crate) fn end_all(&self) {
        if self.to.get().is_some() {
            ENDED.store(true, Ordering::Relaxed);
            self.bind(None);
        }
    }

    #[cold]
    pub(crate) fn bind_to(&self, wanted: Option<u32>) {
        if self.own.get().is_none() {
            let Some(own) = affinity::of(0) else { return };
            self.own.set(Some(own));
        }
        let mask = match wanted {
            Some(cpu) => affinity::single(cpu),
            // The program may bind threads itself between regions, so the next binding reads the
            // mask again.
            None => match self.own.take() {
                Some(own) => own,
                None => return,
            },
        };
        // A context that went offline leaves the thread where it is, which is slower but correct.
        affinity::set(0, &mask);
        self.to.set(wanted);
    }
}
