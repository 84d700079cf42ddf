//! A region that runs as it did before, until there is something to decide.
//!
//! Most executions of a region are like those before: it is held at what was chosen, or left alone
//! because it is short. Whoever starts its teams has what is to be known for the next one on a cache
//! line of its own, and finds by a [number](process::news) whether anything has happened since it
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
pub(crate) struct Steady {
    /// What [`process::news`] was when nothing kept the region from running so; 0 if something did.
    since: Cell<u32>,
    /// More ticks than these are told at once.
    high: Cell<u32>,
    way: Cell<Way>,
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

const _: () = assert!(size_of::<Steady>() == 64, "a cache line");

/// How a region runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    /// The threads that it gets if nobody says otherwise; 0 if that is not known.
    pub(super) default: u32,
    /// What the real entry is given; 0 leaves it to the runtime.
    pub(super) threads: u32,
    /// Nobody chooses for it, or learns from it.
    pub(super) alone: bool,
    /// Its runtime ends threads and starts others where teams change their size.
    pub(super) pooled: bool,
    /// Its team has more threads than there are contexts.
    pub(super) crowds: bool,
}

impl Way {
    /// The threads of a team that runs so.
    pub(super) fn size(self) -> u32 {
        if self.threads > 0 { self.threads } else { self.default }
    }
}

impl Default for Steady {
    fn default() -> Steady {
        Steady {
            since: Cell::new(NEVER),
            high: Cell::default(),
            way: Cell::default(),
            entry: Cell::default(),
            choice: Cell::default(),
            count: Cell::default(),
            shift: Cell::default(),
            ticks: [const { Cell::new(0) }; MOST - 1],
        }
    }
}

const NEVER: u32 = 0;

impl Steady {
    /// Whether the next execution by `worker` runs so, which is started by a call of `entry` that
    /// asks for `threads`.
    #[inline(always)]
    pub(crate) fn stands(&self, worker: &Worker, entry: Function, threads: u32) -> bool {
        let Way { alone, crowds, .. } = self.way.get();
        self.since.get() == process::news()
            && self.entry.get() == Some(entry)
            && threads == 0
            && worker.is_plain()
            // Who shares a context with others is to be moved before a team that does not.
            && (alone || crowds || !worker.crowded.get())
    }

    /// What the real entry is given; 0 leaves it to the runtime.
    #[inline(always)]
    pub(crate) fn threads(&self) -> u32 {
        self.way.get().threads
    }

    /// An execution took `ticks` with a team of `size`. False if somebody is to be told, of this one
    /// as well.
    #[inline(always)]
    pub(crate) fn ended(&self, worker: &Worker, size: u32, ticks: u64) -> bool {
        let way = self.way.get();
        let as_ever = size == way.size()
            && ticks <= u64::from(self.high.get())
            && !(way.pooled && worker.pool.changes_to(size))
            && (way.alone || self.note(ticks));
        if as_ever && size > 1 {
            worker.crowded.set(way.crowds);
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
    pub(super) fn way(&self) -> Option<Way> {
        let way = self.way.get();
        (way.default > 0).then_some(way)
    }

    /// The same if it was held so by that choice.
    pub(super) fn held_by(&self, choice: u32) -> Option<Way> {
        self.way().filter(|way| !way.alone && self.choice.get() == choice)
    }

    /// Whether it is left alone because it is short.
    pub(super) fn is_left_alone(&self) -> bool {
        self.way().is_some_and(|way| way.alone)
    }

    /// It runs so from now on, which was chosen as number `choice`, if nothing keeps it from that;
    /// what takes more than `high` ticks is told at once.
    pub(super) fn hold(&self, way: Way, choice: u32, high: u64) {
        // What waits is noted in as many bits.
        let Ok(high) = u32::try_from(high) else { return self.forget() };
        self.high.set(high);
        self.shift.set((u32::BITS - u16::BITS).saturating_sub(high.leading_zeros()) as u8);
        if (self.way.get(), self.choice.get()) != (way, choice) {
            self.since.set(NEVER);
            self.way.set(way);
            self.choice.set(choice);
            self.count.set(0);
        }
        // What waits was noted by the shift before.
        debug_assert_eq!(self.count.get(), 0);
    }

    /// Nothing keeps the region from running so, if called by `entry`, while there is no more news
    /// than that.
    pub(super) fn stand(&self, news: u32, entry: Function) {
        self.since.set(news);
        self.entry.set(Some(entry));
    }

    /// How it runs is not known any more.
    pub(crate) fn forget(&self) {
        self.since.set(NEVER);
        self.way.set(Way::default());
        self.count.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: Way = Way { default: 4, threads: 2, alone: false, pooled: false, crowds: false };
    const ENTRY: Function = Function::GOMP_parallel;

    fn told(steady: &Steady) -> Vec<u64> {
        let mut all = Vec::new();
        steady.tell(|ticks| all.push(ticks));
        all
    }

    fn held(way: Way) -> Steady {
        let steady = Steady::default();
        steady.hold(way, 1, 100);
        steady.stand(process::news(), ENTRY);
        steady
    }

    /// One test for all that depends on the process's news, which others would change meanwhile.
    #[test]
    fn it_stands_until_something_happens() {
        let worker = Worker::here();
        let stands = |steady: &Steady| steady.stands(worker, ENTRY, 0);
        assert!(!stands(&Steady::default()), "nothing is known");
        let steady = held(HELD);
        assert!(stands(&steady));
        assert!(!steady.stands(worker, Function::GOMP_parallel_loop_static, 0));
        assert!(!steady.stands(worker, ENTRY, 3), "the program says how many");
        worker.push();
        assert!(!stands(&steady), "the same");
        assert!(worker.take_pushed() && stands(&steady));

        worker.crowded.set(true);
        assert!(!stands(&steady), "who shares a context is to be moved");
        assert!(stands(&held(Way { crowds: true, ..HELD })));
        assert!(stands(&held(Way { alone: true, ..HELD })), "nobody is moved for it");
        worker.crowded.set(false);

        steady.hold(HELD, 1, 200);
        assert!(stands(&steady), "the same choice again");
        steady.hold(HELD, 2, 200);
        assert!(!stands(&steady), "another one, about which nothing was looked up");
        steady.stand(process::news(), ENTRY);
        assert!(stands(&steady));
        process::may_change_teams();
        assert!(!stands(&steady));
    }

    #[test]
    fn executions_wait_until_there_are_sixteen() {
        let worker = Worker::here();
        let steady = held(HELD);
        let noted: Vec<u64> = (1..20).take_while(|&t| steady.ended(worker, 2, t)).collect();
        assert_eq!(noted, (1..16).collect::<Vec<u64>>(), "the sixteenth is told with them");
        assert_eq!(told(&steady), noted);
        assert_eq!(told(&steady), Vec::<u64>::new(), "once");
        assert!(steady.ended(worker, 2, 8));
        assert_eq!(told(&steady), [8]);
    }

    #[test]
    fn long_ones_are_noted_to_a_part_in_thirty_thousand() {
        let worker = Worker::here();
        for high in [100, 0xffff, 0x1_0000, 70_000, 1 << 20, (1 << 20) + 1, u64::from(u32::MAX)] {
            let steady = Steady::default();
            steady.hold(HELD, 1, high);
            let ticks = [1, high / 3, high - 1, high];
            assert!(ticks.iter().all(|&ticks| steady.ended(worker, 2, ticks)));
            for (told, ticks) in told(&steady).into_iter().zip(ticks) {
                assert!(told.abs_diff(ticks) <= high >> 16, "{told} of {ticks} below {high}");
            }
        }
    }

    #[test]
    fn what_is_not_as_ever_is_told_at_once() {
        let worker = Worker::here();
        let steady = held(HELD);
        assert!(steady.ended(worker, 2, 100));
        assert!(!steady.ended(worker, 2, 101) && !steady.ended(worker, 2, 1 << 40));
        assert!(!steady.ended(worker, 4, 50), "it did not get the threads");
        assert_eq!(told(&steady), [100]);
        let pooled = held(Way { pooled: true, ..HELD });
        assert!(!pooled.ended(worker, 2, 50), "the team before had another size");
        let alone = held(Way { alone: true, ..HELD });
        assert!((0..20).all(|_| alone.ended(worker, 2, 50)) && told(&alone).is_empty());
    }

    #[test]
    fn a_team_says_whether_it_crowds() {
        let worker = Worker::here();
        for (size, crowds) in [(4, true), (1, true), (4, false)] {
            let steady =
                held(Way { default: size, threads: 0, crowds: size > 1 && crowds, ..HELD });
            assert!(steady.ended(worker, size, 1));
            assert_eq!(worker.crowded.get(), crowds, "who works alone leaves others as they are");
        }
    }

    #[test]
    fn what_is_too_long_is_asked_each_time() {
        let steady = held(HELD);
        assert_eq!((steady.held_by(1), steady.held_by(2)), (Some(HELD), None));
        steady.hold(HELD, 1, 1 << 32);
        assert_eq!(steady.held_by(1), None);
    }
}
