//! The phases that a thread has begun and not ended yet.

use std::sync::atomic::Ordering;

use super::cells::Execution;
use super::frames::Frames;
use super::log::Log;
use super::meter::Meter;
use super::open::{DEEPEST, Open};
use super::rows::RowsOf;
use super::slot::Slot;
use crate::backend::Reading;
use crate::error::{Error, ErrorKind, Result};
use crate::primitive::made;

/// Open phases, the innermost last. [`Open`] holds their number.
pub(super) struct Stack {
    frames: Frames,
    now: Reading,
}

/// The records that receive an execution of `W` columns.
pub(super) struct Sinks<'a, const W: usize> {
    pub(super) slot: &'a Slot,
    pub(super) rows: &'a RowsOf<W>,
    pub(super) log: Option<&'a Log>,
    pub(super) open: &'a Open,
    /// The set of events that was counted.
    pub(super) set: u32,
}

impl Stack {
    pub(super) fn new() -> Result<Stack> {
        Ok(Stack { frames: Frames::new()?, now: Reading::EMPTY })
    }

    // A signal handler that interrupts `begin` or `end` may find a depth without a frame. Both
    // check for that anyway. With `PLAIN` the meter must be plain; its kind is not checked.

    /// Begins a phase. Does nothing and returns `None` if the stack has no frame for it: too many are
    /// open.
    #[inline(always)]
    pub(super) fn begin<const W: usize, const PLAIN: bool>(
        &mut self,
        phase: u32,
        meter: &mut Meter,
        slot: &Slot,
        open: &Open,
    ) -> Option<Result<()>> {
        let depth = open.depth();
        let frame = self.frames.at(depth)?;
        open.enter();
        // SAFETY: there is a frame of that depth, and there are never more than DEEPEST.
        unsafe { open.at(depth) }.store(phase, Ordering::Relaxed);
        let read = if PLAIN {
            meter.open_plain(&mut frame.reading, &mut frame.ticks)
        } else {
            meter.open(&mut frame.reading, &mut frame.ticks)
        };
        if let Err(error) = read {
            open.leave(depth);
            return Some(Err(error));
        }
        slot.publish(frame.ticks, columns::<W>(&frame.reading));
        open.leave(depth + 1);
        Some(Ok(()))
    }

    /// Ends a phase. Does nothing and returns `None` if it is not the innermost one;
    /// [`refuse_end`](Self::refuse_end) gives the reason.
    #[inline(always)]
    pub(super) fn end<const W: usize, const PLAIN: bool>(
        &mut self,
        phase: u32,
        meter: &mut Meter,
        sinks: Sinks<'_, W>,
        panicked: bool,
    ) -> Option<Result<()>> {
        // If no phase is open, the index wraps to one that no stack has. Without `made` the
        // compiler keeps both the index and the depth, which needs one register more.
        let depth = made(sinks.open.depth().wrapping_sub(1) as u64) as usize;
        let begun = self.frames.at(depth)?;
        // SAFETY: as in `begin`.
        if unsafe { sinks.open.at(depth) }.load(Ordering::Relaxed) != phase {
            return None;
        }
        sinks.open.enter();
        let mut ticks = 0;
        let read = if PLAIN {
            meter.close_plain(&mut self.now, &mut ticks)
        } else {
            meter.close(&mut self.now, &mut ticks)
        };
        if let Err(error) = read {
            // The phase is over, also where the read failed.
            sinks.open.leave(depth);
            return Some(Err(error));
        }
        let now = &self.now;
        sinks.slot.publish(ticks, columns::<W>(now));
        if is_open_below(sinks.open, depth, phase) {
            sinks.rows.add_recursion(phase);
        } else {
            let multiplexed = !PLAIN && meter.multiplexed();
            let execution = Execution {
                ticks: begun.ticks..ticks,
                begin: columns(&begun.reading),
                end: columns(now),
                times: multiplexed.then(|| now.times_since(&begun.reading)),
                panicked,
            };
            sinks.rows.add(phase, execution);
        }
        if let Some(log) = sinks.log {
            log.append(phase, sinks.set, begun.ticks..ticks, &begun.reading, now);
        }
        sinks.open.leave(depth);
        Some(Ok(()))
    }

    /// Explains why `end` did not find its phase. The caller knows the names and completes the
    /// line.
    #[cold]
    pub(super) fn refuse_end(&self, open: &Open) -> Error {
        let why = match open.depth() {
            0 => "it was not begun",
            _ => "another phase was begun later and is still open",
        };
        Error::new(ErrorKind::PhaseOrder, why)
    }
}

/// Whether the phase is open further out already. Written as a plain loop: the usual depth is one
/// or two, and an unrolled search costs more to set up.
#[inline(always)]
fn is_open_below(open: &Open, depth: usize, phase: u32) -> bool {
    let mut depth = depth;
    while depth > 0 {
        depth -= 1;
        // SAFETY: a depth below one that has a frame.
        if unsafe { open.at(depth) }.load(Ordering::Relaxed) == phase {
            return true;
        }
    }
    false
}

/// The first `W` counts of a reading. Counts beyond the set's events have no meaning: they may be
/// left over from another set.
#[inline(always)]
fn columns<const W: usize>(reading: &Reading) -> &[u64; W] {
    reading.counts.first_chunk().expect("W is at most MAX_EVENTS")
}

/// Why a begin found no frame.
#[cold]
pub(super) fn too_deep() -> Error {
    Error::new(
        ErrorKind::PhaseOrder,
        format!(
            "cannot begin another phase on this thread: {DEEPEST} are open, and no thread has \
             more; end each phase that was begun"
        ),
    )
}
