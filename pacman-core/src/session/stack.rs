//! The phases that a thread has begun and not ended yet.

use super::log::Log;
use super::meter::Meter;
use super::rows::{Execution, RowsOf};
use super::slot::Slot;
use crate::backend::Reading;
use crate::error::{Error, ErrorKind, Result};

/// Phases that may be open at once before the stack grows.
const DEPTH: usize = 16;

/// Open phases, the innermost last.
pub(super) struct Stack {
    frames: Vec<Frame>,
    depth: usize,
    now: Reading,
}

#[derive(Clone)]
struct Frame {
    phase: u32,
    ticks: u64,
    reading: Reading,
}

const UNUSED: Frame = Frame { phase: 0, ticks: 0, reading: Reading::EMPTY };

/// Where an execution of `W` columns is written down.
pub(super) struct Books<'a, const W: usize> {
    pub(super) slot: &'a Slot,
    pub(super) rows: &'a RowsOf<W>,
    pub(super) log: &'a Option<Log>,
    /// The set of events that was counted.
    pub(super) set: u32,
}

impl Stack {
    pub(super) fn new() -> Stack {
        Stack { frames: vec![UNUSED; DEPTH], depth: 0, now: Reading::EMPTY }
    }

    #[inline(always)]
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// The innermost open phase.
    pub(super) fn innermost(&self) -> Option<u32> {
        Some(self.frames[..self.depth].last()?.phase)
    }

    #[inline(always)]
    pub(super) fn begin<const W: usize>(
        &mut self,
        phase: u32,
        meter: &mut Meter,
        slot: &Slot,
    ) -> Result<()> {
        let Some(frame) = self.frames.get_mut(self.depth) else {
            return self.begin_deeper::<W>(phase, meter, slot);
        };
        frame.phase = phase;
        meter.open(&mut frame.reading, &mut frame.ticks)?;
        slot.publish(frame.ticks, columns::<W>(&frame.reading));
        self.depth += 1;
        Ok(())
    }

    #[inline(always)]
    pub(super) fn end<const W: usize>(
        &mut self,
        phase: u32,
        meter: &mut Meter,
        books: Books<'_, W>,
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
        let mut ticks = 0;
        meter.close(&mut self.now, &mut ticks)?;
        let multiplexed = meter.multiplexed();
        books.slot.publish(ticks, columns::<W>(&self.now));
        if depth > 0 && self.is_open_below(depth, phase) {
            books.rows.add_recursion(phase);
        } else {
            books.rows.add(
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
        if let Some(log) = books.log {
            log.append(phase, books.set, frame.ticks..ticks, &frame.reading, &self.now);
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
    fn begin_deeper<const W: usize>(
        &mut self,
        phase: u32,
        meter: &mut Meter,
        slot: &Slot,
    ) -> Result<()> {
        self.frames.resize(self.frames.len() * 2, UNUSED);
        self.begin::<W>(phase, meter, slot)
    }
}

/// The first `W` counts of a reading; those beyond the set's events mean nothing, they
/// may be left of another set.
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
