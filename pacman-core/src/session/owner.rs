//! The hot path: an attached thread begins and ends phases and reads its counters.

use crate::backend::{Counters, Reading};
use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};

use super::rows::Execution;
use super::thread::ThreadRecord;

/// Phases that may be open at once before the stack grows.
const DEPTH: usize = 16;

/// The part of an attachment that only its thread touches.
pub(super) struct Owner {
    counters: Box<dyn Counters>,
    clock: Clock,
    events: usize,
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
    pub(super) fn new(counters: Box<dyn Counters>, clock: Clock, events: usize) -> Owner {
        Owner {
            counters,
            clock,
            events,
            frames: vec![UNUSED; DEPTH],
            depth: 0,
            now: Reading::EMPTY,
        }
    }

    /// Reads the counters, then the clock.
    #[inline]
    pub(super) fn read(&mut self, reading: &mut Reading) -> Result<u64> {
        self.counters.read(reading)?;
        Ok(self.clock.now())
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
        if self.depth == self.frames.len() {
            self.grow();
        }
        let frame = &mut self.frames[self.depth];
        frame.phase = phase;
        self.counters.read(&mut frame.reading)?;
        // The clock last, and first at the end: time holds neither of the reads.
        frame.ticks = self.clock.now();
        record.slot.publish(frame.ticks, &frame.reading.counts[..self.events]);
        self.depth += 1;
        Ok(())
    }

    #[inline]
    pub(super) fn end(&mut self, phase: u32, record: &ThreadRecord, panicked: bool) -> Result<()> {
        let ticks = self.clock.now();
        let Some((frame, outer)) = self.frames[..self.depth].split_last() else {
            return Err(not_begun());
        };
        if frame.phase != phase {
            return Err(not_innermost());
        }
        // Whatever the read says, the phase is over.
        self.depth -= 1;
        self.counters.read(&mut self.now)?;
        let mut counts = [0u64; crate::backend::MAX_EVENTS];
        let counts = &mut counts[..self.events];
        let ends = &self.now.counts[..self.events];
        let begins = &frame.reading.counts[..self.events];
        for ((count, end), begin) in counts.iter_mut().zip(ends).zip(begins) {
            *count = end.wrapping_sub(*begin);
        }
        record.slot.publish(ticks, ends);
        if outer.iter().any(|other| other.phase == phase) {
            record.rows.add_recursion(phase);
        } else {
            record.rows.add(
                phase,
                &Execution {
                    ticks: ticks.wrapping_sub(frame.ticks),
                    counts,
                    enabled: self.now.enabled.wrapping_sub(frame.reading.enabled),
                    running: self.now.running.wrapping_sub(frame.reading.running),
                    panicked,
                },
            );
        }
        if let Some(log) = &record.log {
            log.append(phase, frame.ticks, ticks, counts);
        }
        Ok(())
    }

    #[cold]
    fn grow(&mut self) {
        self.frames.resize(self.frames.len() * 2, UNUSED);
    }
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
