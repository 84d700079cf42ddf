//! The slot through which other threads see a thread's latest sample.
//!
//! The protocol and its proof are in this folder's README.md.

use std::fmt;

use super::patience::Patience;
use crate::backend::{MAX_EVENTS, without_last_zeros};
use crate::primitive::{AtomicU64, Ordering, fence, own};

/// One thread's latest sample, written by its owner, read by anybody.
///
/// Aligned to two cache lines, because x86 fetches lines in pairs: neighbours of
/// different threads must not share a pair.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Slot {
    /// Even: whole. Odd: being written. 0: nothing was published yet.
    sequence: AtomicU64,
    ticks: AtomicU64,
    counts: [AtomicU64; MAX_EVENTS],
}

/// A sample as it stood in a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Published {
    pub(crate) ticks: u64,
    pub(crate) counts: [u64; MAX_EVENTS],
}

impl Published {
    /// All zeros: a buffer to read into.
    pub(crate) const EMPTY: Published = Published { ticks: 0, counts: [0; MAX_EVENTS] };
}

impl fmt::Debug for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Published")
            .field("ticks", &self.ticks)
            .field("counts", &without_last_zeros(&self.counts))
            .finish()
    }
}

impl Slot {
    pub(crate) fn new() -> Slot {
        Slot {
            sequence: AtomicU64::new(0),
            ticks: AtomicU64::new(0),
            counts: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Publishes a sample. Only the slot's owner calls this.
    #[inline(always)]
    pub(crate) fn publish<const W: usize>(&self, ticks: u64, counts: &[u64; W]) {
        // ATOMICS: one writer, so a plain load of its own counter suffices.
        let sequence = own(&self.sequence);
        self.sequence.store(sequence.wrapping_add(1), Ordering::Relaxed);
        // ATOMICS: pairs with the acquire fence in `read`: a reader that saw any
        // word written below also sees the odd sequence.
        fence(Ordering::Release);
        self.ticks.store(ticks, Ordering::Relaxed);
        for (word, count) in self.counts.iter().zip(counts) {
            word.store(*count, Ordering::Relaxed);
        }
        // ATOMICS: pairs with the acquire load in `read`: a reader that sees
        // this even sequence sees every word above.
        self.sequence.store(sequence.wrapping_add(2), Ordering::Release);
    }

    /// Reads the latest whole sample of `events` counts. Returns false before the first sample, and
    /// if the owner was stopped in the middle of its stores.
    ///
    /// Makes a system call only if the owner does not finish. `is_gone` tells whether the owner is
    /// no longer in this process.
    #[inline]
    pub(crate) fn read(
        &self,
        events: usize,
        into: &mut Published,
        is_gone: impl Fn() -> bool,
    ) -> bool {
        let mut patience = Patience::with(is_gone);
        loop {
            let before = self.sequence.load(Ordering::Acquire);
            if before == 0 {
                return false;
            }
            if before & 1 == 0 {
                into.ticks = self.ticks.load(Ordering::Relaxed);
                // In steps of four, because most sessions have at most four events. Words beyond
                // the events have no meaning.
                let fours = into.counts.chunks_exact_mut(4).zip(self.counts.chunks_exact(4));
                for (counts, words) in fours.take(events.div_ceil(4)) {
                    for (count, word) in counts.iter_mut().zip(words) {
                        *count = word.load(Ordering::Relaxed);
                    }
                }
                // ATOMICS: keeps the loads above before the check below.
                fence(Ordering::Acquire);
                if self.sequence.load(Ordering::Relaxed) == before {
                    return true;
                }
            }
            if !patience.wait() {
                return false;
            }
        }
    }

    /// Like [`read`](Self::read), for the first `W` counts and unrolled.
    #[inline(always)]
    pub(crate) fn read_first<const W: usize>(
        &self,
        into: &mut Published,
        is_gone: impl Fn() -> bool,
    ) -> bool {
        // ATOMICS: as in `read`.
        let before = self.sequence.load(Ordering::Acquire);
        if before == 0 || before & 1 == 1 {
            return self.read_late(W, into, is_gone);
        }
        into.ticks = self.ticks.load(Ordering::Relaxed);
        for (count, word) in into.counts[..W].iter_mut().zip(&self.counts[..W]) {
            *count = word.load(Ordering::Relaxed);
        }
        fence(Ordering::Acquire);
        self.sequence.load(Ordering::Relaxed) == before || self.read_late(W, into, is_gone)
    }

    /// The slow path of [`read`](Self::read), out of line.
    #[cold]
    #[inline(never)]
    fn read_late(&self, events: usize, into: &mut Published, is_gone: impl Fn() -> bool) -> bool {
        self.read(events, into, is_gone)
    }

    /// The latest whole sample of `events` counts.
    #[cfg(test)]
    pub(crate) fn latest(&self, events: usize) -> Option<Published> {
        let mut sample = Published::EMPTY;
        self.read(events, &mut sample, || false).then_some(sample)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn nothing_is_seen_before_the_first_sample() {
        let slot = Slot::new();
        assert_eq!(slot.latest(2), None);
        slot.publish(7, &[1, 2]);
        let sample = slot.latest(2).unwrap();
        assert_eq!((sample.ticks, &sample.counts[..3]), (7, &[1, 2, 0][..]));
    }

    #[test]
    fn a_reader_never_sees_halves_of_two_samples() {
        let (slot, done) = (Slot::new(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let (mut seen, mut last) = (0u64, 0);
                while !done.load(Ordering::Relaxed) || seen == 0 {
                    if let Some(sample) = slot.latest(4) {
                        assert!(sample.counts[..4].iter().all(|c| *c == sample.ticks));
                        assert!(sample.ticks >= last, "samples never go back");
                        last = sample.ticks;
                        seen += 1;
                    }
                }
                seen
            });
            for n in 1..=200_000u64 {
                slot.publish(n, &[n; 4]);
            }
            done.store(true, Ordering::Relaxed);
            assert!(reader.join().unwrap() > 0);
        });
    }
}

/// Run with `RUSTFLAGS="--cfg loom" cargo test -p pacman-core --lib --release slot`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::primitive::interleave;
    use loom::{model::Builder, sync::Arc};

    #[test]
    fn no_interleaving_tears_a_sample() {
        interleave(Builder::new(), || {
            let slot = Arc::new(Slot::new());
            let writer = {
                let slot = Arc::clone(&slot);
                loom::thread::spawn(move || {
                    slot.publish(1, &[1, 1]);
                    slot.publish(2, &[2, 2]);
                })
            };
            if let Some(sample) = slot.latest(2) {
                assert_eq!(sample.counts[..2], [sample.ticks; 2]);
            }
            writer.join().unwrap();
            assert_eq!(slot.latest(2).unwrap().ticks, 2);
        });
    }

    #[test]
    fn no_interleaving_tears_the_first_of_a_sample() {
        interleave(Builder::new(), || {
            let slot = Arc::new(Slot::new());
            slot.publish(1, &[1, 1]);
            let writer = {
                let slot = Arc::clone(&slot);
                loom::thread::spawn(move || slot.publish(2, &[2, 2]))
            };
            let mut sample = Published::EMPTY;
            assert!(slot.read_first::<2>(&mut sample, || false));
            assert_eq!(sample.counts[..2], [sample.ticks; 2]);
            writer.join().unwrap();
        });
    }
}
