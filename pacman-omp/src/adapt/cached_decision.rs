//! A region that runs as it did before, until there is something to decide.
//!
//! Most executions of a region are like those before: it is held at what was chosen, or left alone
//! because it is short. Whoever starts its teams has what is to be known for the next one on a cache
//! line of its own, and finds by a [number](process::config_epoch) whether anything has happened since it
//! looked at all the rest: after 20 microseconds in a body little of this is in the nearest cache,
//! and each line of code or data that is touched takes as long to come as dozens of instructions.
//!
//! While a region is held its controller only counts and watches for drift. It learns as much from
//! sixteen executions told at once; one that is longer than the others ends the wait.

use std::cell::Cell;

use crate::function::Function;
use crate::process;
use crate::worker::Worker;

/// What a thread that starts the teams of a region keeps for it.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct CachedDecision {
    /// What [`process::config_epoch`] was when nothing kept the region from running so; 0 if something did.
    since: Cell<u32>,
    /// More ticks than these are told at once.
    high: Cell<u32>,
    kind: Cell<DecisionKind>,
    /// The entry that was called then.
    entry: Cell<Option<Function>>,
    /// Which of the region's choices it is.
    choice: Cell<u32>,
    /// How many executions wait to be told.
    count: Cell<u8>,
    /// Their ticks are noted without so many of the last bits, which leaves 15 of `high`.
    shift: Cell<u8>,
    ticks: [Cell<u16>; MOST - 1],
}

/// How many executions are told at once.
pub(super) const MOST: usize = 16;

const _: () = assert!(size_of::<CachedDecision>() == 64, "a cache line");

/// How a region runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DecisionKind {
    /// The threads that it gets if nobody says otherwise; 0 if that is not known.
    pub(super) default: u32,
    /// What the real entry is given; 0 leaves it to the runtime.
    pub(super) threads: u32,
    /// Nobody chooses for it, or learns from it.
    pub(super) alone: bool,
    /// Its runtime ends threads and starts others where teams change their size.
    pub(super) pooled: bool,
    /// Its team has more threads than there are contexts.
    pub(super) oversubscribes: bool,
}

impl DecisionKind {
    /// The threads of a team that runs so.
    pub(super) fn size(self) -> u32 {
        if self.threads > 0 { self.threads } else { self.default }
    }
}

impl Default for CachedDecision {
    fn default() -> CachedDecision {
        CachedDecision {
            since: Cell::new(NEVER),
            high: Cell::default(),
            kind: Cell::default(),
            entry: Cell::default(),
            choice: Cell::default(),
            count: Cell::default(),
            shift: Cell::default(),
            ticks: [const { Cell::new(0) }; MOST - 1],
        }
    }
}

const NEVER: u32 = 0;

impl CachedDecision {
    /// Whether the next execution by `worker` runs so, which is started by a call of `entry` that
    /// asks for `threads`.
    #[inline(always)]
    pub(crate) fn is_valid(&self, worker: &Worker, entry: Function, threads: u32) -> bool {
        let DecisionKind { alone, oversubscribes, .. } = self.kind.get();
        self.since.get() == process::config_epoch()
            && self.entry.get() == Some(entry)
            && threads == 0
            && worker.is_plain()
            // Who shares a context with others is to be moved before a team that does not.
            && (alone || oversubscribes || !worker.oversubscribed.get())
    }

    /// What the real entry is given; 0 leaves it to the runtime.
    #[inline(always)]
    pub(crate) fn threads(&self) -> u32 {
        self.kind.get().threads
    }

    /// An execution took `ticks` with a team of `size`. False if somebody is to be told, of this one
    /// as well.
    #[inline(always)]
    pub(crate) fn ended(&self, worker: &Worker, size: u32, ticks: u64) -> bool {
        let kind = self.kind.get();
        let as_ever = size == kind.size()
            && ticks <= u64::from(self.high.get())
            && !(kind.pooled && worker.pool.changes_to(size))
            && (kind.alone || self.note(ticks));
        if as_ever && size > 1 {
            worker.oversubscribed.set(kind.oversubscribes);
        }
        as_ever
    }

    #[inline(always)]
    fn note(&self, ticks: u64) -> bool {
        let count = self.count.get();
        let Some(place) = self.ticks.get(usize::from(count)) else { return false };
        place.set((ticks >> self.shift.get()) as u16);
        self.count.set(count + 1);
        true
    }

    /// Tells `each` of those that wait.
    pub(super) fn tell(&self, each: impl FnMut(u64)) {
        let count = usize::from(self.count.take());
        let shift = self.shift.get();
        // The middle of those that are noted so.
        let ticks = |noted: &Cell<u16>| (u64::from(noted.get()) << shift) + (1 << shift >> 1);
        self.ticks[..count].iter().map(ticks).for_each(each);
    }

    /// How it runs, if that is known.
    pub(super) fn kind(&self) -> Option<DecisionKind> {
        let kind = self.kind.get();
        (kind.default > 0).then_some(kind)
    }

    /// The same if it was held so by that choice.
    pub(super) fn held_in(&self, choice: u32) -> Option<DecisionKind> {
        self.kind().filter(|kind| !kind.alone && self.choice.get() == choice)
    }

    /// Whether it is left alone because it is short.
    pub(super) fn is_left_alone(&self) -> bool {
        self.kind().is_some_and(|kind| kind.alone)
    }

    /// It runs so from now on, which was chosen as number `choice`, if nothing keeps it from that;
    /// what takes more than `high` ticks is told at once.
    pub(super) fn hold(&self, kind: DecisionKind, choice: u32, high: u64) {
        // What waits is noted in as many bits.
        let Ok(high) = u32::try_from(high) else { return self.forget() };
        self.high.set(high);
        self.shift.set((u32::BITS - u16::BITS).saturating_sub(high.leading_zeros()) as u8);
        if (self.kind.get(), self.choice.get()) != (kind, choice) {
            self.since.set(NEVER);
            self.kind.set(kind);
            self.choice.set(choice);
            self.count.set(0);
        }
        // What waits was noted by the shift before.
        debug_assert_eq!(self.count.get(), 0);
    }

    /// Nothing keeps the region from running so, if called by `entry`, while there is no more news
    /// than that.
    pub(super) fn validate(&self, config_epoch: u32, entry: Function) {
        self.since.set(config_epoch);
        self.entry.set(Some(entry));
    }

    /// How it runs is not known any more.
    pub(crate) fn forget(&self) {
        self.since.set(NEVER);
        self.kind.set(DecisionKind::default());
        self.count.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: DecisionKind =
        DecisionKind { default: 4, threads: 2, alone: false, pooled: false, oversubscribes: false };
    const ENTRY: Function = Function::GOMP_parallel;

    fn told(cached: &CachedDecision) -> Vec<u64> {
        let mut all = Vec::new();
        cached.tell(|ticks| all.push(ticks));
        all
    }

    fn held(kind: DecisionKind) -> CachedDecision {
        let cached = CachedDecision::default();
        cached.hold(kind, 1, 100);
        cached.validate(process::config_epoch(), ENTRY);
        cached
    }

    /// One test for all that depends on the process's news, which others would change meanwhile.
    #[test]
    fn it_stands_until_something_happens() {
        let worker = Worker::here();
        let is_valid = |cached: &CachedDecision| cached.is_valid(worker, ENTRY, 0);
        assert!(!is_valid(&CachedDecision::default()), "nothing is known");
        let cached = held(HELD);
        assert!(is_valid(&cached));
        assert!(!cached.is_valid(worker, Function::GOMP_parallel_loop_static, 0));
        assert!(!cached.is_valid(worker, ENTRY, 3), "the program says how many");
        worker.push();
        assert!(!is_valid(&cached), "the same");
        assert!(worker.take_pushed() && is_valid(&cached));

        worker.oversubscribed.set(true);
        assert!(!is_valid(&cached), "who shares a context is to be moved");
        assert!(is_valid(&held(DecisionKind { oversubscribes: true, ..HELD })));
        assert!(is_valid(&held(DecisionKind { alone: true, ..HELD })), "nobody is moved for it");
        worker.oversubscribed.set(false);

        cached.hold(HELD, 1, 200);
        assert!(is_valid(&cached), "the same choice again");
        cached.hold(HELD, 2, 200);
        assert!(!is_valid(&cached), "another one, about which nothing was looked up");
        cached.validate(process::config_epoch(), ENTRY);
        assert!(is_valid(&cached));
        process::may_change_teams();
        assert!(!is_valid(&cached));
    }

    #[test]
    fn executions_wait_until_there_are_sixteen() {
        let worker = Worker::here();
        let cached = held(HELD);
        let noted: Vec<u64> = (1..20).take_while(|&t| cached.ended(worker, 2, t)).collect();
        assert_eq!(noted, (1..16).collect::<Vec<u64>>(), "the sixteenth is told with them");
        assert_eq!(told(&cached), noted);
        assert_eq!(told(&cached), Vec::<u64>::new(), "once");
        assert!(cached.ended(worker, 2, 8));
        assert_eq!(told(&cached), [8]);
    }

    #[test]
    fn long_ones_are_noted_to_a_part_in_thirty_thousand() {
        let worker = Worker::here();
        for high in [100, 0xffff, 0x1_0000, 70_000, 1 << 20, (1 << 20) + 1, u64::from(u32::MAX)] {
            let cached = CachedDecision::default();
            cached.hold(HELD, 1, high);
            let ticks = [1, high / 3, high - 1, high];
            assert!(ticks.iter().all(|&ticks| cached.ended(worker, 2, ticks)));
            for (told, ticks) in told(&cached).into_iter().zip(ticks) {
                assert!(told.abs_diff(ticks) <= high >> 16, "{told} of {ticks} below {high}");
            }
        }
    }

    #[test]
    fn what_is_not_as_ever_is_told_at_once() {
        let worker = Worker::here();
        let cached = held(HELD);
        assert!(cached.ended(worker, 2, 100));
        assert!(!cached.ended(worker, 2, 101) && !cached.ended(worker, 2, 1 << 40));
        assert!(!cached.ended(worker, 4, 50), "it did not get the threads");
        assert_eq!(told(&cached), [100]);
        let pooled = held(DecisionKind { pooled: true, ..HELD });
        assert!(!pooled.ended(worker, 2, 50), "the team before had another size");
        let alone = held(DecisionKind { alone: true, ..HELD });
        assert!((0..20).all(|_| alone.ended(worker, 2, 50)) && told(&alone).is_empty());
    }

    #[test]
    fn a_team_says_whether_it_crowds() {
        let worker = Worker::here();
        for (size, oversubscribes) in [(4, true), (1, true), (4, false)] {
            let cached = held(DecisionKind {
                default: size,
                threads: 0,
                oversubscribes: size > 1 && oversubscribes,
                ..HELD
            });
            assert!(cached.ended(worker, size, 1));
            assert_eq!(
                worker.oversubscribed.get(),
                oversubscribes,
                "who works alone leaves others as they are"
            );
        }
    }

    #[test]
    fn what_is_too_long_is_asked_each_time() {
        let cached = held(HELD);
        assert_eq!((cached.held_in(1), cached.held_in(2)), (Some(HELD), None));
        cached.hold(HELD, 1, 1 << 32);
        assert_eq!(cached.held_in(1), None);
    }
}
