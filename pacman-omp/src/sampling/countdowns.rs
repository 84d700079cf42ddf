//! The executions that a thread starts before it times one of their region.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use pacman_regions::arena::{COUNTDOWNS, Thread};

/// The bodies of the regions with a countdown. The executions that are not timed are in the record of the
/// thread, with their times: one store for each figure, so that they are exact however the process ends.
#[derive(Debug)]
pub(crate) struct Countdowns {
    /// By the [`hash`] of a body, one more than the place of the latest one with that hash; 0 without any.
    index: [Cell<u8>; HASHES],
    /// By the place in the thread's record.
    all: [Countdown; COUNTDOWNS],
}

/// The countdown of one region.
#[derive(Debug)]
struct Countdown {
    /// 0 if its module is gone, which another thread may find.
    body: AtomicU64,
    /// The executions in the thread's record after which one is timed.
    until: Cell<u64>,
    /// The ticks of the shortest execution, and how many more an execution may have to be like a timed one.
    least: Cell<u64>,
    span: Cell<u64>,
}

const HASHES: usize = 256;

fn hash(body: u64) -> usize {
    // Compilers align functions to 16 bytes. The upper bits of the product depend on all of a body's.
    (body >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> (usize::BITS - HASHES.ilog2())
}

impl Countdown {
    const fn none() -> Countdown {
        let (body, until) = (AtomicU64::new(0), Cell::new(0));
        Countdown { body, until, least: Cell::new(0), span: Cell::new(0) }
    }
}

impl Default for Countdowns {
    fn default() -> Countdowns {
        Countdowns {
            index: [const { Cell::new(0) }; HASHES],
            all: [const { Countdown::none() }; COUNTDOWNS],
        }
    }
}

impl Countdowns {
    /// The place of a body.
    #[inline(always)]
    pub(crate) fn place(&self, body: u64) -> Option<usize> {
        match usize::from(self.index[hash(body)].get()) {
            0 => None,
            _ => self.latest_place(body).or_else(|| self.search(body)),
        }
    }

    /// The place of a body, if no later one has the same hash.
    #[inline(always)]
    pub(crate) fn latest_place(&self, body: u64) -> Option<usize> {
        let latest = usize::from(self.index[hash(body)].get()).checked_sub(1)?;
        (self.all.get(latest)?.body.load(Ordering::Relaxed) == body).then_some(latest)
    }

    /// The place of a body whose hash another one has as well.
    #[cold]
    #[inline(never)]
    fn search(&self, body: u64) -> Option<usize> {
        self.all.iter().position(|known| known.body.load(Ordering::Relaxed) == body)
    }

    /// Whether the next execution of the region at that place is not timed.
    #[inline(always)]
    pub(crate) fn is_untimed(&self, place: usize, thread: &Thread) -> bool {
        thread.untimed()[place].executions() < self.all[place].until.get()
    }

    /// Whether an execution is longer than the shortest one, and a timed one may stand for it.
    #[inline(always)]
    pub(crate) fn is_usual(&self, place: usize, ticks: u64) -> bool {
        let known = &self.all[place];
        ticks.wrapping_sub(known.least.get()) <= known.span.get()
    }

    /// An execution that was added to the thread's record is not usual. Answers whether no timed one stands for it.
    pub(crate) fn note(&self, place: usize, ticks: u64, thread: &Thread) -> bool {
        let known = &self.all[place];
        let limit = known.least.get() + known.span.get();
        let least = known.least.get().min(ticks);
        known.least.set(least);
        known.span.set(limit - least);
        thread.untimed()[place].note(ticks, ticks > limit);
        ticks > limit
    }

    /// The next execution of the region at that place is timed.
    pub(crate) fn end(&self, place: usize) {
        self.all[place].until.set(0);
    }

    /// Whether the region with that body has a place, or can have one.
    pub(crate) fn have_place(&self, body: u64, thread: &Thread, region: u32) -> bool {
        self.place(body).is_some() || thread.has_place(region)
    }

    /// Sets the countdown of a region. A timed execution stands for none above `limit` ticks.
    pub(crate) fn set(
        &self,
        body: u64,
        thread: &Thread,
        region: u32,
        (executions, limit): (u32, u64),
    ) {
        let place = match self.place(body) {
            None if executions == 0 => return,
            known => known.or_else(|| thread.place(region)),
        };
        let Some(place) = place else { return };
        let (own, untimed) = (&self.all[place], &thread.untimed()[place]);
        own.body.store(body, Ordering::Relaxed);
        self.index[hash(body)].set(place as u8 + 1);
        own.until.set(untimed.executions() + u64::from(executions));
        // Before the first one any execution is the shortest.
        let least = if untimed.shortest() == 0 { limit } else { untimed.shortest().min(limit) };
        own.least.set(least);
        own.span.set(limit - least);
    }

    /// In the child of a fork: the thread has a new record.
    pub(crate) fn forget(&self) {
        self.index.iter().for_each(|place| place.set(0));
        self.all.iter().for_each(|known| known.body.store(0, Ordering::Relaxed));
    }

    /// The bodies at `addresses` are not there any more. Any thread may call it.
    pub(crate) fn forget_bodies(&self, addresses: &Range<u64>) {
        for known in &self.all {
            let body = known.body.load(Ordering::Relaxed);
            if addresses.contains(&body) {
                // ATOMICS: the owner may just set the body of another module.
                let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
                let _ = known.body.compare_exchange(body, 0, order, failed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Some of 64 bodies have one of 256 hashes in common.
    fn body(region: u32) -> u64 {
        0x40_0000 + 64 * u64::from(region)
    }

    impl Countdowns {
        fn counts(&self, body: u64, thread: &Thread) -> bool {
            self.place(body).is_some_and(|place| {
                let is_untimed = self.is_untimed(place, thread);
                if is_untimed {
                    thread.untimed()[place].add(10);
                }
                is_untimed
            })
        }
    }

    #[test]
    fn each_region_has_its_own_countdown() {
        let (countdowns, thread) = (Countdowns::default(), Thread::unrecorded());
        assert!(!countdowns.counts(body(0), &thread));
        for region in 0..COUNTDOWNS as u32 {
            assert!((0..100).all(|other| countdowns.have_place(body(other), &thread, other)));
            countdowns.set(body(region), &thread, region, (region + 1, 100));
        }
        countdowns.set(body(0), &thread, 0, (5, 100));
        assert!(!countdowns.have_place(body(1_000), &thread, 1_000));
        assert!(countdowns.have_place(body(3), &thread, 3));
        countdowns.set(body(1_000), &thread, 1_000, (7, 100));
        assert!(!countdowns.counts(body(1_000), &thread), "it has no place");
        for region in [7, 3, 2, 5, 63] {
            let counted = (0..100).filter(|_| countdowns.counts(body(region), &thread)).count();
            assert_eq!(counted, region as usize + 1);
            let place = thread.place(region).expect("it has one");
            assert_eq!(thread.untimed()[place].executions(), u64::from(region) + 1);
        }
    }

    #[test]
    fn the_next_thread_goes_on_counting_where_the_last_one_ended() {
        let thread = Thread::unrecorded();
        for life in 1..=3 {
            let countdowns = Countdowns::default();
            for region in [9, 4] {
                assert!(!countdowns.counts(body(region), &thread), "it is a new thread");
                countdowns.set(body(region), &thread, region, (10 + region, 100));
                assert!((0..10).all(|_| countdowns.counts(body(region), &thread)));
            }
            let counted = [9, 4].map(|region| {
                thread.untimed()[thread.place(region).expect("a place")].executions()
            });
            assert_eq!(
                counted,
                [10 * life, 10 * life],
                "what was left of a countdown is not counted"
            );
        }
    }

    #[test]
    fn bodies_of_a_module_that_is_gone_have_no_countdown() {
        let (countdowns, thread) = (Countdowns::default(), Thread::unrecorded());
        (0..8).for_each(|region| countdowns.set(body(region), &thread, region, (9, 100)));
        countdowns.forget_bodies(&(body(2)..body(5)));
        let counted = (0..8).filter(|region| countdowns.counts(body(*region), &thread));
        assert_eq!(counted.collect::<Vec<_>>(), [0, 1, 5, 6, 7]);
        countdowns.set(body(3), &thread, 80, (1, 100));
        assert!(countdowns.counts(body(3), &thread), "another module is there now");
        let counted = thread.place(80).map(|place| thread.untimed()[place].executions());
        assert_eq!(counted, Some(1));
    }

    #[test]
    fn only_the_shortest_and_those_beyond_the_limit_are_not_usual() {
        let (countdowns, thread) = (Countdowns::default(), Thread::unrecorded());
        countdowns.set(body(1), &thread, 1, (9, 100));
        let place = countdowns.place(body(1)).expect("it has one");
        let unlike: Vec<Option<bool>> = [50, 60, 40, 100, 101, 45, 700]
            .map(|ticks| {
                thread.untimed()[place].add(ticks);
                let is_usual = countdowns.is_usual(place, ticks);
                (!is_usual).then(|| countdowns.note(place, ticks, &thread))
            })
            .to_vec();
        let (shortest, long) = (Some(false), Some(true));
        assert_eq!(unlike, [shortest, None, shortest, None, long, None, long]);
        let untimed = &thread.untimed()[place];
        assert_eq!((untimed.shortest(), untimed.unlike()), (40, (2, 801)));
        countdowns.set(body(1), &thread, 1, (9, 800));
        assert!(countdowns.is_usual(place, 700) && !countdowns.is_usual(place, 39));
    }

    #[test]
    fn a_forked_child_begins_anew() {
        let (countdowns, thread) = (Countdowns::default(), Thread::unrecorded());
        countdowns.set(body(1), &thread, 1, (5, 100));
        assert!(countdowns.counts(body(1), &thread));
        countdowns.forget();
        let child = Thread::unrecorded();
        assert!(!countdowns.counts(body(1), &child));
        countdowns.set(body(2), &child, 2, (1, 100));
        assert!(countdowns.counts(body(2), &child) && !countdowns.counts(body(2), &child));
    }
}
