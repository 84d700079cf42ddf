//! The hot path: an attached thread begins and ends phases and reads its counters.

use std::sync::Arc;

use super::meter::Meter;
use super::open::{Open, reentered};
use super::rows::Rows;
use super::sample::Sample;
use super::stack::{Books, Stack};
use super::thread::{Counted, ThreadRecord};
use super::turns::{ByPlace, Rota, Sets, Tallies, Tally, Turn};
use crate::backend::{Caps, Counters, EventSums, MAX_EVENTS, Reading, Target};
use crate::clock::Clock;
use crate::error::Result;

/// The part of an attachment that only its thread touches.
pub(super) struct Owner {
    /// Of the only set; refuses where sets take turns, so that nothing need be asked.
    meter: Meter,
    stack: Stack,
    rota: Option<Box<Rota>>,
}

impl Owner {
    /// Opens the counters of `target`.
    pub(super) fn open(sets: &Arc<Sets>, target: Target, clock: Clock) -> Result<Owner> {
        let (counters, rota): (Box<dyn Counters>, _) = if sets.len() == 1 {
            (sets.backend(0).open(target)?, None)
        } else {
            let rota = Box::new(Rota::open(sets, target, clock)?);
            (Box::new(ByPlace { caps: rota.caps() }), Some(rota))
        };
        Ok(Owner { meter: Meter::new(counters, clock), stack: Stack::new(), rota })
    }

    /// Whether the counters that are on now were the thread's own all the time.
    pub(super) fn verify(&mut self) -> Result<()> {
        match &mut self.rota {
            Some(rota) => rota.meter().verify(),
            None => self.meter.verify(),
        }
    }

    /// What the counters can do.
    pub(super) fn caps(&self) -> Caps {
        self.meter.caps()
    }

    /// Learns the thread's number in the session.
    pub(super) fn number(&mut self, thread: usize) {
        if let Some(rota) = &mut self.rota {
            rota.number(thread);
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

    /// Reads the counters and the clock.
    #[inline]
    pub(super) fn sample(&mut self, sample: &mut Sample) -> Result<()> {
        if self.rota.is_some() {
            return self.sample_in_turns(sample);
        }
        sample.turn = Turn::ONLY;
        self.meter.open(&mut sample.reading, &mut sample.ticks)
    }

    #[inline(never)]
    fn sample_in_turns(&mut self, sample: &mut Sample) -> Result<()> {
        let rota = self.rota();
        sample.turn = rota.turn();
        rota.meter().open(&mut sample.reading, &mut sample.ticks)
    }

    /// Reads, and shows what was read to other threads.
    pub(super) fn publish(&mut self, record: &ThreadRecord) -> Result<()> {
        let mut sample = Sample::EMPTY;
        self.sample(&mut sample)?;
        match &record.counted {
            Counted::AtOnce(tally) => tally.slot.publish(sample.ticks, &sample.reading.counts),
            Counted::InTurns(tallies) => {
                let set = self.rota().set();
                tallies.each()[set].slot.publish(sample.ticks, &sample.reading.counts);
                tallies.turn_to(sample.turn.number, set);
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn begin(&mut self, phase: u32, record: &ThreadRecord) -> Result<()> {
        // Up to four events are what most sessions count, and where the reads are so
        // cheap that the code around them shows: these are inlined, alone.
        match &record.counted {
            Counted::AtOnce(Tally { slot, rows: Rows::Four(_) }) => {
                self.stack.begin::<4>(phase, &mut self.meter, slot, &record.open)
            }
            _ => self.begin_wider(phase, record),
        }
    }

    #[inline]
    pub(super) fn end(&mut self, phase: u32, record: &ThreadRecord, panicked: bool) -> Result<()> {
        match &record.counted {
            Counted::AtOnce(Tally { slot, rows: Rows::Four(rows) }) => {
                let books = Books { slot, rows, log: &record.log, open: &record.open, set: 0 };
                self.stack.end(phase, &mut self.meter, books, panicked)
            }
            _ => self.end_wider(phase, record, panicked),
        }
    }

    #[inline(never)]
    fn begin_wider(&mut self, phase: u32, record: &ThreadRecord) -> Result<()> {
        match &record.counted {
            Counted::AtOnce(tally) => {
                begin(&mut self.stack, &mut self.meter, phase, tally, &record.open)
            }
            Counted::InTurns(tallies) => self.begin_in_turns(phase, tallies, &record.open),
        }
    }

    #[inline(never)]
    fn end_wider(&mut self, phase: u32, record: &ThreadRecord, panicked: bool) -> Result<()> {
        let ((stack, meter), tally, set) = match &record.counted {
            Counted::AtOnce(tally) => ((&mut self.stack, &mut self.meter), tally, 0),
            Counted::InTurns(tallies) => {
                let rota = self.rota.as_mut().expect(OPENED);
                let set = rota.set();
                ((&mut self.stack, rota.meter()), &tallies.each()[set], set as u32)
            }
        };
        let (slot, log, open) = (&tally.slot, &record.log, &record.open);
        macro_rules! end {
            ($rows:expr) => {
                stack.end(phase, meter, Books { slot, rows: $rows, log, open, set }, panicked)
            };
        }
        match &tally.rows {
            Rows::Four(rows) => end!(rows),
            Rows::Eight(rows) => end!(rows),
            Rows::Sixteen(rows) => end!(rows),
            Rows::TwentyFour(rows) => end!(rows),
        }
    }

    fn begin_in_turns(&mut self, phase: u32, tallies: &Tallies, open: &Open) -> Result<()> {
        if open.is_busy() {
            return Err(reentered("begin"));
        }
        let outermost = open.depth() == 0;
        let rota = self.rota.as_mut().expect(OPENED);
        let mut act = || {
            if outermost {
                open.enter();
                let changed = rota.next(phase);
                open.leave(0);
                changed?;
            }
            let set = rota.set();
            begin(&mut self.stack, rota.meter(), phase, &tallies.each()[set], open)
        };
        let begun = act();
        match &begun {
            Ok(()) => tallies.turn_to(rota.turn().number, rota.set()),
            Err(_) if outermost => tallies.nobodys_turn(),
            Err(_) => {}
        }
        begun
    }

    fn rota(&mut self) -> &mut Rota {
        self.rota.as_mut().expect(OPENED)
    }
}

const OPENED: &str = "threads of a session in turns open a rota";

#[inline(always)]
fn begin(
    stack: &mut Stack,
    meter: &mut Meter,
    phase: u32,
    tally: &Tally,
    open: &Open,
) -> Result<()> {
    match &tally.rows {
        Rows::Four(_) => stack.begin::<4>(phase, meter, &tally.slot, open),
        Rows::Eight(_) => stack.begin::<8>(phase, meter, &tally.slot, open),
        Rows::Sixteen(_) => stack.begin::<16>(phase, meter, &tally.slot, open),
        Rows::TwentyFour(_) => stack.begin::<MAX_EVENTS>(phase, meter, &tally.slot, open),
    }
}
