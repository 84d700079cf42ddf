//! The record of one thread's executions of a phase.

use std::sync::atomic::AtomicU64;

use super::cell::{add, zero};
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
    /// The executions that ended. Its region is the phase's number, and its thread is the thread's.
    pub row: Row,
}

impl PhaseRow {
    /// A record outside of any arena.
    pub const fn unrecorded() -> PhaseRow {
        PhaseRow { header: zero(), begun: zero(), row: Row::unrecorded() }
    }

    /// An execution begins.
    #[inline]
    pub fn begin(&self) {
        add(&self.begun, 1);
    }
}
