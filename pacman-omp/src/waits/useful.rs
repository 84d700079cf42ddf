//! The useful time of one thread in one part, measured for adaptation.
//!
//! The useful time of a part is its time outside of waits, less the time in which other threads had the
//! processor. Adaptation needs an upper bound of it, so what is not known counts as useful:
//!
//! - A call without competition takes time as well, which one thread also needs. So of each wait only the
//!   time beyond [`WaitSums::base`] is waiting.
//! - Threads may run tasks or combine results inside of some calls ([`is_only_waiting`]).
//! - A thread that slept may have slept outside of waits, for input. Then no time off the processor is taken
//!   away. Otherwise other threads took the processor, and what they took during waits is in these already.
//!
//! A part is measured by two readings of the kernel's figures, and a wait by two readings of the clock.

use std::cell::Cell;

use pacman_regions::Cause;

use super::processor::{LEAST, own_work};
use super::thread_clock::{Switches, switches, thread_clock};

/// Lengths of waits are told apart by powers of two, up to this one.
const LENGTHS: usize = 11;

/// One in so many of the shortest waits is left aside: the processor may read the clock too late or too early.
const ASIDE: u64 = 16;

/// The waits of one cause in a part.
#[derive(Debug, Default)]
struct WaitSums {
    count: Cell<u64>,
    ticks: Cell<u64>,
    /// The number of waits of 0 or 1, 2 or 3, 4 to 7, … ticks.
    lengths: [Cell<u32>; LENGTHS],
}

impl WaitSums {
    fn add(&self, ticks: u64) {
        self.count.set(self.count.get() + 1);
        self.ticks.set(self.ticks.get() + ticks);
        let number = &self.lengths[((ticks | 1).ilog2() as usize).min(LENGTHS - 1)];
        number.set(number.get() + 1);
    }

    /// The most ticks of such a call on a thread that is alone: more than twice those of the shortest ones, up
    /// to [`most_base`]. If these waited too, less is taken for waiting.
    fn base(&self, cause: usize) -> u64 {
        let mut shorter = 0;
        let short = self.lengths.iter().position(|number| {
            shorter += u64::from(number.get());
            shorter > self.count.get() / ASIDE
        });
        short.map_or(0, |power| (4 << power).min(most_base(cause)))
    }

    /// Takes the ticks for which the thread waited, at least.
    fn take_waiting(&self, cause: usize) -> u64 {
        let base = self.base(cause);
        for number in &self.lengths {
            number.take();
        }
        self.ticks.take().saturating_sub(self.count.take() * base)
    }
}

/// The most ticks of a call without competition. At 2.6 GHz a lock takes 24 ticks under libgomp and 35 under
/// libomp, and the start of an ordered section 340.
fn most_base(cause: usize) -> u64 {
    let locks = [Cause::Critical, Cause::Lock, Cause::Atomic];
    if locks.iter().any(|&lock| lock as usize == cause) { 128 } else { 1024 }
}

/// Whether a call of that cause contains nothing but waiting.
fn is_only_waiting(cause: Cause) -> bool {
    !matches!(cause, Cause::Reduction | Cause::Taskwait | Cause::Taskgroup | Cause::Mpi)
}

/// The kernel's figures of a thread.
#[derive(Clone, Copy, Debug)]
struct Reading {
    nanoseconds: u64,
    switches: Switches,
}

impl Reading {
    fn take() -> Option<Reading> {
        // The clock is read close to the part, so it is the last call here and the first in `after`.
        let switches = switches()?;
        Some(Reading { nanoseconds: thread_clock()?, switches })
    }

    /// A reading at the end of what began with `self`, as the difference to it.
    fn after(self) -> Option<Reading> {
        let nanoseconds = thread_clock()?.checked_sub(self.nanoseconds)?;
        let now = switches()?;
        let switches = Switches {
            voluntary: now.voluntary.checked_sub(self.switches.voluntary)?,
            involuntary: now.involuntary.checked_sub(self.switches.involuntary)?,
        };
        Some(Reading { nanoseconds, switches })
    }
}

/// The measured times of one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartTime {
    /// The ticks of the part.
    pub(crate) wall: u64,
    /// The ticks of the part outside of waits, at most.
    pub(crate) outside_waits: u64,
    /// The number of waits.
    pub(crate) waits: u64,
    /// If other threads took the processor, and the thread never slept: its time on a processor in
    /// nanoseconds, and the ticks of waits that may have been off a processor.
    pub(crate) preempted: Option<(u64, u64)>,
}

impl PartTime {
    /// The useful ticks, at most, if the processor time of a tick is `nanos_per_tick`.
    pub(crate) fn useful(&self, nanos_per_tick: f64) -> f64 {
        let outside = self.outside_waits as f64;
        let Some((nanoseconds, in_waits)) = self.preempted else { return outside };
        let on_processor = nanoseconds as f64 / nanos_per_tick;
        let off = self.off_processor(nanos_per_tick) - in_waits as f64;
        (outside - off.max(0.0)).min(on_processor).max(0.0)
    }

    /// The ticks for which other threads had the processor, where they are known.
    pub(crate) fn off_processor(&self, nanos_per_tick: f64) -> f64 {
        self.preempted.map_or(0.0, |(nanoseconds, _)| {
            (self.wall as f64 - nanoseconds as f64 / nanos_per_tick).max(0.0)
        })
    }
}

/// The part of one thread whose useful time is measured. Only that thread uses it.
#[derive(Debug, Default)]
pub(crate) struct UsefulTime {
    /// The nesting depth of the body that is measured; 0 if none is.
    depth: Cell<u32>,
    /// The stack address of the open wait; 0 if the thread works.
    open: Cell<usize>,
    begun: Cell<u64>,
    reading: Cell<Option<Reading>>,
    /// By cause. Their numbers begin with 1.
    waits: [WaitSums; Cause::ALL.len() + 1],
    /// The ticks of waits of at least [`LEAST`] ticks, and of shorter ones.
    long: Cell<u64>,
    short: Cell<u64>,
    /// The ticks of the library's own work at the start and the end of the latest part.
    own: Cell<u64>,
}

impl UsefulTime {
    /// Begins to measure a body at nesting `depth`, which begins next.
    pub(crate) fn begin(&self, depth: u32, now: impl Fn() -> u64) {
        let called = now();
        self.depth.set(depth);
        self.open.set(0);
        // A part that was lost has left its waits.
        for (cause, sums) in self.waits.iter().enumerate() {
            sums.take_waiting(cause);
        }
        self.long.set(0);
        self.short.set(0);
        self.reading.set(Reading::take());
        let begun = now();
        self.begun.set(begun);
        self.own.set(own_work(called, begun));
    }

    /// The body has ended. `None` if it is unknown what was measured: the body left a wait by a jump, or the
    /// process was forked inside.
    pub(crate) fn end(&self, now: impl Fn() -> u64) -> Option<PartTime> {
        let ended = now();
        let after = self.reading.take().and_then(Reading::after);
        let was_open = self.depth.take() != 0 && self.open.get() == 0;
        let time = was_open.then(|| self.time(ended.saturating_sub(self.begun.get()), after));
        self.own.set(self.own.get() + own_work(ended, now()));
        time
    }

    fn time(&self, wall: u64, after: Option<Reading>) -> PartTime {
        let count = self.waits.iter().map(|sums| sums.count.get()).sum();
        let waits = self.waits.iter().enumerate();
        let waiting: u64 = waits.map(|(cause, sums)| sums.take_waiting(cause)).sum();
        let outside_waits = wall.saturating_sub(waiting);
        // A kernel that counts no switches does not say whether the thread slept.
        let preempted =
            after.filter(|after| after.switches.voluntary == 0 && after.switches.involuntary > 0);
        let preempted = preempted.map(|after| {
            // A wait that was interrupted for a time slice is long. A short one may be if the thread yields.
            let in_short = after.switches.involuntary.saturating_mul(LEAST).min(self.short.get());
            (after.nanoseconds, self.long.get() + in_short)
        });
        PartTime { wall, outside_waits, waits: count, preempted }
    }

    /// The ticks of the library's own work in the part that ended last.
    pub(crate) fn own_work(&self) -> u64 {
        self.own.get()
    }

    /// Begins a wait at nesting `depth` with a stack frame at `frame`. False if the wait is not measured: no
    /// part is, or the wait is inside of another wait or of another part, or may contain work.
    ///
    /// Not inlined, nor is the end: there is a copy of their caller for each call of the runtimes.
    #[inline(never)]
    pub(crate) fn begins_wait(&self, cause: Cause, depth: u32, frame: usize) -> bool {
        let open = self.open.get();
        // Stacks grow down. The program left a wait that is not below by a jump: all of it was useful.
        let is_measured = depth != 0 && depth == self.depth.get();
        if !is_measured || !is_only_waiting(cause) || open != 0 && frame < open {
            return false;
        }
        self.open.set(frame);
        true
    }

    /// Ends the wait after `ticks`.
    #[inline(never)]
    pub(crate) fn ends_wait(&self, cause: Cause, ticks: u64) {
        self.open.set(0);
        self.waits[cause as usize].add(ticks);
        let sum = if ticks >= LEAST { &self.long } else { &self.short };
        sum.set(sum.get() + ticks);
    }

    /// In the child of a fork: its clock is another one.
    pub(crate) fn forget(&self) {
        self.depth.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_PER_NANOSECOND: f64 = 0.5;

    fn reading(nanoseconds: u64, voluntary: u64, involuntary: u64) -> Option<Reading> {
        Some(Reading { nanoseconds, switches: Switches { voluntary, involuntary } })
    }

    /// A part of 100,000 ticks (50 µs) with `waits`, and the difference of the kernel's figures.
    fn part(waits: &[(Cause, u64)], after: Option<Reading>) -> PartTime {
        let state = UsefulTime::default();
        state.begin(1, || 0);
        for &(cause, ticks) in waits {
            assert!(state.begins_wait(cause, 1, 4096), "{cause:?}");
            state.ends_wait(cause, ticks);
        }
        state.time(100_000, after)
    }

    fn useful(waits: &[(Cause, u64)], after: Option<Reading>) -> f64 {
        let time = part(waits, after);
        let useful = time.useful(TWO_PER_NANOSECOND);
        assert!(0.0 <= useful && useful <= time.outside_waits as f64, "{time:?}: {useful}");
        assert!(time.outside_waits <= time.wall, "{time:?}");
        if let Some((nanoseconds, _)) = time.preempted {
            assert!(useful <= nanoseconds as f64 / TWO_PER_NANOSECOND, "{time:?}: {useful}");
        }
        useful
    }

    #[test]
    fn useful_time_is_at_most_processor_time_and_that_is_at_most_the_part() {
        let waits = [(Cause::Barrier, 40_000), (Cause::Critical, 20_000)];
        for waits in [&waits[..0], &waits[..1], &waits] {
            for nanoseconds in [0, 5_000, 25_000, 50_000, 60_000] {
                for (voluntary, involuntary) in [(0, 0), (0, 1), (0, 900), (1, 1), (9, 0)] {
                    useful(waits, reading(nanoseconds, voluntary, involuntary));
                }
            }
        }
    }

    #[test]
    fn a_thread_that_blocks_in_a_wait_waited_once() {
        let barrier = [(Cause::Barrier, 40_000)];
        let kept = 100_000.0 - 40_000.0 + 1024.0;
        assert_eq!(useful(&barrier, reading(30_000, 1, 0)), kept, "it slept for 20 us of the wait");
        assert_eq!(useful(&barrier, reading(50_000, 0, 0)), kept, "it span");
        assert_eq!(useful(&barrier, None), kept, "no figures");
    }

    #[test]
    fn a_time_slice_of_another_thread_is_no_work() {
        assert_eq!(useful(&[], reading(30_000, 0, 1)), 60_000.0);
        // It may have been taken in the wait, which is left out already.
        let barrier = [(Cause::Barrier, 40_000)];
        assert_eq!(useful(&barrier, reading(30_000, 0, 1)), 60_000.0);
        assert_eq!(useful(&barrier, reading(20_000, 0, 1)), 40_000.0, "and more than the wait");
        // Without a switch the figures contradict each other.
        assert_eq!(useful(&[], reading(30_000, 0, 0)), 100_000.0);
    }

    #[test]
    fn a_thread_that_slept_may_have_read_a_file() {
        assert_eq!(useful(&[], reading(10_000, 3, 2)), 100_000.0);
    }

    #[test]
    fn a_free_lock_is_no_wait() {
        // One in a hundred readings of the clock is wrong.
        let free: Vec<_> =
            (0..1000).map(|at| (Cause::Lock, if at % 100 == 0 { 1 } else { 24 })).collect();
        assert_eq!(useful(&free, None), 100_000.0);
        let mut waits = free;
        waits.push((Cause::Lock, 50_000));
        assert_eq!(
            part(&waits, None).outside_waits,
            100_000 - (50_000 + 990 * 24 + 10 - 1001 * 64)
        );
        // The lock is handed over each time, and no call tells how long a free one takes.
        let contended = [(Cause::Critical, 1_000); 60];
        assert_eq!(part(&contended, None).outside_waits, 100_000 - 60 * (1_000 - 128));
    }

    #[test]
    fn work_inside_of_a_call_is_useful() {
        let state = UsefulTime::default();
        state.begin(1, || 0);
        for cause in [Cause::Reduction, Cause::Taskwait, Cause::Taskgroup, Cause::Mpi] {
            assert!(!state.begins_wait(cause, 1, 4096), "{cause:?}");
        }
        assert!(!state.begins_wait(Cause::Barrier, 2, 4096), "of a part inside");
        assert!(state.begins_wait(Cause::Barrier, 1, 4096));
        assert!(!state.begins_wait(Cause::Lock, 1, 4000), "inside of the barrier");
        assert!(state.begins_wait(Cause::Lock, 1, 5000), "the program has left the barrier");
        assert_eq!(state.end(|| 9), None, "and has left the lock, so nothing is known");
        assert!(!state.begins_wait(Cause::Barrier, 1, 4096), "nothing is measured");
    }
}
