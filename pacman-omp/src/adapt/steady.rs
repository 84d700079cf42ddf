//! A held region between two looks of its controller.
//!
//! While a region is held its controller only counts and watches for drift. It learns as much from
//! eight executions told at once, and they take less time than one after the other: its state is
//! no longer in the cache after a region, and a region of 20 microseconds is to lose no part of a
//! percent to this. An execution that is longer than the others ends the wait.

use std::sync::atomic::{AtomicU64, Ordering};

use try_lock::TryLock;

/// What is kept for a region, on a cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Steady {
    /// The threads of [`Held`]; 0 where the controller is asked each time.
    held: AtomicU64,
    notes: TryLock<Notes>,
}

/// How a region is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// The threads that the runtime would give it.
    pub(super) default: u32,
    /// What the real entry is given; 0 leaves it to the runtime.
    pub(super) threads: u32,
}

/// How many executions wait at most.
pub(super) const MOST: usize = 8;

/// Ticks of executions that the controller does not know yet.
#[derive(Debug, Default)]
struct Notes {
    /// More than these are told at once.
    high: u32,
    count: u32,
    ticks: [u32; MOST],
}

impl Held {
    /// The threads of a team that runs so.
    pub(super) fn size(self) -> u32 {
        if self.threads > 0 { self.threads } else { self.default }
    }
}

impl Steady {
    /// How the region is held, if nobody need be asked.
    #[inline]
    pub(super) fn held(&self) -> Option<Held> {
        // ATOMICS: one word, on which nothing else hangs.
        let word = self.held.load(Ordering::Relaxed);
        let held = Held { default: (word >> 32) as u32, threads: word as u32 };
        (held.default > 0).then_some(held)
    }

    /// It is held so until an execution takes more than so many ticks, or eight were noted; `None`
    /// if it is not.
    pub(super) fn hold(&self, held: Option<(Held, f64)>) {
        let word = match (held, self.notes.try_lock()) {
            (Some((held, high)), Some(mut notes)) if high < f64::from(u32::MAX) => {
                notes.high = high as u32;
                u64::from(held.default) << 32 | u64::from(held.threads)
            }
            _ => 0,
        };
        if self.held.load(Ordering::Relaxed) != word {
            self.held.store(word, Ordering::Relaxed);
        }
    }

    /// An execution took so many ticks. False if the controller is to be told, of this one as well.
    #[inline]
    pub(super) fn note(&self, ticks: u64) -> bool {
        // Two threads that start the same region, or one that was gone when the process forked.
        let Some(mut notes) = self.notes.try_lock() else {
            self.held.store(0, Ordering::Relaxed);
            return false;
        };
        let count = notes.count as usize;
        if ticks > u64::from(notes.high) || count + 1 >= MOST {
            return false;
        }
        notes.ticks[count] = ticks as u32;
        notes.count += 1;
        true
    }

    /// Tells `each` of those that wait.
    pub(super) fn tell(&self, each: impl FnMut(u64)) {
        let Some(mut notes) = self.notes.try_lock() else { return };
        let count = std::mem::take(&mut notes.count) as usize;
        notes.ticks[..count].iter().map(|&ticks| u64::from(ticks)).for_each(each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(steady: &Steady) -> Vec<u64> {
        let mut all = Vec::new();
        steady.tell(|ticks| all.push(ticks));
        all
    }

    #[test]
    fn executions_wait_until_there_are_eight() {
        let steady = Steady::default();
        assert_eq!(steady.held(), None);
        let held = Held { default: 4, threads: 2 };
        steady.hold(Some((held, 100.0)));
        assert_eq!(steady.held(), Some(held));
        let noted: Vec<u64> = (1..20).take_while(|&ticks| steady.note(ticks)).collect();
        assert_eq!(noted, [1, 2, 3, 4, 5, 6, 7], "the eighth is told with them");
        assert_eq!(told(&steady), noted);
        assert_eq!(told(&steady), Vec::<u64>::new(), "once");
        assert!(steady.note(8));
        assert_eq!(told(&steady), [8]);
    }

    #[test]
    fn a_long_one_is_told_at_once() {
        let steady = Steady::default();
        steady.hold(Some((Held { default: 4, threads: 0 }, 100.0)));
        assert!(steady.note(100) && !steady.note(101) && !steady.note(1 << 40));
        assert_eq!(told(&steady), [100]);
    }

    #[test]
    fn what_is_too_long_or_taken_is_asked_each_time() {
        let steady = Steady::default();
        let held = Held { default: 4, threads: 0 };
        assert_eq!((held.size(), Held { threads: 3, ..held }.size()), (4, 3));
        for high in [5e9, f64::INFINITY, f64::NAN] {
            steady.hold(Some((held, high)));
            assert_eq!(steady.held(), None, "{high}");
        }
        steady.hold(Some((held, 100.0)));
        let taken = steady.notes.try_lock();
        assert!(!steady.note(1));
        assert_eq!(steady.held(), None);
        steady.hold(Some((held, 100.0)));
        assert_eq!(steady.held(), None, "whoever has it may never give it back");
        drop(taken);
        steady.hold(Some((held, 100.0)));
        assert_eq!(steady.held(), Some(held));
        steady.hold(None);
        assert_eq!(steady.held(), None);
    }
}
