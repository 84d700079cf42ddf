//! The hot path: an attached thread begins and ends phases and reads its counters.

use std::cell::UnsafeCell;
use std::ptr;
use std::sync::Arc;

use super::log::Log;
use super::meter::Meter;
use super::open::{DEEPEST, Open, reentered};
use super::rotation::{ByPlace, Epoch, RotatingStats, SetScheduler, SetStats, Sets, no_such_set};
use super::rows::{Rows, RowsOf};
use super::sample::Sample;
use super::slot::Slot;
use super::stack::{Sinks, Stack, innermost, refuse_begin, refuse_end};
use super::thread::{Counted, ThreadRecord};
use crate::backend::{Caps, Counters, EventSums, MAX_EVENTS, Reading, Target};
use crate::clock::Clock;
use pacman_events::Result;

/// The records of a thread with a [fast path](ThreadRecorder::has_fast_path).
#[derive(Clone, Copy)]
pub(super) struct FastPath<'a> {
    pub(super) slot: &'a Slot,
    pub(super) rows: &'a RowsOf<4>,
    pub(super) open: &'a Open,
}

/// The part of an attachment that only its thread touches.
///
/// # Safety
/// A signal handler may call [`begin`](Self::begin) and [`end`](Self::end) while its thread is inside of any method.
/// So all methods share the value. The scheduler of sets is used exclusively, only between [`Open::enter`] and
/// [`Open::leave`], as the memory of the [`Stack`] is. Callers keep the contract by giving each call the record, or the
/// [`Open`] of the record, that was made for this recorder: "its own record".
pub(super) struct ThreadRecorder {
    /// The meter of the only set. With rotating sets it refuses, so that the hot path needs no
    /// check.
    meter: Meter,
    stack: Stack,
    set_scheduler: Option<Box<UnsafeCell<SetScheduler>>>,
}

impl ThreadRecorder {
    /// Opens the counters of `target`.
    pub(super) fn open(sets: &Arc<Sets>, target: Target, clock: Clock) -> Result<ThreadRecorder> {
        let stack = Stack::new()?;
        let (counters, set_scheduler): (Box<dyn Counters>, _) = if sets.len() == 1 {
            (sets.backend(0).open(target)?, None)
        } else {
            let set_scheduler = SetScheduler::open(sets, target, clock)?;
            let by_place = Box::new(ByPlace { caps: set_scheduler.caps() });
            (by_place, Some(Box::new(UnsafeCell::new(set_scheduler))))
        };
        Ok(ThreadRecorder { meter: Meter::new(counters, clock), stack, set_scheduler })
    }

    /// Checks that the current counters belonged to the thread all the time.
    pub(super) fn verify(&mut self) -> Result<()> {
        match &mut self.set_scheduler {
            Some(set_scheduler) => set_scheduler.get_mut().meter().verify(),
            None => self.meter.verify(),
        }
    }

    /// The abilities of the counters.
    pub(super) fn caps(&self) -> Caps {
        self.meter.caps()
    }

    /// Whether the thread's phases take the fast path: one set of up to four events, a plain meter
    /// and no log. Most sessions are like that. Their reads are so cheap that the code around them
    /// matters.
    pub(super) fn has_fast_path(&self, record: &ThreadRecord) -> bool {
        self.meter.is_plain()
            && record.log.is_none()
            && matches!(&record.counted, Counted::AtOnce(SetStats { rows: Rows::Four(_), .. }))
    }

    /// Sets the thread's number in the session.
    pub(super) fn number(&mut self, thread: usize) {
        if let Some(set_scheduler) = &mut self.set_scheduler {
            set_scheduler.get_mut().number(thread);
        }
    }

    /// As [`sample`](Self::sample), before there is a record.
    pub(super) fn first_sample(&mut self, sample: &mut Sample) -> Result<()> {
        if let Some(set_scheduler) = &mut self.set_scheduler {
            return set_scheduler.get_mut().sample(sample).map(drop);
        }
        sample.epoch = Epoch::ONLY;
        self.meter.open(&mut sample.reading, &mut sample.ticks)
    }

    /// The counts of an empty phase by column of a set, which is on the counters afterwards: medians of so many phases.
    /// `None` if a reading fails.
    pub(super) fn empty_phases(
        &mut self,
        set: usize,
        rounds: usize,
        columns: usize,
    ) -> Option<Vec<u64>> {
        let meter = match &mut self.set_scheduler {
            Some(set_scheduler) => {
                let set_scheduler = set_scheduler.get_mut();
                set_scheduler.put_on(set).ok()?;
                set_scheduler.meter()
            }
            None => &mut self.meter,
        };
        let (mut begun, mut ended, mut ticks) = (Reading::EMPTY, Reading::EMPTY, 0);
        let mut counts = vec![Vec::with_capacity(rounds); columns];
        for _ in 0..rounds {
            meter.open(&mut begun, &mut ticks).ok()?;
            meter.close(&mut ended, &mut ticks).ok()?;
            for (at, counts) in counts.iter_mut().enumerate() {
                counts.push(ended.counts.get(at)?.wrapping_sub(begun.counts[at]));
            }
        }
        let median = |mut counts: Vec<u64>| {
            counts.sort_unstable();
            counts[counts.len() / 2]
        };
        Some(counts.into_iter().map(median).collect())
    }

    /// Reads the counters.
    #[inline(always)]
    pub(super) fn read(&self, reading: &mut Reading) -> Result<()> {
        self.meter.read(reading)
    }

    /// Reads the counters, and adds to `sums` what counted since `begun`.
    #[inline(always)]
    pub(super) fn add_since(&self, begun: &Reading, sums: &EventSums) -> Result<()> {
        self.meter.add_since(begun, sums)
    }

    /// Puts a set on the counters.
    ///
    /// # Safety
    /// `open` must be of its own record.
    pub(super) unsafe fn put_set_on(&self, set: usize, open: &Open) -> Result<()> {
        // SAFETY: as the contract of this function.
        match unsafe { self.rotating(open, |set_scheduler| set_scheduler.put_on(set)) } {
            Some(put) => put?,
            None if set == 0 => Ok(()),
            None => Err(no_such_set(set, 1)),
        }
    }

    /// Reads the counters of the set which is on them.
    ///
    /// # Safety
    /// `open` must be of its own record.
    #[inline]
    pub(super) unsafe fn read_set(&self, reading: &mut Reading, open: &Open) -> Result<()> {
        // SAFETY: as the contract of this function.
        match unsafe { self.rotating(open, |sets| sets.meter().read(reading)) } {
            Some(read) => read?,
            None => self.meter.read(reading),
        }
    }

    /// As [`add_since`](Self::add_since), for the set which is on the counters.
    ///
    /// # Safety
    /// `open` must be of its own record.
    #[inline]
    pub(super) unsafe fn add_set_since(
        &self,
        begun: &Reading,
        sums: &EventSums,
        open: &Open,
    ) -> Result<()> {
        // SAFETY: as the contract of this function.
        match unsafe { self.rotating(open, |sets| sets.meter().add_since(begun, sums)) } {
            Some(added) => added?,
            None => self.meter.add_since(begun, sums),
        }
    }

    /// Reads the counters and the clock.
    ///
    /// # Safety
    /// `open` must be of its own record.
    #[inline]
    pub(super) unsafe fn sample(&self, sample: &mut Sample, open: &Open) -> Result<()> {
        if self.set_scheduler.is_some() {
            // SAFETY: as the contract of this function.
            return unsafe { self.sample_rotating(sample, open) };
        }
        sample.epoch = Epoch::ONLY;
        self.meter.open(&mut sample.reading, &mut sample.ticks)
    }

    /// # Safety
    /// As for [`sample`](Self::sample).
    #[inline(never)]
    unsafe fn sample_rotating(&self, sample: &mut Sample, open: &Open) -> Result<()> {
        // SAFETY: as the contract of this function.
        let sampled = unsafe { self.rotating(open, |sets| sets.sample(sample)) };
        sampled.expect(OPENED)?.map(drop)
    }

    /// Reads the counters and publishes the sample to other threads.
    ///
    /// # Safety
    /// `record` must be its own.
    pub(super) unsafe fn publish(&self, record: &ThreadRecord) -> Result<()> {
        let mut sample = Sample::EMPTY;
        match &record.counted {
            Counted::AtOnce(set_stats) => {
                // SAFETY: as the contract of this function.
                unsafe { self.sample(&mut sample, &record.open) }?;
                set_stats.slot.publish(sample.ticks, &sample.reading.counts);
            }
            Counted::Rotating(rotating) => {
                // SAFETY: as the contract of this function.
                let sampled =
                    unsafe { self.rotating(&record.open, |sets| sets.sample(&mut sample)) };
                let set = sampled.expect(OPENED)??;
                rotating.each()[set].slot.publish(sample.ticks, &sample.reading.counts);
                rotating.begin_epoch(sample.epoch.number, set);
            }
        }
        Ok(())
    }

    /// Begins a phase on the fast path. Does nothing and returns `None` if [`begin`](Self::begin)
    /// is needed.
    ///
    /// # Safety
    /// `path` must be of its own record.
    #[inline(always)]
    pub(super) unsafe fn begin_fast(&self, phase: u32, path: FastPath<'_>) -> Option<Result<()>> {
        // SAFETY: the record's `Open` is the stack's own.
        unsafe { self.stack.begin::<4, true>(phase, &self.meter, path.slot, path.open) }
    }

    /// Ends a phase on the fast path. Does nothing and returns `None` if [`end`](Self::end) is
    /// needed.
    ///
    /// # Safety
    /// `path` must be of its own record.
    #[inline(always)]
    pub(super) unsafe fn end_fast(&self, phase: u32, path: FastPath<'_>) -> Option<Result<()>> {
        let FastPath { slot, rows, open } = path;
        let sinks = Sinks { slot, rows, log: &NO_LOG, open, set: 0 };
        // SAFETY: the record's `Open` is the stack's own.
        unsafe { self.stack.end::<4, true>(phase, &self.meter, sinks, false) }
    }

    /// Begins a phase.
    ///
    /// # Safety
    /// `record` must be its own.
    pub(super) unsafe fn begin(&self, phase: u32, record: &ThreadRecord) -> Result<()> {
        let open = &record.open;
        let depth = open.depth();
        if depth >= DEEPEST {
            return Err(refuse_begin(open));
        }
        open.enter();
        match &record.counted {
            // SAFETY: entered at that depth, and the record's `Open` is the stack's own.
            Counted::AtOnce(set_stats) => unsafe {
                begin_entered(&self.stack, depth, &self.meter, phase, set_stats, open)
            },
            // SAFETY: as above.
            Counted::Rotating(rotating) => unsafe {
                self.begin_rotating(depth, phase, rotating, open)
            },
        }
    }

    /// Ends a phase.
    ///
    /// # Safety
    /// `record` must be its own.
    pub(super) unsafe fn end(
        &self,
        phase: u32,
        record: &ThreadRecord,
        panicked: bool,
    ) -> Result<()> {
        let (log, open) = (&record.log, &record.open);
        let Some(depth) = innermost(open, phase) else { return Err(refuse_end(open)) };
        open.enter();
        let (meter, set_stats, set) = match &record.counted {
            Counted::AtOnce(set_stats) => (&raw const self.meter, set_stats, 0),
            Counted::Rotating(rotating) => {
                let set_scheduler = self.set_scheduler.as_ref().expect(OPENED);
                // SAFETY: `open` is entered until the end of this execution, which leaves it.
                let set_scheduler = unsafe { &mut *set_scheduler.get() };
                let set = set_scheduler.set();
                (ptr::from_ref(set_scheduler.meter()), &rotating.each()[set], set as u32)
            }
        };
        let slot = &set_stats.slot;
        // SAFETY: the meter is this thread's, and `open` is entered.
        let is_plain = unsafe { &*meter }.is_plain();
        // Rust 1.85 cannot infer the width beside an explicit constant.
        macro_rules! end {
            ($rows:expr, $width:expr) => {{
                // Made in each arm, since the arm with a call wants it in memory.
                let sinks = || Sinks { slot, rows: $rows, log, open, set };
                // SAFETY: entered, `depth` is the phase's, and the record's `Open` is the stack's own.
                unsafe {
                    match is_plain {
                        true => self
                            .stack
                            .end_entered::<{ $width }, true>(depth, phase, meter, sinks(), panicked),
                        false => end_otherwise(&self.stack, depth, phase, meter, sinks(), panicked),
                    }
                }
            }};
        }
        match &set_stats.rows {
            Rows::Four(rows) => end!(rows, 4),
            Rows::Eight(rows) => end!(rows, 8),
            Rows::Sixteen(rows) => end!(rows, 16),
            Rows::TwentyFour(rows) => end!(rows, MAX_EVENTS),
        }
    }

    /// # Safety
    /// `open` must be of its own record, and entered at `depth`.
    unsafe fn begin_rotating(
        &self,
        depth: usize,
        phase: u32,
        rotating: &RotatingStats,
        open: &Open,
    ) -> Result<()> {
        let outermost = depth == 0;
        // SAFETY: `open` is entered; the reference is not used after `begin_entered`, which leaves it.
        let set_scheduler = unsafe { &mut *self.set_scheduler.as_ref().expect(OPENED).get() };
        let begun = match if outermost { set_scheduler.next(phase) } else { Ok(()) } {
            Ok(()) => {
                let (set, epoch) = (set_scheduler.set(), set_scheduler.epoch().number);
                let (meter, set_stats) =
                    (ptr::from_ref(set_scheduler.meter()), &rotating.each()[set]);
                // SAFETY: entered at that depth, and the record's `Open` is the stack's own.
                unsafe { begin_entered(&self.stack, depth, meter, phase, set_stats, open) }
                    .map(|()| rotating.begin_epoch(epoch, set))
            }
            Err(error) => {
                open.leave(depth);
                Err(error)
            }
        };
        if begun.is_err() && outermost {
            rotating.end_epoch();
        }
        begun
    }

    /// Calls `act` with the scheduler of the sets, if sets rotate. An error for a signal handler that has
    /// interrupted a call which uses it.
    ///
    /// # Safety
    /// `open` must be of its own record.
    #[inline]
    unsafe fn rotating<R>(
        &self,
        open: &Open,
        act: impl FnOnce(&mut SetScheduler) -> R,
    ) -> Option<Result<R>> {
        let set_scheduler = self.set_scheduler.as_ref()?;
        if open.is_busy() {
            return Some(Err(reentered("read the counters")));
        }
        let depth = open.depth();
        open.enter();
        // SAFETY: `open` is entered, and is left when the reference has ended.
        let result = act(unsafe { &mut *set_scheduler.get() });
        open.leave(depth);
        Some(Ok(result))
    }
}

const NO_LOG: Option<Log> = None;

const OPENED: &str = "threads of a session with rotating sets open a set scheduler";

/// Like [`Stack::end_entered`], out of line: most meters are plain.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn end_otherwise<const W: usize>(
    stack: &Stack,
    depth: usize,
    phase: u32,
    meter: *const Meter,
    sinks: Sinks<'_, W>,
    panicked: bool,
) -> Result<()> {
    // SAFETY: as the contract of this function.
    unsafe { stack.end_entered::<W, false>(depth, phase, meter, sinks, panicked) }
}

/// # Safety
/// As for [`Stack::begin_entered`].
#[inline(always)]
unsafe fn begin_entered(
    stack: &Stack,
    depth: usize,
    meter: *const Meter,
    phase: u32,
    set_stats: &SetStats,
    open: &Open,
) -> Result<()> {
    macro_rules! begin {
        ($width:expr) => {
            // SAFETY: as the contract of this function.
            unsafe {
                stack.begin_entered::<{ $width }, false>(depth, phase, meter, &set_stats.slot, open)
            }
        };
    }
    match &set_stats.rows {
        Rows::Four(_) => begin!(4),
        Rows::Eight(_) => begin!(8),
        Rows::Sixteen(_) => begin!(16),
        Rows::TwentyFour(_) => begin!(MAX_EVENTS),
    }
}
