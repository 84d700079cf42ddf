//! The phases that a thread has begun and not ended yet.

use std::sync::atomic::Ordering;

use super::cells::Execution;
use super::log::Log;
use super::meter::Meter;
use super::open::{DEEPEST, Open, reentered};
use super::rows::RowsOf;
use super::slot::Slot;
use crate::backend::Reading;
use crate::clock;
use crate::error::{Error, ErrorKind, Result};

/// Phases that may be open at once before the stack grows.
const DEPTH: usize = 16;

/// Open phases, the innermost last; how many they are, [`Open`] has.
pub(super) struct Stack {
    frames: Vec<Frame>,
    now: Reading,
}

#[derive(Clone)]
struct Frame {
    ticks: u64,
    reading: Reading,
}

const UNUSED: Frame = Frame { ticks: 0, reading: Reading::EMPTY };

/// Where an execution of `W` columns is written down.
pub(super) struct Books<'a, const W: usize> {
    pub(super) slot: &'a Slot,
    pub(super) rows: &'a RowsOf<W>,
    pub(super) log: &'a Option<Log>,
    pub(super) open: &'a Open,
    /// The set of events that was counted.
    pub(super) set: u32,
}

impl Stack {
    pub(super) fn new() -> Stack {
        Stack { frames: vec![UNUSED; DEPTH], now: Reading::EMPTY }
    }

    // A handler that interrupts either of these finds a depth at which there is no frame: that
    // nothing is checked twice, and that it is refused, is one and the same look.
    #[inline(always)]
    pub(super) fn begin<const W: usize>(
        &mut self,
        phase: u32,
        meter: &mut Meter,
        slot: &Slot,
        open: &Open,
    ) -> Result<()> {
        let depth = open.depth();
        let Some(frame) = self.frames.get_mut(depth) else {
            return self.begin_deeper::<W>(phase, meter, slot, open);
        };
        open.enter();
        // SAFETY: there is a frame of that depth, and there are never more than DEEPEST.
        unsafe { open.at(depth) }.store(phase, Ordering::Relaxed);
        if let Err(error) = meter.open(&mut frame.reading, &mut frame.ticks) {
            open.leave(depth);
            return Err(error);
        }
        slot.publish(frame.ticks, columns::<W>(&frame.reading));
        open.leave(depth + 1);
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
        let depth = books.open.depth().wrapping_sub(1);
        let Some(frame) = self.frames.get(depth) else {
            return Err(if books.open.is_busy() { reentered("end") } else { not_begun() });
        };
        // SAFETY: as in `begin`.
        if unsafe { books.open.at(depth) }.load(Ordering::Relaxed) != phase {
            return Err(not_innermost());
        }
        books.open.enter();
        if !meter.is_plain() {
            let Books { slot, rows, log, open, set } = books;
            return self.end_otherwise(
                phase,
                depth,
                meter,
                (slot, rows),
                (log, set),
                open,
                panicked,
            );
        }
        let ticks = clock::tsc();
        if let Err(error) = meter.read(&mut self.now) {
            // Whatever the read says, the phase is over.
            books.open.leave(depth);
            return Err(error);
        }
        let (begun, now) = (frame, &self.now);
        let execution = Execution {
            ticks: begun.ticks..ticks,
            begin: columns(&begun.reading),
            end: columns(now),
            times: None,
            panicked,
        };
        books.slot.publish(ticks, columns::<W>(now));
        if depth > 0 && is_open_below(books.open, depth, phase) {
            books.rows.add_recursion(phase);
        } else {
            books.rows.add(phase, execution);
        }
        if let Some(log) = books.log {
            log.append(phase, books.set, begun.ticks..ticks, &begun.reading, now);
        }
        books.open.leave(depth);
        Ok(())
    }

    /// As the rest of [`end`](Self::end), where the time is the system's or the counters may be off.
    // In pieces: whole books would be made in memory by the usual end, too.
    #[allow(clippy::too_many_arguments)]
    #[inline(never)]
    fn end_otherwise<const W: usize>(
        &mut self,
        phase: u32,
        depth: usize,
        meter: &mut Meter,
        (slot, rows): (&Slot, &RowsOf<W>),
        (log, set): (&Option<Log>, u32),
        open: &Open,
        panicked: bool,
    ) -> Result<()> {
        let mut ticks = 0;
        let read = meter.close(&mut self.now, &mut ticks);
        if read.is_ok() {
            let (begun, now) = (&self.frames[depth], &self.now);
            slot.publish(ticks, columns::<W>(now));
            if depth > 0 && is_open_below(open, depth, phase) {
                rows.add_recursion(phase);
            } else {
                let times = meter.multiplexed().then(|| now.times_since(&begun.reading));
                let (begin, end) = (columns(&begun.reading), columns(now));
                let ticks = begun.ticks..ticks;
                rows.add(phase, Execution { ticks, begin, end, times, panicked });
            }
            if let Some(log) = log {
                log.append(phase, set, begun.ticks..ticks, &begun.reading, now);
            }
        }
        open.leave(depth);
        read
    }

    #[cold]
    fn begin_deeper<const W: usize>(
        &mut self,
        phase: u32,
        meter: &mut Meter,
        slot: &Slot,
        open: &Open,
    ) -> Result<()> {
        if open.is_busy() {
            return Err(reentered("begin"));
        }
        if self.frames.len() == DEEPEST {
            return Err(too_deep());
        }
        self.frames.resize(self.frames.len() * 2, UNUSED);
        self.begin::<W>(phase, meter, slot, open)
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

/// The first `W` counts of a reading; those beyond the set's events mean nothing, they
/// may be left of another set.
#[inline(always)]
fn columns<const W: usize>(reading: &Reading) -> &[u64; W] {
    reading.counts.first_chunk().expect("W is at most MAX_EVENTS")
}

#[cold]
fn too_deep() -> Error {
    Error::new(
        ErrorKind::PhaseOrder,
        format!(
            "cannot begin another phase on this thread: {DEEPEST} are open, and no thread has \
             more; end each phase that was begun"
        ),
    )
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
