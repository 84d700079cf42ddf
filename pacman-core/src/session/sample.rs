//! One reading of a thread's counters, and differences of two.

use super::rotation::Epoch;
use crate::backend::Reading;

/// One reading of the calling thread's counters, with its time.
///
/// Counts are raw and only grow; the difference of two samples is meaningful, see
/// [`count_since`](Sample::count_since). In a session with rotating sets a sample holds the
/// events of one set. [`counted_since`](Sample::counted_since) checks that two samples belong
/// together.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub(super) epoch: Epoch,
    pub(super) ticks: u64,
    pub(super) reading: Reading,
}

impl Sample {
    /// All zeros: a buffer to read into.
    pub const EMPTY: Sample = Sample { epoch: Epoch::ONLY, ticks: 0, reading: Reading::EMPTY };

    /// The raw count of the session's event number `event`.
    ///
    /// # Panics
    /// If `event` is [`MAX_EVENTS`](crate::session::MAX_EVENTS) or more, or is not
    /// [counted](Self::is_counted).
    pub fn count(&self, event: usize) -> u64 {
        self.reading.counts[self.epoch.expect(event)]
    }

    /// Whether the sample has event number `event`. False only in a session with rotating sets,
    /// while another set is on the counters.
    pub fn is_counted(&self, event: usize) -> bool {
        self.epoch.place(event).is_some()
    }

    /// The count of event number `event` from `earlier` to this sample.
    ///
    /// # Panics
    /// As for [`count`](Self::count). In a session with rotating sets also if the set changed in
    /// between; [`counted_since`](Self::counted_since) checks that first.
    pub fn count_since(&self, earlier: &Sample, event: usize) -> u64 {
        assert!(self.epoch == earlier.epoch, "the set was changed between these two samples");
        self.reading.count_since(&earlier.reading, self.epoch.expect(event))
    }

    /// The count of event number `event` from `earlier` to this sample of the same thread; `None`
    /// if it was not on the counters all the time between.
    ///
    /// # Panics
    /// If `event` is [`MAX_EVENTS`](crate::session::MAX_EVENTS) or more in a session
    /// whose events are counted at once.
    pub fn counted_since(&self, earlier: &Sample, event: usize) -> Option<u64> {
        let place = self.epoch.place(event).filter(|_| self.epoch == earlier.epoch)?;
        Some(self.reading.count_since(&earlier.reading, place))
    }

    /// The number of set changes before the sample. Samples of different epochs cannot be
    /// subtracted. Always 0 if all events are counted at once.
    pub fn epoch(&self) -> u64 {
        self.epoch.number
    }

    /// Ticks of the session's clock from `earlier` to this sample.
    pub fn ticks_since(&self, earlier: &Sample) -> u64 {
        self.ticks.wrapping_sub(earlier.ticks)
    }
}
