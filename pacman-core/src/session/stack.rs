//! The phases that a thread has begun and not ended yet.

use std::cell::UnsafeCell;
use std::sync::atomic::Ordering;

use super::cells::Execution;
use super::frames::Frames;
use super::log::Log;
use super::meter::Meter;
use super::open::{DEEPEST, Open, reentered};
use super::rows::RowsOf;
use super::slot::Slot;
use crate::backend::Reading;
use crate::primitive::made;
use pacman_events::{Error, ErrorKind, Result};

/// Open phases, the innermost last. [`Open`] holds their number.
///
/// # Safety
/// A signal handler may begin and end phases of the thread that it has interrupted. So memory of the stack is
/// used only between [`Open::enter`] and [`Open::leave`]: meanwhile `Open` has a depth that no frame has, and
/// the handler's call changes nothing. This holds if all calls have the same `Open`, and if they are the calls
/// of one thread. Both are demanded of callers as "the stack's own `Open`".
pub(super) struct Stack {
    frames: Frames,
    now: UnsafeCell<Reading>,
}

/// The records that receive an execution of `W` columns.
pub(super) struct Sinks<'a, const W: usize> {
    pub(super) slot: &'a Slot,
    pub(super) rows: &'a RowsOf<W>,
    /// Not `Option<&Log>`: to make one takes instructions that the ending phase counts.
    pub(super) log: &'a Option<Log>,
    pub(super) open: &'a Open,
    /// The set of events that was counted.
    pub(super) set: u32,
}

impl Stack {
    pub(super) fn new() -> Result<Stack> {
        Ok(Stack { frames: Frames::new()?, now: UnsafeCell::new(Reading::EMPTY) })
    }

    // With `PLAIN` the meter must be plain; its kind is not checked.

    /// Begins a phase. Does nothing and returns `None` if the stack has no frame for it: too many are
    /// open, or the caller is a signal handler that has interrupted a begin or an end.
    ///
    /// # Safety
    /// `open` must be the stack's own.
    #[inline(always)]
    pub(super) unsafe fn begin<const W: usize, const PLAIN: bool>(
        &self,
        phase: u32,
        meter: &Meter,
        slot: &Slot,
        open: &Open,
    ) -> Option<Result<()>> {
        let depth = open.depth();
        if depth >= DEEPEST {
            return None;
        }
        open.enter();
        // SAFETY: entered at that depth.
        Some(unsafe { self.begin_entered::<W, PLAIN>(depth, phase, meter, slot, open) })
    }

    /// As [`begin`](Self::begin), where `open` was entered at `depth`; it is left in any case. The meter comes as a
    /// pointer, because a reference would last until after that.
    ///
    /// # Safety
    /// `open` must be the stack's own and entered, with a depth below [`DEEPEST`] before. The meter must be valid
    /// and not change while it is entered.
    #[inline(always)]
    pub(super) unsafe fn begin_entered<const W: usize, const PLAIN: bool>(
        &self,
        depth: usize,
        phase: u32,
        meter: *const Meter,
        slot: &Slot,
        open: &Open,
    ) -> Result<()> {
        // SAFETY: the caller keeps the depth below DEEPEST; `open` is entered, so nobody else uses the frame or
        // changes the meter.
        let (frame, meter) = unsafe { (self.frames.at(depth), &*meter) };
        // SAFETY: as above.
        unsafe { open.at(depth) }.store(phase, Ordering::Relaxed);
        let read = if PLAIN {
            meter.open_plain(&mut frame.reading, &mut frame.ticks)
        } else {
            meter.open(&mut frame.reading, &mut frame.ticks)
        };
        if let Err(error) = read {
            open.leave(depth);
            return Err(error);
        }
        slot.publish(frame.ticks, columns::<W>(&frame.reading));
        open.leave(depth + 1);
        Ok(())
    }

    /// Ends a phase. Does nothing and returns `None` if it is not the innermost one;
    /// [`refuse_end`](Self::refuse_end) gives the reason.
    ///
    /// # Safety
    /// `sinks.open` must be the stack's own.
    #[inline(always)]
    pub(super) unsafe fn end<const W: usize, const PLAIN: bool>(
        &self,
        phase: u32,
        meter: &Meter,
        sinks: Sinks<'_, W>,
        panicked: bool,
    ) -> Option<Result<()>> {
        let depth = innermost(sinks.open, phase)?;
        sinks.open.enter();
        // SAFETY: entered, with a frame of that depth.
        Some(unsafe { self.end_entered::<W, PLAIN>(depth, phase, meter, sinks, panicked) })
    }

    /// As [`end`](Self::end), where `sinks.open` was entered, and the phase is the one at `depth`; it is left in
    /// any case.
    ///
    /// # Safety
    /// `sinks.open` must be the stack's own and entered, and `depth` be [`innermost`] of it before. The meter as for
    /// [`begin_entered`](Self::begin_entered).
    #[inline(always)]
    pub(super) unsafe fn end_entered<const W: usize, const PLAIN: bool>(
        &self,
        depth: usize,
        phase: u32,
        meter: *const Meter,
        sinks: Sinks<'_, W>,
        panicked: bool,
    ) -> Result<()> {
        // SAFETY: as in `begin_entered`; the same holds for the reading.
        let (begun, now, meter) =
            unsafe { (&*self.frames.at(depth), &mut *self.now.get(), &*meter) };
        let mut ticks = 0;
        let read =
            if PLAIN { meter.close_plain(now, &mut ticks) } else { meter.close(now, &mut ticks) };
        if let Err(error) = read {
            // The phase is over, also where the read failed.
            sinks.open.leave(depth);
            return Err(error);
        }
        let now = &*now;
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
        Ok(())
    }
}

/// The depth of a phase, if it is the innermost one; `None` also for a signal handler that has interrupted a begin
/// or an end.
#[inline(always)]
pub(super) fn innermost(open: &Open, phase: u32) -> Option<usize> {
    // If no phase is open, the index wraps to one that no stack has. Without `made` the
    // compiler keeps both the index and the depth, which needs one register more.
    let depth = made(open.depth().wrapping_sub(1) as u64) as usize;
    if depth >= DEEPEST {
        return None;
    }
    // SAFETY: compared above.
    (unsafe { open.at(depth) }.load(Ordering::Relaxed) == phase).then_some(depth)
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

/// Explains why an end did not find its phase. The caller knows the names and completes the
/// line.
#[cold]
pub(super) fn refuse_end(open: &Open) -> Error {
    if open.is_busy() {
        return reentered("end a phase");
    }
    let why = match open.depth() {
        0 => "it was not begun",
        _ => "another phase was begun later and is still open",
    };
    Error::new(ErrorKind::PhaseOrder, why)
}

/// Why a begin found no frame.
#[cold]
pub(super) fn refuse_begin(open: &Open) -> Error {
    if open.is_busy() {
        return reentered("begin a phase");
    }
    Error::new(
        ErrorKind::PhaseOrder,
        format!(
            "cannot begin another phase on this thread: {DEEPEST} are open, and no thread has \
             more; end each phase that was begun"
        ),
    )
}
