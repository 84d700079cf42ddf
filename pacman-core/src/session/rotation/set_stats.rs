//! A thread's latest sample and rows of each set.

use super::sets::{Epoch, MAX_EVENTS_IN_TURNS, Sets};
use crate::primitive::{AtomicU64, Ordering, fence};
use crate::session::patience::Patience;
use crate::session::plausible::Limits;
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

/// All sets of one thread, and whose turn it is.
///
/// A slot for each set, so that a sample and the set it belongs to cannot be mixed
/// up; README.md has the protocol.
#[derive(Debug)]
pub(crate) struct Tallies {
    /// The number of switches so far, times [`SETS`], plus the set; or [`NOBODY`].
    turn: AtomicU64,
    each: Box<[SetStats]>,
    live: Box<[u64]>,
}

/// More sets than a session can have: each has an event of its own.
const SETS: u64 = MAX_EVENTS_IN_TURNS as u64;
/// No set has a sample to show.
const NOBODY: u64 = u64::MAX;

impl Tallies {
    pub(crate) fn new(sets: &Sets, limits: impl Fn(usize) -> Limits) -> Tallies {
        Tallies {
            turn: AtomicU64::new(NOBODY),
            each: (0..sets.len()).map(|set| SetStats::new(sets.width(set), limits(set))).collect(),
            live: (0..sets.len()).map(|set| sets.live(set)).collect(),
        }
    }

    /// One for each set, in order.
    pub(crate) fn each(&self) -> &[SetStats] {
        &self.each
    }

    /// Tells that the slot of `set` has the first sample of a turn. Only the owner
    /// calls this.
    pub(crate) fn turn_to(&self, number: u64, set: usize) {
        // ATOMICS: pairs with the acquire load in `read`: who sees the turn sees the
        // sample published before it.
        self.turn.store(number * SETS + set as u64, Ordering::Release);
    }

    /// Tells that no set's latest sample counts any more, after a begin that failed: the
    /// next turn may be the same set's. Only the owner calls this.
    pub(crate) fn nobodys_turn(&self) {
        // ATOMICS: before the next publication, which is a release store.
        self.turn.store(NOBODY, Ordering::Relaxed);
    }

    /// Reads the latest whole sample; answers its turn, or `None` before the first, and where
    /// the owner was stopped in the midst of one.
    pub(crate) fn read(
        &self,
        into: &mut Published,
        is_gone: impl Fn() -> bool + Copy,
    ) -> Option<Epoch> {
        let mut patience = Patience::with(is_gone);
        loop {
            let turn = self.turn.load(Ordering::Acquire);
            if turn == NOBODY {
                return None;
            }
            let set = (turn % SETS) as usize;
            let live = self.live[set];
            let published = self.each[set].slot.read(live.count_ones() as usize, into, is_gone);
            // ATOMICS: keeps the loads above before the check below. A slot is written
            // in a later turn of its set only after another set's turn, or nobody's, was
            // told, so a sample of that turn implies a word that moved on.
            fence(Ordering::Acquire);
            if self.turn.load(Ordering::Relaxed) == turn {
                return published.then_some(Epoch { number: turn / SETS, live });
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
    fn two() -> Tallies {
        Tallies {
            turn: AtomicU64::new(NOBODY),
            each: [(); 2]
                .map(|()| SetStats::new(2, Limits::of(std::iter::empty(), 0, false)))
                .into(),
            live: [0b011, 0b110].into(),
        }
    }

    #[test]
    fn a_reader_never_takes_one_sets_sample_for_anothers() {
        let (tallies, done) = (two(), AtomicBool::new(false));
        assert_eq!(tallies.read(&mut Published::EMPTY.clone(), || false), None);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut seen = 0u64;
                while !done.load(Ordering::Relaxed) || seen == 0 {
                    let mut sample = Published::EMPTY;
                    let Some(turn) = tallies.read(&mut sample, || false) else { continue };
                    let set = turn.number % 2;
                    assert_eq!(turn.live, tallies.live[set as usize]);
                    // Each turn publishes twice: at 2 × number and one tick later.
                    assert_eq!(sample.ticks / 2, turn.number);
                    assert_eq!(sample.counts[..2], [sample.ticks, set]);
                    seen += 1;
                }
            });
            for number in 0..100_000u64 {
                let set = number % 2;
                let slot = &tallies.each[set as usize].slot;
                slot.publish(2 * number, &[2 * number, set]);
                tallies.turn_to(number, set as usize);
                slot.publish(2 * number + 1, &[2 * number + 1, set]);
                if number % 7 == 0 {
                    tallies.nobodys_turn();
                }
            }
            done.store(true, Ordering::Relaxed);
            reader.join().unwrap();
        });
    }
}

/// Run as `slot::model` is.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::primitive::interleave;
    use loom::sync::Arc;

    #[test]
    fn no_interleaving_takes_one_turns_sample_for_anothers() {
        let mut builder = loom::model::Builder::new();
        // Two slots and the word between them: more than three changes of thread take hours.
        builder.preemption_bound = Some(3);
        interleave(builder, || {
            let tallies = Arc::new(Tallies {
                turn: AtomicU64::new(NOBODY),
                each: [(); 2]
                    .map(|()| SetStats::new(1, Limits::of(std::iter::empty(), 0, false)))
                    .into(),
                live: [0b01, 0b10].into(),
            });
            // Epoch n is that of set n mod 2, and its sample is of tick 10 + n.
            let turn = |tallies: &Tallies, number: u64| {
                let set = (number % 2) as usize;
                tallies.each[set].slot.publish(10 + number, &[number]);
                tallies.turn_to(number, set);
            };
            turn(&tallies, 0);
            let writer = {
                let tallies = Arc::clone(&tallies);
                loom::thread::spawn(move || {
                    turn(&tallies, 1);
                    turn(&tallies, 2);
                })
            };
            let mut sample = Published::EMPTY;
            let seen = tallies.read(&mut sample, || false).expect("a turn was told");
            assert_eq!([sample.ticks, sample.counts[0]], [10 + seen.number, seen.number]);
            assert_eq!(seen.live, tallies.live[(seen.number % 2) as usize]);
            writer.join().unwrap();
        });
    }
}
