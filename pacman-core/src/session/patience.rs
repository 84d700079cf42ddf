//! Limits the time that a reader waits for an owner in the middle of its stores.

use std::thread;
use std::time::Duration;

use crate::primitive::relax;

/// A running owner has finished by then.
const SPINS: u32 = 128;
/// An owner that waits for this very processor has run by then.
const YIELDS: u32 = SPINS + 1000;
/// An owner that other threads kept from running has run by then; a nap takes a millisecond.
const NAPS: u32 = YIELDS + 1000;

/// A reader's patience with one owner.
///
/// An owner may never finish. A forked child inherits its half-written sample, and a signal handler
/// that reads may have interrupted the owner on the same thread.
pub(super) struct Patience<F> {
    tries: u32,
    is_gone: F,
}

impl<F: Fn() -> bool> Patience<F> {
    /// `is_gone` tells whether the owner does not exist in this process; it is asked late.
    #[inline]
    pub(super) fn with(is_gone: F) -> Patience<F> {
        Patience { tries: 0, is_gone }
    }

    /// Waits a moment; false where waiting any longer has no point.
    pub(super) fn wait(&mut self) -> bool {
        self.tries += 1;
        if self.tries <= SPINS {
            relax();
        } else if self.tries > NAPS || (self.is_gone)() {
            return false;
        } else if self.tries <= YIELDS {
            thread::yield_now();
        } else {
            thread::sleep(Duration::from_millis(1));
        }
        true
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_at_once_for_the_dead_and_in_the_end_for_all() {
        let mut tries = 0;
        let mut patience = Patience::with(|| true);
        while patience.wait() {
            tries += 1;
        }
        assert_eq!(tries, SPINS);
        let mut patience = Patience { tries: NAPS - 1, is_gone: || false };
        assert!(patience.wait());
        assert!(!patience.wait());
    }
}
