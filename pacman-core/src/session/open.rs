//! The phases that a thread has begun and not ended, as others may see them.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, compiler_fence};

use pacman_events::{Error, ErrorKind};

/// The depth while the thread itself is inside a begin or an end. No stack has this depth or the
/// one below it, so the search for a frame finds none.
const BUSY: usize = usize::MAX - 1;
/// Phases that may be open at once on a thread at all.
pub(super) const DEEPEST: usize = 1024;
/// How often a reader looks at a thread that is inside a begin or an end before it gives up.
const LOOKS: usize = 1000;

/// The depth of a thread in phases. Only the thread itself writes it.
// ATOMICS: relaxed throughout, since no other data is read through these words. The fences keep the
// compiler from moving the owner's work out of `enter` and `leave`. A signal handler of the same
// thread needs no more.
#[derive(Debug)]
pub(crate) struct Open {
    depth: AtomicUsize,
    phases: Box<[AtomicU32]>,
}

impl Open {
    pub(crate) fn new() -> Open {
        let phases = (0..DEEPEST).map(|_| AtomicU32::new(0)).collect();
        Open { depth: AtomicUsize::new(0), phases }
    }

    /// Phases that are open; beyond any stack while a begin or an end is under way.
    #[inline(always)]
    pub(super) fn depth(&self) -> usize {
        self.depth.load(Ordering::Relaxed)
    }

    /// Whether the calling thread has interrupted its own begin or end.
    #[inline(always)]
    pub(super) fn is_busy(&self) -> bool {
        self.depth() == BUSY
    }

    /// A begin or an end is under way from here on.
    #[inline(always)]
    pub(super) fn enter(&self) {
        self.depth.store(BUSY, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }

    /// The begin or end is over, and `depth` phases are open.
    #[inline(always)]
    pub(super) fn leave(&self, depth: usize) {
        compiler_fence(Ordering::SeqCst);
        self.depth.store(depth, Ordering::Relaxed);
    }

    /// The phase at a depth.
    ///
    /// # Safety
    /// The depth must be below [`DEEPEST`].
    #[inline(always)]
    pub(super) unsafe fn at(&self, depth: usize) -> &AtomicU32 {
        debug_assert!(depth < DEEPEST);
        // SAFETY: there are DEEPEST phases, and the caller keeps the depth below. The caller has
        // compared it with the number of frames already; a second comparison would show in the cost
        // of a phase.
        unsafe { self.phases.get_unchecked(depth) }
    }

    /// The innermost open phase, for the thread itself.
    pub(super) fn innermost(&self) -> Option<u32> {
        Some(self.phases.get(self.depth().wrapping_sub(1))?.load(Ordering::Relaxed))
    }

    /// Whether a phase is open, for the thread itself.
    pub(super) fn has(&self, phase: u32) -> bool {
        let open = self.phases[..self.depth().min(DEEPEST)].iter();
        open.into_iter().any(|known| known.load(Ordering::Relaxed) == phase)
    }

    /// The phases that are open now, and how often each is.
    pub(super) fn phases(&self) -> Vec<(u32, u64)> {
        let depth = (0..LOOKS).map(|_| self.depth()).find(|depth| *depth != BUSY);
        let depth = depth.unwrap_or(0);
        let mut open: Vec<(u32, u64)> = Vec::new();
        for phase in &self.phases[..depth.min(DEEPEST)] {
            let phase = phase.load(Ordering::Relaxed);
            match open.iter_mut().find(|(known, _)| *known == phase) {
                Some((_, times)) => *times += 1,
                None => open.push((phase, 1)),
            }
        }
        open
    }
}

/// Why a signal handler may not do this now.
#[cold]
pub(super) fn reentered(wish: &str) -> Error {
    Error::new(
        ErrorKind::Reentered,
        format!(
            "cannot {wish} here: a signal handler has interrupted a begin or an end of this \
             very thread; nothing was changed, and the next signal may come at a better time"
        ),
    )
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn open_phases_are_told_with_how_often() {
        let open = Open::new();
        assert_eq!(open.phases(), []);
        for (depth, phase) in [3, 5, 3].into_iter().enumerate() {
            open.enter();
            open.phases[depth].store(phase, Ordering::Relaxed);
            open.leave(depth + 1);
        }
        assert_eq!(open.phases(), [(3, 2), (5, 1)]);
        assert!(open.has(5) && !open.has(4));
        open.enter();
        assert!(open.is_busy() && open.phases().is_empty(), "nobody waits for it for ever");
    }
}
