//! A thread's latest sample and rows of each set.

use super::sets::{Epoch, MAX_ROTATED_EVENTS, Sets};
use crate::plausible::Limits;
use crate::primitive::{AtomicU64, Ordering, fence};
use crate::session::patience::Patience;
use crate::session::rows::Rows;
use crate::session::slot::{Published, Slot};

/// One set of events on one thread: written by its owner, read by anybody.
#[derive(Debug)]
pub(crate) struct SetStats {
    pub(crate) slot: Slot,
    pub(crate) rows: Rows,
}

impl SetStats {
    pub(crate) fn new(events: usize, limits: Limits) -> SetStats {
        SetStats { slot: Slot::new(), rows: Rows::new(events, limits) }
    }
}

/// All sets of one thread, and which is on the counters.
///
/// Each set has a slot of its own, so that a sample cannot be taken for one of another set.
/// README.md has the protocol.
#[derive(Debug)]
pub(crate) struct RotatingStats {
    /// The number of switches so far, times [`SETS`], plus the set; or [`NOBODY`].
    epoch: AtomicU64,
    each: Box<[SetStats]>,
    live: Box<[u64]>,
}

/// More sets than a session can have: each has an event of its own.
const SETS: u64 = MAX_ROTATED_EVENTS as u64;
/// No set has a sample to show.
const NOBODY: u64 = u64::MAX;

impl RotatingStats {
    pub(crate) fn new(sets: &Sets, limits: impl Fn(usize) -> Limits) -> RotatingStats {
        RotatingStats {
            epoch: AtomicU64::new(NOBODY),
            each: (0..sets.len()).map(|set| SetStats::new(sets.width(set), limits(set))).collect(),
            live: (0..sets.len()).map(|set| sets.live(set)).collect(),
        }
    }

    /// One for each set, in order.
    pub(crate) fn each(&self) -> &[SetStats] {
        &self.each
    }

    /// Announces an epoch whose first sample is in the slot of `set`. Only the owner calls this.
    pub(crate) fn begin_epoch(&self, number: u64, set: usize) {
        // ATOMICS: pairs with the acquire load in `read`: a reader that sees the epoch also sees
        // the sample published before it.
        self.epoch.store(number * SETS + set as u64, Ordering::Release);
    }

    /// Withdraws the samples of all sets after a failed begin, because the next epoch may have the
    /// same set. Only the owner calls this.
    pub(crate) fn end_epoch(&self) {
        // ATOMICS: relaxed, because the next publication is a release store.
        self.epoch.store(NOBODY, Ordering::Relaxed);
    }

    /// Reads the latest whole sample and returns its epoch. Returns `None` before the first sample,
    /// and if the owner was stopped in the middle of a publication.
    pub(crate) fn read(
        &self,
        into: &mut Published,
        is_gone: impl Fn() -> bool + Copy,
    ) -> Option<Epoch> {
        let mut patience = Patience::with(is_gone);
        loop {
            let epoch = self.epoch.load(Ordering::Acquire);
            if epoch == NOBODY {
                return None;
            }
            let set = (epoch % SETS) as usize;
            let live = self.live[set];
            let published = self.each[set].slot.read(live.count_ones() as usize, into, is_gone);
            // ATOMICS: keeps the loads above before the check below. Before the owner writes a slot
            // in a later epoch of its set, it announces the epoch of another set, or none. So a
            // reader that sees a sample of that later epoch also sees a changed word.
            fence(Ordering::Acquire);
            if self.epoch.load(Ordering::Relaxed) == epoch {
                return published.then_some(Epoch { number: epoch / SETS, live });
            }
            if !patience.wait() {
                return None;
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// Two sets of two events that share the second one.
    fn two() -> RotatingStats {
        RotatingStats {
            epoch: AtomicU64::new(NOBODY),
            each: [(); 2]
                .map(|()| SetStats::new(2, Limits::of(std::iter::empty(), 0, false)))
                .into(),
            live: [0b011, 0b110].into(),
        }
    }

    #[test]
    fn a_reader_never_takes_one_sets_sample_for_anothers() {
        let (rotating, done) = (two(), AtomicBool::new(false));
        assert_eq!(rotating.read(&mut Published::EMPTY.clone(), || false), None);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut seen = 0u64;
                while !done.load(Ordering::Relaxed) || seen == 0 {
                    let mut sample = Published::EMPTY;
                    let Some(epoch) = rotating.read(&mut sample, || false) else { continue };
                    let set = epoch.number % 2;
                    assert_eq!(epoch.live, rotating.live[set as usize]);
                    // Each epoch publishes twice: at 2 × number and one tick later.
                    assert_eq!(sample.ticks / 2, epoch.number);
                    assert_eq!(sample.counts[..2], [sample.ticks, set]);
                    seen += 1;
                }
            });
            for number in 0..100_000u64 {
                let set = number % 2;
                let slot = &rotating.each[set as usize].slot;
                slot.publish(2 * number, &[2 * number, set]);
                rotating.begin_epoch(number, set as usize);
                slot.publish(2 * number + 1, &[2 * number + 1, set]);
                if number % 7 == 0 {
                    rotating.end_epoch();
                }
            }
            done.store(true, Ordering::Relaxed);
            reader.join().unwrap();
        });
    }
}

/// Run it like `slot::model`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::primitive::interleave;
    use loom::sync::Arc;

    #[test]
    fn no_interleaving_takes_one_turns_sample_for_anothers() {
        let mut builder = loom::model::Builder::new();
        // Two slots and the word between them: more than three thread switches take hours.
        builder.preemption_bound = Some(3);
        interleave(builder, || {
            let rotating = Arc::new(RotatingStats {
                epoch: AtomicU64::new(NOBODY),
                each: [(); 2]
                    .map(|()| SetStats::new(1, Limits::of(std::iter::empty(), 0, false)))
                    .into(),
                live: [0b01, 0b10].into(),
            });
            // Epoch n is that of set n mod 2, and its sample is of tick 10 + n.
            let epoch = |rotating: &RotatingStats, number: u64| {
                let set = (number % 2) as usize;
                rotating.each[set].slot.publish(10 + number, &[number]);
                rotating.begin_epoch(number, set);
            };
            epoch(&rotating, 0);
            let writer = {
                let rotating = Arc::clone(&rotating);
                loom::thread::spawn(move || {
                    epoch(&rotating, 1);
                    epoch(&rotating, 2);
                })
            };
            let mut sample = Published::EMPTY;
            let seen = rotating.read(&mut sample, || false).expect("an epoch was announced");
            assert_eq!([sample.ticks, sample.counts[0]], [10 + seen.number, seen.number]);
            assert_eq!(seen.live, rotating.live[(seen.number % 2) as usize]);
            writer.join().unwrap();
        });
    }
}
