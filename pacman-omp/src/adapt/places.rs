//! Where the members of a narrowed team run: a core each, before any shares one.
//!
//! Only on machines with SMT, and only where neither the user nor the runtime binds threads.
//! libgomp never binds a worker anew that was bound here, and threads that it starts inherit the
//! mask of the one that starts them: so that one gets its own mask back after every execution,
//! and workers get theirs in the next team that is not placed.
//!
//! A program that looks at its mask meanwhile, sets it, or starts what inherits it, finds its own:
//! the thread gets it back before, and from then on nobody is bound in that process. System calls
//! of the program's own, and `/proc`, tell of the one context still.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use pacman_core::Place;

use super::mask;
use crate::process;
use crate::worker::Worker;

/// Threads were bound, and may have to be let go of.
static BOUND: AtomicBool = AtomicBool::new(false);

/// The program had to do with the mask of a thread that was bound: no more of that.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Whether threads may be bound still.
pub(super) fn may_bind() -> bool {
    !ENDED.load(Ordering::Relaxed)
}

/// The calling thread has its mask told or set, or handed on, by what it calls next.
pub(crate) fn mask_matters() {
    if !has_bound() {
        return;
    }
    if let Some(worker) = Worker::known().filter(|worker| worker.bound.to.get().is_some()) {
        ENDED.store(true, Ordering::Relaxed);
        worker.bound.at(None);
    }
}

/// Threads are going to be bound.
pub(super) fn binds() {
    process::set_once(&BOUND);
}

/// Whether any thread of this process may be bound, or was.
#[inline]
pub(crate) fn has_bound() -> bool {
    // ATOMICS: threads that a team binds come to know of it with the team.
    BOUND.load(Ordering::Relaxed)
}

/// What is known of the mask of one thread.
#[derive(Default)]
pub(crate) struct Bound {
    to: Cell<Option<u32>>,
    own: Cell<Option<libc::cpu_set_t>>,
}

impl Bound {
    /// The calling thread goes to `place`, or back to where it was without one.
    #[inline]
    pub(crate) fn at(&self, place: Option<&Place>) {
        let wanted = place.map(Place::cpu);
        if self.to.get() != wanted {
            self.go(wanted);
        }
    }

    #[cold]
    fn go(&self, wanted: Option<u32>) {
        if self.own.get().is_none() {
            let Some(own) = mask::of(0) else { return };
            self.own.set(Some(own));
        }
        let set = match wanted {
            Some(cpu) => mask::with([cpu]),
            // The program may bind threads itself between regions: looked up again next time.
            None => match self.own.take() {
                Some(own) => own,
                None => return,
            },
        };
        // A context that is gone leaves the thread where it is: that is slower, not wrong.
        mask::set(0, &set);
        self.to.set(wanted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told() -> u32 {
        let mut set = mask::with([]);
        let size = std::mem::size_of_val(&set);
        // SAFETY: a set of the size that is told.
        assert_eq!(unsafe { libc::sched_getaffinity(0, size, &raw mut set) }, 0);
        // SAFETY: a set.
        unsafe { libc::CPU_COUNT(&set) as u32 }
    }

    /// One test for all, because whether anybody is bound is the process's.
    #[test]
    fn a_program_that_looks_at_its_mask_finds_its_own() {
        let own = told();
        assert!(may_bind() && own > 0);
        binds();
        mask_matters();
        assert!(may_bind(), "a thread that is not bound may look as it likes");
        let worker = Worker::here();
        // SAFETY: it only answers a number.
        let here = unsafe { libc::sched_getcpu() };
        worker.bound.go(u32::try_from(here).ok());
        // SAFETY: a set.
        let truly = || mask::of(0).map(|set| unsafe { libc::CPU_COUNT(&set) });
        assert_eq!(truly(), Some(1));
        assert_eq!(told(), own, "by the function that stands before the C library's");
        assert_eq!(truly(), Some(own as i32));
        assert!(!may_bind(), "that program looks");

        // What is started by who is bound inherits its own mask, too.
        worker.bound.go(u32::try_from(here).ok());
        assert_eq!(std::thread::spawn(told).join().expect("a thread"), own);
    }
}
