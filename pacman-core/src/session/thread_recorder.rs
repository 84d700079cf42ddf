//! The hot path: an attached thread begins and ends phases and reads its counters.

use std::sync::Arc;

use super::meter::Meter;
use super::open::{Open, reentered};
use super::rotation::{ByPlace, Epoch, RotatingStats, SetScheduler, SetStats, Sets, no_such_set};
use super::rows::{Rows, RowsOf};
use super::sample::Sample;
use super::slot::Slot;
use super::stack::{Sinks, Stack, too_deep};
use super::thread::{Counted, ThreadRecord};
use crate::backend::{Caps, Counters, EventSums, MAX_EVENTS, Reading, Target};
use crate::clock::Clock;
use crate::error::Result;

/// The records of a thread with a [fast path](ThreadRecorder::has_fast_path).
#[derive(Clone, Copy)]
pub(super) struct FastPath<'a> {
    pub(super) slot: &'a Slot,
    pub(super) rows: &'a RowsOf<4>,
    pub(super) open: &'a Open,
}

/// The part of an attachment that only its thread touches.
pub(super) struct ThreadRecorder {
    /// The meter of the only set. With rotating sets it refuses, so that the hot path needs no
    /// check.
    meter: Meter,
    stack: Stack,
    set_scheduler: Option<Box<SetScheduler>>,
}

impl ThreadRecorder {
    /// Opens the counters of `target`.
    pub(super) fn open(sets: &Arc<Sets>, target: Target, clock: Clock) -> Result<ThreadRecorder> {
        let stack = Stack::new()?;
        let (counters, set_scheduler): (Box<dyn Counters>, _) = if sets.len() == 1 {
            (sets.backend(0).open(target)?, None)
        } else {
            let set_scheduler = Box::new(SetScheduler::open(sets, target, clock)?);
            (Box::new(ByPlace { caps: set_scheduler.caps() }), Some(set_scheduler))
        };
        Ok(ThreadRecorder { meter: Meter::new(counters, clock), stack, set_scheduler })
    }

    /// Checks that the current counters belonged to the thread all the time.
    pub(super) fn verify(&mut self) -> Result<()> {
        match &mut self.set_scheduler {
            Some(set_scheduler) => set_scheduler.meter().verify(),
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
            set_scheduler.number(thread);
        }
    }

    /// Reads the counters.
    #[inline(always)]
    pub(super) fn read(&mut self, reading: &mut Reading) -> Result<()> {
        self.meter.read(reading)
    }

    /// Reads the counters, and adds to `sums` what counted since `begun`.
    #[inline(always)]
    pub(super) fn add_since(&mut self, begun: &Reading, sums: &EventSums) -> Result<()> {
        self.meter.add_since(begun, sums)
    }

    /// Puts a set on the counters.
    pub(super) fn put_set_on(&mut self, set: usize) -> Result<()> {
        match &mut self.set_scheduler {
            Some(set_scheduler) => set_scheduler.put_on(set),
            None if set == 0 => Ok(()),
            None => Err(no_such_set(set, 1)),
        }
    }

    /// Reads the counters of the set which is on them.
    #[inline]
    pub(super) fn read_set(&mut self, reading: &mut Reading) -> Result<()> {
        self.set_meter().read(reading)
    }

    /// As [`add_since`](Self::add_since), for the set which is on the counters.
    #[inline]
    pub(super) fn add_set_since(&mut self, begun: &Reading, sums: &EventSums) -> Result<()> {
        self.set_meter().add_since(begun, sums)
    }

    #[inline]
    fn set_meter(&mut self) -> &mut Meter {
        match &mut self.set_scheduler {
            Some(set_scheduler) => set_scheduler.meter(),
            None => &mut self.meter,
        }
    }

    /// Reads the counters and the clock.
    #[inline]
    pub(super) fn sample(&mut self, sample: &mut Sample) -> Result<()> {
        if self.set_scheduler.is_some() {
            return self.sample_rotating(sample);
        }
        sample.epoch = Epoch::ONLY;
        self.meter.open(&mut sample.reading, &mut sample.ticks)
    }

    #[inline(never)]
    fn sample_rotating(&mut self, sample: &mut Sample) -> Result<()> {
        let set_scheduler = self.set_scheduler();
        sample.epoch = set_scheduler.epoch();
        set_scheduler.meter().open(&mut sample.reading, &mut sample.ticks)
    }

    /// Reads the counters and publishes the sample to other threads.
    pub(super) fn publish(&mut self, record: &ThreadRecord) -> Result<()> {
        let mut sample = Sample::EMPTY;
        self.sample(&mut sample)?;
        match &record.counted {
            Counted::AtOnce(set_stats) => {
                set_stats.slot.publish(sample.ticks, &sample.reading.counts)
            }
            Counted::Rotating(rotating) => {
                let set = self.set_scheduler().set();
                rotating.each()[set].slot.publish(sample.ticks, &sample.reading.counts);
                rotating.begin_epoch(sample.epoch.number, set);
            }
        }
        Ok(())
    }

    /// Begins a phase on the fast path. Does nothing and returns `None` if [`begin`](Self::begin)
    /// is needed.
    #[inline(always)]
    pub(super) fn begin_fast(&mut self, phase: u32, path: FastPath<'_>) -> Option<Result<()>> {
        self.stack.begin::<4, true>(phase, &mut self.meter, path.slot, path.open)
    }

    /// Ends a phase on the fast path. Does nothing and returns `None` if [`end`](Self::end) is
    /// needed.
    #[inline(always)]
    pub(super) fn end_fast(&mut self, phase: u32, path: FastPath<'_>) -> Option<Result<()>> {
        let FastPath { slot, rows, open } = path;
        let sinks = Sinks { slot, rows, log: None, open, set: 0 };
        self.stack.end::<4, true>(phase, &mut self.meter, sinks, false)
    }

    /// Begins a phase.
    pub(super) fn begin(&mut self, phase: u32, record: &ThreadRecord) -> Result<()> {
        if record.open.is_busy() {
            return Err(reentered("begin"));
        }
        match &record.counted {
            Counted::AtOnce(set_stats) => {
                begin(&mut self.stack, &mut self.meter, phase, set_stats, &record.open)
            }
            Counted::Rotating(rotating) => self.begin_rotating(phase, rotating, &record.open),
        }
    }

    /// Ends a phase.
    pub(super) fn end(&mut self, phase: u32, record: &ThreadRecord, panicked: bool) -> Result<()> {
        if record.open.is_busy() {
            return Err(reentered("end"));
        }
        let ((stack, meter), set_stats, set) = match &record.counted {
            Counted::AtOnce(set_stats) => ((&mut self.stack, &mut self.meter), set_stats, 0),
            Counted::Rotating(rotating) => {
                let set_scheduler = self.set_scheduler.as_mut().expect(OPENED);
                let set = set_scheduler.set();
                ((&mut self.stack, set_scheduler.meter()), &rotating.each()[set], set as u32)
            }
        };
        let (slot, log, open) = (&set_stats.slot, record.log.as_ref(), &record.open);
        // Rust 1.85 cannot infer the width beside an explicit constant.
        macro_rules! end {
            ($rows:expr, $width:expr) => {{
                let sinks = Sinks { slot, rows: $rows, log, open, set };
                match meter.is_plain() {
                    true => stack.end::<{ $width }, true>(phase, meter, sinks, panicked),
                    false => end_otherwise(stack, phase, meter, sinks, panicked),
                }
            }};
        }
        let ended = match &set_stats.rows {
            Rows::Four(rows) => end!(rows, 4),
            Rows::Eight(rows) => end!(rows, 8),
            Rows::Sixteen(rows) => end!(rows, 16),
            Rows::TwentyFour(rows) => end!(rows, MAX_EVENTS),
        };
        ended.unwrap_or_else(|| Err(stack.refuse_end(open)))
    }

    fn begin_rotating(&mut self, phase: u32, rotating: &RotatingStats, open: &Open) -> Result<()> {
        let outermost = open.depth() == 0;
        let set_scheduler = self.set_scheduler.as_mut().expect(OPENED);
        let mut act = || {
            if outermost {
                open.enter();
                let changed = set_scheduler.next(phase);
                open.leave(0);
                changed?;
            }
            let set = set_scheduler.set();
            begin(&mut self.stack, set_scheduler.meter(), phase, &rotating.each()[set], open)
        };
        let begun = act();
        match &begun {
            Ok(()) => rotating.begin_epoch(set_scheduler.epoch().number, set_scheduler.set()),
            Err(_) if outermost => rotating.end_epoch(),
            Err(_) => {}
        }
        begun
    }

    fn set_scheduler(&mut self) -> &mut SetScheduler {
        self.set_scheduler.as_mut().expect(OPENED)
    }
}

const OPENED: &str = "threads of a session with rotating sets open a set scheduler";

/// Like [`Stack::end`], out of line: most meters are plain.
#[inline(never)]
fn end_otherwise<const W: usize>(
    stack: &mut Stack,
    phase: u32,
    meter: &mut Meter,
    sinks: Sinks<'_, W>,
    panicked: bool,
) -> Option<Result<()>> {
    stack.end::<W, false>(phase, meter, sinks, panicked)
}

#[inline(always)]
fn begin(
    stack: &mut Stack,
    meter: &mut Meter,
    phase: u32,
    set_stats: &SetStats,
    open: &Open,
) -> Result<()> {
    let slot = &set_stats.slot;
    let begun = match &set_stats.rows {
        Rows::Four(_) => stack.begin::<4, false>(phase, meter, slot, open),
        Rows::Eight(_) => stack.begin::<8, false>(phase, meter, slot, open),
        Rows::Sixteen(_) => stack.begin::<16, false>(phase, meter, slot, open),
        Rows::TwentyFour(_) => stack.begin::<MAX_EVENTS, false>(phase, meter, slot, open),
    };
    begun.unwrap_or_else(|| Err(too_deep()))
}
