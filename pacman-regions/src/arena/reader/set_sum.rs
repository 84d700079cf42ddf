//! Sums over the rows of event sets of several threads.

use std::mem::offset_of;

use super::records::word;
use crate::arena::cells::EVENTS;
use crate::arena::set_row::SetRow;

/// The sum of the rows of one region, thread number and set.
#[derive(Default)]
pub(super) struct SetSum {
    pub(super) counted: u64,
    pub(super) counts: [u64; EVENTS],
}

impl SetSum {
    /// Adds the row of another thread; `None` if the record is too short.
    pub(super) fn add(&mut self, record: &[u64]) -> Option<()> {
        let counts = record.get(offset_of!(SetRow, counts) / 8..)?.get(..EVENTS)?;
        self.counted = self.counted.saturating_add(word(record, offset_of!(SetRow, counted)));
        self.counts.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.wrapping_add(*count));
        Some(())
    }
}

/// The region, the thread's number and the set of a row.
pub(super) fn key(record: &[u64]) -> (u32, u32, u32) {
    let key = word(record, offset_of!(SetRow, key));
    (key as u32, (key >> 32) as u32, word(record, offset_of!(SetRow, set)) as u32)
}
