//! The record of one thread's executions of a phase.

use std::sync::atomic::AtomicU64;

use super::cell::{add, zeroed};
use super::cells::Row;

/// The executions of a phase on one thread.
///
/// One thread at a time writes a row.
#[derive(Debug)]
#[repr(C)]
pub struct PhaseRow {
    header: AtomicU64,
    /// Executions that began.
    pub(super) begun: AtomicU64,
    /// The ticks of waits in executions that ended, and the ticks of those executions with a processor
    /// clock. The nanoseconds of the latter on a processor.
    pub(super) waited: AtomicU64,
    pub(super) clocked: AtomicU64,
    pub(super) on_processor: AtomicU64,
    /// The same of their waits between readings of that clock.
    pub(super) waits_clocked: AtomicU64,
    pub(super) waits_on_processor: AtomicU64,
    /// Executions without a processor clock.
    pub(super) clock_lost: AtomicU64,
    /// The executions that ended. Its region is the phase's number, and its thread is the thread's.
    pub row: Row,
}

impl PhaseRow {
    /// A record outside of any arena.
    pub const fn unrecorded() -> PhaseRow {
        zeroed()
    }

    /// Adds the waits of an execution, in ticks, and its processor time: ticks and nanoseconds on a
    /// processor, of the whole execution and of its waits. `None` if the clock could not be read.
    pub fn add_states(&self, waited: u64, clock: Option<[(u64, u64); 2]>) {
        add(&self.waited, waited);
        let Some([whole, waits]) = clock else { return add(&self.clock_lost, 1) };
        add(&self.clocked, whole.0);
        add(&self.on_processor, whole.1);
        add(&self.waits_clocked, waits.0);
        add(&self.waits_on_processor, waits.1);
    }

    /// An execution that began is none.
    pub fn cancel(&self) {
        add(&self.begun, u64::MAX);
    }

    /// An execution begins.
    #[inline]
    pub fn begin(&self) {
        add(&self.begun, 1);
    }
}
