//! The hot path: an attached thread begins and ends phases and reads its counters.

use crate::backend::{Counters, MAX_EVENTS, Reading};
use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::session::meter::Meter;

use super::rows::{Execution, Rows, RowsOf};
use super::thread::ThreadRecord;

/// Phases that may be open at once before the stack grows.
const DEPTH: usize = 16;

/// The part of an attachment that only its thread touches.
pub(super) struct Owner {
    meter: Meter,
    frames: Vec<Frame>,
    depth: usize,
    now: Reading,
}

/// A phase that was begun and not ended yet.
#[derive(Clone)]
struct Frame {
    phase: u32,
    ticks: u64,
    reading: Reading,
}

const UNUSED: Frame = Frame { phase: 0, ticks: 0, reading: Reading::EMPTY };

impl Owner {
    pub(super) fn new(counters: Box<dyn Counters>, clock: Clock) -> Owner {
        Owner {
            meter: Meter::new(counters, clock),
            frames: vec![UNUSED; DEPTH],
            depth: 0,
            now: Reading::EMPTY,
        }
    }

    /// Reads the counters.
    #[inline(always)]
    pub(super) fn read(&mut self, reading: &mut Reading) -> Result<()> {
        self.meter.read(reading)
    }

    /// Reads the counters and the clock; answers the ticks.
    #[inline]
    pub(super) fn sample(&mut self, reading: &mut Reading) -> Result<u64> {
        self.meter.open(reading)
    }

    /// Whether a phase is open.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// The innermost open phase.
    pub(super) fn innermost(&self) -> Option<u32> {
        Some(self.frames[..self.depth].last()?.phase)
    }

    #[inline]
    pub(super) fn begin(&mut self, phase: u32, record: &ThreadRecord) -> Result<()> {
        match &record.rows {
            Rows::Four(_) => self.begin_in::<4>(phase, record),
            Rows::Eight(_) => self.begin_in::<8>(phase, record),
            Rows::Sixteen(_) => self.begin_in::<MAX_EVENTS>(phase, record),
        }
    }

    #[inline]
    pub(super) fn end(&mut self, phase: u32, record: &ThreadRecord, panicked: bool) -> Result<()> {
        match &record.rows {
            Rows::Four(rows) => self.end_in(phase, record, rows, panicked),
            Rows::Eight(rows) => self.end_in(phase, record, rows, panicked),
            Rows::Sixteen(rows) => self.end_in(phase, record, rows, panicked),
        }
    }

    #[inline(always)]
    fn begin_in<const W: usize>(&mut self, phase: u32, record: &ThreadRecord) -> Result<()> {
        let Some(frame) = self.frames.get_mut(self.depth) else {
            return self.begin_deeper(phase, record);
        };
        frame.phase = phase;
        frame.ticks = self.meter.open(&mut frame.reading)?;
        record.slot.publish(frame.ticks, columns::<W>(&frame.reading));
        self.depth += 1;
        Ok(())
    }

    #[inline(always)]
    fn end_in<const W: usize>(
        &mut self,
        phase: u32,
        record: &ThreadRecord,
        rows: &RowsOf<W>,
        panicked: bool,
    ) -> Result<()> {
        // With nothing open the index wraps to one that no stack has.
        let depth = self.depth.wrapping_sub(1);
        let Some(frame) = self.frames.get(depth) else {
            return Err(not_begun());
        };
        if frame.phase != phase {
            return Err(not_innermost());
        }
        // Whatever the read says, the phase is over.
        self.depth = depth;
        let ticks = self.meter.close(&mut self.now)?;
        let multiplexed = self.meter.multiplexed();
        record.slot.publish(ticks, columns::<W>(&self.now));
        if depth > 0 && self.is_open_below(depth, phase) {
            rows.add_recursion(phase);
        } else {
            rows.add(
                phase,
                &Execution {
                    ticks: ticks.wrapping_sub(frame.ticks),
                    begin: columns(&frame.reading),
                    end: columns(&self.now),
                    times: multiplexed.then(|| self.now.times_since(&frame.reading)),
                    panicked,
                },
            );
        }
        if let Some(log) = &record.log {
            log.append(phase, frame.ticks..ticks, &frame.reading, &self.now);
        }
        Ok(())
    }

    /// Whether the phase is open further out already. Written as a plain loop: the
    /// usual depth is one or two, and an unrolled search costs more to set up.
    #[inline(always)]
    fn is_open_below(&self, depth: usize, phase: u32) -> bool {
        let mut depth = depth;
        while let Some(outer) = depth.checked_sub(1).and_then(|below| self.frames.get(below)) {
            if outer.phase == phase {
                return true;
            }
            depth -= 1;
        }
        false
    }

    #[cold]
    fn begin_deeper(&mut self, phase: u32, record: &ThreadRecord) -> Result<()> {
        self.frames.resize(self.frames.len() * 2, UNUSED);
        self.begin(phase, record)
    }
}

/// The first `W` counts of a reading; those beyond the session's events are zero.
#[inline(always)]
fn columns<const W: usize>(reading: &Reading) -> &[u64; W] {
    reading.counts.first_chunk().expect("W is at most MAX_EVENTS")
}

// The caller knows the names and completes the line.

#[cold]
fn not_begun() -> Error {
    Error::new(ErrorKind::PhaseOrder, "it was not begun")
}

#[cold]
fn not_innermost() -> Error {
    Error::new(ErrorKind::PhaseOrder, "another phase was begun later and is still open")
}
