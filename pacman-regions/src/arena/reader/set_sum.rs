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
    /// The cells of the same names, which recordings of an earlier release do not have.
    pub(super) measure: u64,
    pub(super) turns: u64,
    pub(super) longest: u64,
    pub(super) measure_squares: f64,
    pub(super) squares: [f64; EVENTS],
    pub(super) products: [f64; EVENTS],
    pub(super) rates: [f64; EVENTS],
}

impl SetSum {
    /// Adds the row of another thread; `None` if the record is too short.
    pub(super) fn add(&mut self, record: &[u64]) -> Option<()> {
        let events = |offset: usize| record.get(offset / 8..)?.get(..EVENTS);
        let counts = events(offset_of!(SetRow, counts))?;
        self.counted = self.counted.saturating_add(word(record, offset_of!(SetRow, counted)));
        self.counts.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.wrapping_add(*count));
        if record.len() < size_of::<SetRow>() / 8 {
            return Some(());
        }
        self.measure = self.measure.saturating_add(word(record, offset_of!(SetRow, measure)));
        self.turns = self.turns.saturating_add(word(record, offset_of!(SetRow, turns)));
        self.longest = self.longest.max(word(record, offset_of!(SetRow, longest)));
        self.measure_squares += real(word(record, offset_of!(SetRow, measure_squares)));
        for (sums, offset) in [
            (&mut self.squares, offset_of!(SetRow, squares)),
            (&mut self.products, offset_of!(SetRow, products)),
        ] {
            sums.iter_mut().zip(events(offset)?).for_each(|(sum, own)| *sum += real(*own));
        }
        let rates = self.rates.iter_mut().zip(events(offset_of!(SetRow, rates))?);
        rates.for_each(|(most, own)| *most = most.max(real(*own)));
        Some(())
    }
}

/// A number that is not below 0. Any program may have written the recording.
fn real(bits: u64) -> f64 {
    let value = f64::from_bits(bits);
    if value >= 0.0 { value } else { f64::INFINITY }
}

/// The region, the thread's number and the set of a row.
pub(super) fn key(record: &[u64]) -> (u32, u32, u32) {
    let key = word(record, offset_of!(SetRow, key));
    (key as u32, (key >> 32) as u32, word(record, offset_of!(SetRow, set)) as u32)
}
