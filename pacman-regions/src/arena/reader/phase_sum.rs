//! The sum of the rows of one phase and thread number.

use std::mem::offset_of;

use super::records::word;
use super::sums::RowSum;
use crate::PhaseStates;
use crate::arena::phase_row::PhaseRow;

/// The executions of a phase on the threads of one number.
#[derive(Default)]
pub(super) struct PhaseSum {
    /// The executions that began, and those that ended.
    pub(super) begun: u64,
    pub(super) ended: RowSum,
    /// See [`PhaseRow`].
    waited: u64,
    clocked: u64,
    on_processor: u64,
    waits_clocked: u64,
    waits_on_processor: u64,
    clock_lost: u64,
}

impl PhaseSum {
    /// Adds the row of another thread, whose executions are in `row`; `None` if that is too short.
    pub(super) fn add(&mut self, record: &[u64], row: &[u64]) -> Option<()> {
        for (sum, offset) in [
            (&mut self.begun, offset_of!(PhaseRow, begun)),
            (&mut self.waited, offset_of!(PhaseRow, waited)),
            (&mut self.clocked, offset_of!(PhaseRow, clocked)),
            (&mut self.on_processor, offset_of!(PhaseRow, on_processor)),
            (&mut self.waits_clocked, offset_of!(PhaseRow, waits_clocked)),
            (&mut self.waits_on_processor, offset_of!(PhaseRow, waits_on_processor)),
            (&mut self.clock_lost, offset_of!(PhaseRow, clock_lost)),
        ] {
            *sum = sum.saturating_add(word(record, offset));
        }
        self.ended.add(row)
    }

    /// The states, with `scale` seconds in a tick.
    pub(super) fn states(&self, scale: f64) -> PhaseStates {
        // The two clocks are read one after the other: a little below 0 is 0.
        let off = |ticks: u64, nanoseconds: u64| {
            (ticks as f64 * scale - nanoseconds as f64 * 1e-9).max(0.0)
        };
        let is_known = self.clock_lost == 0;
        let waiting_off = off(self.waits_clocked, self.waits_on_processor);
        let useful_off = (off(self.clocked, self.on_processor) - waiting_off).max(0.0);
        PhaseStates {
            waiting: self.waited as f64 * scale,
            useful_off: is_known.then_some(useful_off),
            waiting_off: is_known.then_some(waiting_off),
        }
    }
}
