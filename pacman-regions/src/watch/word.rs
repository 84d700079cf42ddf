//! The state word of one process's packed execution. README.md in this folder has the protocol.

use std::sync::atomic::{AtomicU64, Ordering};

/// An atomic number. A model checker has its own.
pub trait Atomic {
    /// The number, with all that was stored before it was.
    fn read(&self) -> u64;
    /// Changes the number from `from` to `to`; false if it was another.
    fn change(&self, from: u64, to: u64) -> bool;
}

impl Atomic for AtomicU64 {
    #[inline]
    fn read(&self) -> u64 {
        // ATOMICS: pairs with the release in `change`: who sees a state sees what was written for it.
        self.load(Ordering::Acquire)
    }

    #[inline]
    fn change(&self, from: u64, to: u64) -> bool {
        self.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

/// The two watchers of a run. Each alone is enough to cut a sample short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watcher {
    /// A thread of the command.
    Command,
    /// A process of its own, which a signal to the command does not stop.
    Second,
}

impl Watcher {
    fn bit(self) -> u64 {
        match self {
            Watcher::Command => 0x10,
            Watcher::Second => 0x20,
        }
    }
}

/// The phase of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No execution is packed.
    Idle,
    /// The library wants to take a sample, once both watchers are awake.
    Asked,
    /// A sample runs.
    Sample,
    /// An execution runs with the configuration that its region is held at.
    Held,
    /// A watcher or the library restores the masks.
    Cut,
}

/// A value of the word: its phase, the watchers that are awake, and a number that no other value has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen(u64);

const IDLE: u64 = 0;
const ASKED: u64 = 1;
const SAMPLE: u64 = 2;
const HELD: u64 = 3;
const CUT: u64 = 4;
const PHASE: u64 = 0xf;
const BOTH: u64 = 0x30;
const NEXT: u64 = 0x100;

impl Seen {
    /// The phase.
    pub fn phase(self) -> Phase {
        match self.0 & PHASE {
            ASKED => Phase::Asked,
            SAMPLE => Phase::Sample,
            HELD => Phase::Held,
            CUT => Phase::Cut,
            _ => Phase::Idle,
        }
    }

    /// Whether `watcher` is awake for the sample.
    pub fn is_armed_by(self, watcher: Watcher) -> bool {
        self.0 & watcher.bit() != 0
    }

    /// Whether both watchers are awake for the sample.
    pub fn is_armed(self) -> bool {
        self.0 & (PHASE | BOTH) == ASKED | BOTH
    }

    /// Whether an execution runs packed.
    pub fn runs(self) -> bool {
        matches!(self.phase(), Phase::Sample | Phase::Held)
    }

    /// The next value, with `low` bits.
    fn next(self, low: u64) -> Seen {
        Seen((self.0 & !(NEXT - 1)).wrapping_add(NEXT) | low)
    }
}

/// The word of a slot.
#[derive(Debug)]
pub struct Word<'a, A: ?Sized = AtomicU64>(&'a A);

impl<A: ?Sized> Clone for Word<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: ?Sized> Copy for Word<'_, A> {}

impl<'a, A: Atomic + ?Sized> Word<'a, A> {
    /// The word at `at`; 0 is idle.
    pub fn new(at: &'a A) -> Word<'a, A> {
        Word(at)
    }

    /// The present value.
    #[inline]
    pub fn seen(self) -> Seen {
        Seen(self.0.read())
    }

    #[inline]
    fn change(self, from: Seen, to: Seen) -> Option<Seen> {
        self.0.change(from.0, to.0).then_some(to)
    }

    /// The library wants to take a sample.
    pub fn ask(self) -> bool {
        let seen = self.seen();
        seen.phase() == Phase::Idle && self.change(seen, seen.next(ASKED)).is_some()
    }

    /// `watcher` is awake for the sample that was asked for in `seen`.
    pub fn arm(self, seen: Seen, watcher: Watcher) -> Option<Seen> {
        self.change(seen, Seen(seen.0 | watcher.bit()))
    }

    /// The library does not wait any more for the sample that it requested in `seen`.
    pub fn forget(self, seen: Seen) -> bool {
        seen.phase() == Phase::Asked && self.change(seen, seen.next(IDLE)).is_some()
    }

    /// The library begins a sample, if both watchers are awake for it.
    pub fn begin_sample(self) -> Option<Seen> {
        let seen = self.seen();
        if seen.is_armed() { self.change(seen, seen.next(SAMPLE)) } else { None }
    }

    /// The library begins an execution with the configuration that its region is held at.
    #[inline]
    pub fn begin_held(self) -> Option<Seen> {
        let seen = self.seen();
        match seen.phase() {
            Phase::Idle | Phase::Asked => self.change(seen, seen.next(HELD)),
            _ => None,
        }
    }

    /// The execution that began with `begun` has ended. `stays_armed` says that another sample follows, for
    /// which the watchers are awake. False if it was cut.
    #[inline]
    pub fn end(self, begun: Seen, stays_armed: bool) -> bool {
        let low = if stays_armed { ASKED | BOTH } else { IDLE };
        self.change(begun, begun.next(low)).is_some()
    }

    /// The caller cuts what was seen, and has to restore the masks now; `None` if it has changed.
    pub fn cut(self, seen: Seen) -> Option<Seen> {
        if seen.phase() == Phase::Cut { None } else { self.change(seen, seen.next(CUT)) }
    }

    /// The masks are restored after the cut.
    pub fn restored(self, cut: Seen) -> bool {
        self.change(cut, cut.next(IDLE)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_needs_both_watchers() {
        let at = AtomicU64::new(0);
        let word = Word::new(&at);
        assert!(word.begin_sample().is_none() && word.ask() && !word.ask());
        let asked = word.seen();
        assert_eq!(asked.phase(), Phase::Asked);
        let one = word.arm(asked, Watcher::Command).unwrap();
        assert!(word.begin_sample().is_none(), "the second may be stopped");
        assert!(word.arm(asked, Watcher::Second).is_none(), "it has changed");
        word.arm(one, Watcher::Second).unwrap();
        let begun = word.begin_sample().unwrap();
        assert!(begun.runs() && word.end(begun, true));
        assert!(word.seen().is_armed());
        let again = word.begin_sample().unwrap();
        assert!(!word.end(begun, false), "an earlier one");
        assert!(word.end(again, false));
        assert_eq!(word.seen().phase(), Phase::Idle);
    }

    #[test]
    fn one_side_ends_an_execution() {
        let at = AtomicU64::new(0);
        let word = Word::new(&at);
        let begun = word.begin_held().unwrap();
        let cut = word.cut(begun).unwrap();
        assert!(!word.end(begun, false) && word.begin_held().is_none() && !word.ask());
        assert!(word.cut(cut).is_none(), "another one restores already");
        assert!(word.restored(cut) && !word.restored(cut));
        let begun = word.begin_held().unwrap();
        assert!(word.end(begun, false) && word.cut(begun).is_none());
        word.ask();
        assert!(word.forget(word.seen()) && !word.forget(word.seen()));
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::model::Builder;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicU64;
    use pacman_suite::interleave;

    use super::*;

    impl Atomic for AtomicU64 {
        fn read(&self) -> u64 {
            self.load(Ordering::Acquire)
        }

        fn change(&self, from: u64, to: u64) -> bool {
            self.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        }
    }

    /// The word, the mask of a thread (1: packed), and whether its execution has ended.
    struct Run {
        word: AtomicU64,
        mask: AtomicU64,
        ended: AtomicU64,
    }

    impl Run {
        /// The kernel reads and sets the mask of a thread under the lock of that thread.
        fn set_mask(&self, mask: u64) {
            self.mask.swap(mask, Ordering::AcqRel);
        }
    }

    /// A watcher whose allowance is spent.
    fn watches(run: &Run) {
        let word = Word::new(&run.word);
        let seen = word.seen();
        if !seen.runs() {
            return;
        }
        if let Some(cut) = word.cut(seen) {
            assert_eq!(run.ended.load(Ordering::SeqCst), 0, "the thread may be another by now");
            run.set_mask(0);
            assert_eq!(run.ended.load(Ordering::SeqCst), 0, "the library waits");
            assert!(word.restored(cut));
        }
    }

    /// The library: begins, packs, looks whether it was cut meanwhile, and ends.
    fn executes(run: &Run, looks: bool) {
        let word = Word::new(&run.word);
        let begun = word.begin_sample().unwrap();
        run.set_mask(1);
        let was_cut = looks && word.seen() != begun;
        let ended = word.end(begun, false);
        if !ended {
            while word.seen().phase() == Phase::Cut {
                loom::thread::yield_now();
            }
        }
        if was_cut {
            run.set_mask(0);
        }
        run.ended.store(1, Ordering::SeqCst);
        if !ended {
            assert_eq!(run.mask.load(Ordering::SeqCst), 0, "restored");
        }
    }

    fn model(looks: bool) {
        let mut limits = Builder::new();
        // All orders would take ten minutes.
        limits.preemption_bound = Some(3);
        interleave(limits, move || {
            let (mask, ended) = (AtomicU64::new(0), AtomicU64::new(0));
            let run = Arc::new(Run { word: AtomicU64::new(ASKED | BOTH), mask, ended });
            let watchers = [Arc::clone(&run), Arc::clone(&run)];
            let watchers = watchers.map(|run| loom::thread::spawn(move || watches(&run)));
            executes(&run, looks);
            watchers.into_iter().for_each(|watcher| watcher.join().unwrap());
        });
    }

    #[test]
    fn exactly_one_side_restores_and_none_after_the_end() {
        model(true);
    }

    #[test]
    #[should_panic(expected = "restored")]
    fn a_library_that_does_not_look_after_packing_leaves_a_thread_packed() {
        model(false);
    }
}
