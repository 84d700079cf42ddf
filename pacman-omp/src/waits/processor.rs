//! The processor time of one thread, by state, from the kernel's clock of the thread.
//!
//! A reading of that clock is a system call. So a wait or a stretch of useful time is read only if
//! [`LEAST`] ticks have passed since the latest reading; a shorter one counts with the state after it.

use std::cell::Cell;

use pacman_regions::arena::state;

use super::thread_clock::{Switches, switches, thread_clock};

/// The least ticks between two readings within a part: 10 to 16 µs of a TSC of 2 to 3.3 GHz. A reading
/// takes 0.35 µs in a virtual machine.
pub(super) const LEAST: u64 = 1 << 15;

/// The most ticks of the library's own work from one clock reading to the next: 80 to 130 µs. It takes a few.
const MOST_OWN: u64 = 1 << 18;

/// The ticks of the library's own work from `begun` to `ended`. After more than [`MOST_OWN`] another thread had
/// the processor meanwhile, which it would have had without the library. The other threads of the region went
/// on, so the region lasted that long as well.
#[inline(always)]
pub(super) fn own_work(begun: u64, ended: u64) -> u64 {
    let ticks = ended.saturating_sub(begun);
    if ticks > MOST_OWN { 0 } else { ticks }
}

/// The state of a thread that ends at a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Useful,
    Waiting,
}

/// A reading of the thread's processor clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockReading {
    /// The time of the reading; [`OFF`] without one.
    ticks: u64,
    nanoseconds: u64,
    /// `None` if the kernel does not count them.
    switches: Option<Switches>,
}

/// The doings of the thread between two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Doings {
    /// Nanoseconds on a processor.
    pub(super) ran: u64,
    /// How often it left the processor.
    pub(super) switches: Switches,
}

/// No time is as late, so that nothing is due.
const OFF: u64 = u64::MAX;
const NONE: ClockReading = ClockReading { ticks: OFF, nanoseconds: 0, switches: None };

/// Time between readings, and the time on a processor in it.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    ticks: u64,
    nanoseconds: u64,
}

impl ClockReading {
    /// Reads the clock of a thread that asks at `ticks`. The switches come first: one that follows is of the
    /// next stretch, and so is its time.
    fn take(ticks: u64) -> Option<ClockReading> {
        let switches = switches();
        Some(ClockReading { ticks, nanoseconds: thread_clock()?, switches })
    }

    /// The doings of the thread since `before`, if the kernel tells.
    fn doings(self, before: ClockReading) -> Option<Doings> {
        let Spent { nanoseconds: ran, .. } = self.since(before)?;
        let (now, then) = (self.switches?, before.switches?);
        let voluntary = now.voluntary.checked_sub(then.voluntary)?;
        let involuntary = now.involuntary.checked_sub(then.involuntary)?;
        Some(Doings { ran, switches: Switches { voluntary, involuntary } })
    }

    /// The time since `before`; `None` without both readings, or if they are of two clocks: that of a
    /// forked child begins at 0.
    fn since(self, before: ClockReading) -> Option<Spent> {
        let are_both = self.ticks != OFF && before.ticks != OFF;
        let nanoseconds = self.nanoseconds.checked_sub(before.nanoseconds)?;
        let ticks = self.ticks.saturating_sub(before.ticks);
        are_both.then_some(Spent { ticks, nanoseconds })
    }
}

impl Spent {
    fn and(self, other: Spent) -> Spent {
        let Spent { ticks, nanoseconds } = self;
        Spent { ticks: ticks + other.ticks, nanoseconds: nanoseconds + other.nanoseconds }
    }
}

/// The state of the clock when a phase begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhaseClock {
    begun: ClockReading,
    waiting: Spent,
    failures: u64,
}

/// The processor time of the present part. Only the thread itself uses it.
#[derive(Debug)]
pub(super) struct ProcessorTime {
    latest: Cell<ClockReading>,
    useful: Cell<Spent>,
    waiting: Cell<Spent>,
    /// The sum of the waits of all parts, for phases.
    all_waiting: Cell<Spent>,
    /// The number of failed readings.
    failures: Cell<u64>,
    /// The open phases. With one the clock is also read outside of parts.
    phases: Cell<u32>,
    /// A reading of the part failed.
    is_lost: Cell<bool>,
    /// The ticks that readings took in the present part.
    cost: Cell<u64>,
}

impl Default for ProcessorTime {
    fn default() -> ProcessorTime {
        ProcessorTime {
            latest: Cell::new(NONE),
            useful: Cell::default(),
            waiting: Cell::default(),
            all_waiting: Cell::default(),
            failures: Cell::new(0),
            phases: Cell::new(0),
            is_lost: Cell::new(false),
            cost: Cell::new(0),
        }
    }
}

impl ProcessorTime {
    /// Useful time ends at `at`, and a wait begins or goes on. Answers whether the clock was read.
    #[inline(always)]
    pub(super) fn ends_useful(&self, now: impl Fn() -> u64, at: u64) -> bool {
        let is_due = self.is_due(at);
        if is_due {
            self.read_to_the_end(now, at);
        }
        is_due
    }

    /// A call in which threads wait ends at `at`. `state` says, by what the thread did, whether it waited.
    #[inline(always)]
    pub(super) fn ends_wait(
        &self,
        now: impl Fn() -> u64,
        at: u64,
        state: impl FnOnce(Option<Doings>) -> Ended,
    ) {
        if self.is_due(at) {
            self.read_and_judge(now, at, state);
        } else {
            state(None);
        }
    }

    #[inline(always)]
    fn is_due(&self, at: u64) -> bool {
        at.saturating_sub(self.latest.get().ticks) >= LEAST
    }

    /// Reads the clock as useful time ends at `at`. If another thread takes the processor at the reading, this
    /// time is useful time on no processor as well: the thread would have lost it while it worked.
    #[cold]
    #[inline(never)]
    pub(super) fn read_to_the_end(&self, now: impl Fn() -> u64, at: u64) {
        self.read(Ended::Useful, &now, at);
        let again = now();
        if again.saturating_sub(at) > MOST_OWN {
            self.read(Ended::Useful, now, again);
        }
    }

    /// A state ends at `at`.
    #[cold]
    #[inline(never)]
    pub(super) fn read(&self, ended: Ended, now: impl Fn() -> u64, at: u64) {
        self.read_and_judge(now, at, |_| ended);
    }

    #[inline]
    fn read_and_judge(
        &self,
        now: impl Fn() -> u64,
        at: u64,
        state: impl FnOnce(Option<Doings>) -> Ended,
    ) {
        let before = self.latest.get();
        let latest = ClockReading::take(at);
        self.cost.set(self.cost.get() + own_work(at, now()));
        if latest.is_none() {
            self.lose();
        }
        self.latest.set(latest.unwrap_or(NONE));
        let ended = state(latest.and_then(|latest| latest.doings(before)));
        if before.ticks != OFF {
            self.add(ended, before);
        }
    }

    /// Adds the time since `before`, which was of the state `ended`.
    fn add(&self, ended: Ended, before: ClockReading) {
        let Some(spent) = self.latest.get().since(before) else { return self.lose() };
        match ended {
            Ended::Useful => self.useful.set(self.useful.get().and(spent)),
            Ended::Waiting => {
                self.waiting.set(self.waiting.get().and(spent));
                self.all_waiting.set(self.all_waiting.get().and(spent));
            }
        }
    }

    fn lose(&self) {
        self.is_lost.set(true);
        self.failures.set(self.failures.get() + 1);
    }

    pub(super) fn has_phases(&self) -> bool {
        self.phases.get() > 0
    }

    /// A phase begins right after a reading.
    pub(super) fn begin_phase(&self) -> PhaseClock {
        self.phases.set(self.phases.get() + 1);
        let (begun, waiting) = (self.latest.get(), self.all_waiting.get());
        PhaseClock { begun, waiting, failures: self.failures.get() }
    }

    /// A phase ends right after a reading. Answers the processor time of the whole phase and of its
    /// waits, in ticks and nanoseconds, if all readings succeeded.
    pub(super) fn end_phase(&self, begun: PhaseClock, is_part: bool) -> Option<[(u64, u64); 2]> {
        self.phases.set(self.phases.get().saturating_sub(1));
        let whole = self.latest.get().since(begun.begun);
        if !is_part {
            self.begin(false);
        }
        let Spent { ticks, nanoseconds } = self.all_waiting.get();
        let waits = (ticks - begun.waiting.ticks, nanoseconds - begun.waiting.nanoseconds);
        let whole = whole.filter(|_| self.failures.get() == begun.failures)?;
        Some([(whole.ticks, whole.nanoseconds), waits])
    }

    /// The latest reading. Another part begins with it.
    pub(super) fn latest(&self) -> ClockReading {
        self.latest.get()
    }

    /// Another part begins, or work without a part. It has a first reading if `is_part`.
    pub(super) fn begin(&self, is_part: bool) {
        if !is_part && self.phases.get() == 0 {
            self.latest.set(NONE);
        }
        self.is_lost.set(is_part && self.latest.get().ticks == OFF);
    }

    /// A part goes on after one inside of it, which began at `begun`, is useful time of this one, and
    /// had its clock or lost it.
    pub(super) fn go_on(&self, begun: ClockReading, was_lost: bool) {
        self.is_lost.set(was_lost);
        if !was_lost {
            self.add(Ended::Useful, begun);
        }
    }

    /// Takes the sums of the part: calls `add` with the number of each in [`state`], nanoseconds on a
    /// processor, and ticks. Answers whether a reading failed.
    #[inline]
    pub(super) fn take(&self, mut add: impl FnMut(u32, u64, u64)) -> bool {
        for (number, sum) in
            [(state::USEFUL_TIME, &self.useful), (state::WAITING_TIME, &self.waiting)]
        {
            let Spent { ticks, nanoseconds } = sum.take();
            if ticks > 0 {
                add(number, nanoseconds, ticks);
            }
        }
        let is_lost = self.is_lost.replace(false);
        if is_lost {
            add(state::CLOCK_LOST, 1, 0);
        }
        is_lost
    }

    /// The ticks of the readings since [`take_cost`](Self::take_cost).
    pub(super) fn cost(&self) -> u64 {
        self.cost.get()
    }

    /// Takes the ticks that readings took since the call before.
    pub(super) fn take_cost(&self) -> u64 {
        self.cost.take()
    }

    /// Goes on with the readings of the part around.
    pub(super) fn set_cost(&self, ticks: u64) {
        self.cost.set(ticks);
    }

    /// In the child of a fork: the clock and the sums are the parent's.
    pub(super) fn forget(&self) {
        self.latest.set(NONE);
        self.useful.take();
        self.waiting.take();
        self.lose();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums of a part: by number, nanoseconds and ticks.
    fn taken(time: &ProcessorTime) -> Vec<(u32, u64, u64)> {
        let mut all = Vec::new();
        time.take(|number, nanoseconds, ticks| all.push((number, nanoseconds, ticks)));
        all
    }

    #[test]
    fn time_belongs_to_the_state_that_ends() {
        let time = ProcessorTime::default();
        let clock = || 0;
        assert!(!time.ends_useful(clock, 5 * LEAST), "nothing is due outside of parts");
        time.read(Ended::Useful, clock, 5 * LEAST);
        time.begin(true);
        assert!(!time.ends_useful(clock, 6 * LEAST - 1), "too short");
        let mut known = None;
        let mut waits = |doings| {
            known = doings;
            Ended::Waiting
        };
        time.ends_wait(clock, 6 * LEAST - 1, |doings| {
            assert_eq!(doings, None, "too short");
            Ended::Waiting
        });
        time.ends_wait(clock, 6 * LEAST, &mut waits);
        assert!(known.is_some_and(|doings| doings.switches.voluntary == 0), "{known:?}");
        assert!(time.ends_useful(clock, 9 * LEAST));
        time.read(Ended::Useful, clock, 9 * LEAST + 3);
        let sums = taken(&time);
        let ticks: Vec<(u32, u64)> = sums.iter().map(|sum| (sum.0, sum.2)).collect();
        assert_eq!(ticks, [(state::USEFUL_TIME, 3 * LEAST + 3), (state::WAITING_TIME, LEAST)]);
        assert!(taken(&time).is_empty(), "taken once");
    }

    /// A thread that loses the processor at a reading for a time slice has not worked for so long.
    #[test]
    fn an_interrupted_reading_is_no_work_of_the_library() {
        let time = ProcessorTime::default();
        time.read(Ended::Useful, || 10_700, 10_000);
        assert_eq!(time.take_cost(), 700);
        time.read(Ended::Useful, || 10_000 + 3 * MOST_OWN, 10_000);
        time.read(Ended::Useful, || 20_600, 20_000);
        assert_eq!(time.take_cost(), 600);
    }

    /// The wait that begins after such a reading has nothing of it.
    #[test]
    fn a_processor_that_is_lost_at_a_reading_is_lost_to_the_work_before() {
        let time = ProcessorTime::default();
        time.read(Ended::Useful, || 0, 0);
        time.begin(true);
        let late = LEAST + 3 * MOST_OWN;
        assert!(time.ends_useful(|| late, LEAST));
        time.ends_wait(|| late, late + LEAST, |_| Ended::Waiting);
        let ticks: Vec<(u32, u64)> = taken(&time).iter().map(|sum| (sum.0, sum.2)).collect();
        assert_eq!(ticks, [(state::USEFUL_TIME, late), (state::WAITING_TIME, LEAST)]);
    }

    #[test]
    fn a_part_inside_is_useful_time_of_the_one_around_and_loses_with_it() {
        let time = ProcessorTime::default();
        let clock = || 0;
        time.read(Ended::Useful, clock, 0);
        time.begin(true);
        time.read(Ended::Useful, clock, 100);
        let entered = time.latest();
        assert_eq!(taken(&time)[0].2, 100);
        time.begin(true);
        time.read(Ended::Waiting, clock, 170);
        time.read(Ended::Useful, clock, 200);
        assert_eq!(taken(&time).iter().map(|sum| sum.2).sum::<u64>(), 100);
        time.go_on(entered, false);
        time.read(Ended::Useful, clock, 240);
        let sums = taken(&time);
        assert_eq!((sums.len(), sums[0].0, sums[0].2), (1, state::USEFUL_TIME, 140));
        time.forget();
        let mut has_lost = time.take(|number, count, _| assert_eq!((number, count), (7, 1)));
        assert!(has_lost);
        time.go_on(entered, has_lost);
        has_lost = time.take(|_, _, _| ());
        assert!(has_lost, "the one around has lost its clock as well");
    }
}
