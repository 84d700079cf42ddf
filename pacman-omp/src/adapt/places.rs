//! Where the members of a narrowed team run: a core each, before any shares one.
//!
//! Only on machines with SMT, and only where neither the user nor the runtime binds threads.
//! libgomp never binds a worker anew that was bound here, and threads that it starts inherit the
//! mask of the one that starts them: so that one gets its own mask back after every execution,
//! and workers get theirs in the next team that is not placed.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use pacman_core::Place;

/// Threads were bound, and may have to be let go of.
static BOUND: AtomicBool = AtomicBool::new(false);

/// Threads are going to be bound.
pub(super) fn binds() {
    BOUND.store(true, Ordering::Relaxed);
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
        let size = std::mem::size_of::<libc::cpu_set_t>();
        // SAFETY: plain sets of bits of the size that is passed; 0 is the calling thread.
        unsafe {
            if self.own.get().is_none() {
                let mut own: libc::cpu_set_t = std::mem::zeroed();
                if libc::sched_getaffinity(0, size, &raw mut own) != 0 {
                    return;
                }
                self.own.set(Some(own));
            }
            let set = match wanted {
                Some(cpu) => {
                    let mut one: libc::cpu_set_t = std::mem::zeroed();
                    libc::CPU_SET(cpu as usize, &mut one);
                    one
                }
                // The program may bind threads itself between regions: looked up again next time.
                None => match self.own.take() {
                    Some(own) => own,
                    None => return,
                },
            };
            // A context that is gone leaves the thread where it is: that is slower, not wrong.
            libc::sched_setaffinity(0, size, &raw const set);
        }
        self.to.set(wanted);
    }
}
