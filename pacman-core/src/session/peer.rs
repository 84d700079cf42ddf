//! Another thread's counts, as it last published them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::rotation::{Epoch, SetStats};
use super::rows::Rows;
use super::sample::Sample;
use super::shared::Shared;
use super::slot::Published;
use super::thread::{Counted, ThreadRecord};
use crate::clock::Clock;
use crate::report::ThreadState;

/// A view of one thread of a session, for siblings and controllers.
///
/// A look takes no system call and does not disturb the thread. It returns the sample of the
/// thread's latest phase boundary or [`publish`](super::Attached::publish).
#[derive(Clone)]
pub struct Peer {
    record: Arc<ThreadRecord>,
    clock: Clock,
    events: usize,
}

/// A thread's latest published sample.
#[derive(Clone, Copy, Debug)]
pub struct PeerSample {
    epoch: Epoch,
    sample: Published,
    age: u64,
}

/// A thread's own sample and a sibling's latest, taken together.
#[derive(Clone, Copy, Debug)]
pub struct SiblingPair {
    /// The calling thread's sample.
    pub own: Sample,
    /// The sibling's latest published sample. Its age is the age at the own sample.
    pub sibling: PeerSample,
}

impl SiblingPair {
    /// All zeros: a buffer to read into.
    pub const EMPTY: SiblingPair = SiblingPair { own: Sample::EMPTY, sibling: PeerSample::EMPTY };
}

impl Peer {
    /// Reads the latest sample in place, as of `now`; false before the first.
    #[inline(always)]
    pub(super) fn read(&self, now: u64, latest: &mut PeerSample) -> bool {
        let epoch = match &self.record.counted {
            Counted::AtOnce(SetStats { slot, rows: Rows::Four(_) }) => slot
                .read_first::<4>(&mut latest.sample, || self.record.is_gone())
                .then_some(Epoch::ONLY),
            counted => self.read_wider(counted, latest),
        };
        let Some(epoch) = epoch else { return false };
        latest.epoch = epoch;
        // The owner may have stamped its sample after this thread read the clock.
        latest.age = now.saturating_sub(latest.sample.ticks);
        true
    }

    #[inline(never)]
    fn read_wider(&self, counted: &Counted, latest: &mut PeerSample) -> Option<Epoch> {
        let is_gone = || self.record.is_gone();
        match counted {
            Counted::AtOnce(set_stats) => {
                set_stats.slot.read(self.events, &mut latest.sample, is_gone).then_some(Epoch::ONLY)
            }
            Counted::Rotating(rotating) => rotating.read(&mut latest.sample, is_gone),
        }
    }

    pub(super) fn new(record: Arc<ThreadRecord>, shared: &Shared) -> Peer {
        Peer { record, clock: *shared.clock(), events: shared.events().len() }
    }

    /// The thread's latest sample; `None` before its first boundary. In a session with rotating
    /// sets it is also `None` after a failed begin, until the next one.
    #[inline]
    pub fn latest(&self) -> Option<PeerSample> {
        // Read in place: a sample is too large to be handed on from call to call.
        let mut answer = Some(PeerSample::EMPTY);
        let seen = answer.as_mut().is_some_and(|latest| self.read(self.clock.now(), latest));
        if !seen {
            answer = None;
        }
        answer
    }

    /// The number the session gave the thread.
    pub fn number(&self) -> usize {
        self.record.arrival.number
    }

    /// Whether the thread is still attached.
    pub fn is_attached(&self) -> bool {
        self.record.state() == ThreadState::Attached
    }

    /// Converts an age in ticks to time.
    pub fn duration(&self, ticks: u64) -> Duration {
        self.clock.duration(ticks)
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("number", &self.number())
            .field("is_attached", &self.is_attached())
            .finish_non_exhaustive()
    }
}

impl PeerSample {
    const EMPTY: PeerSample = PeerSample { epoch: Epoch::ONLY, sample: Published::EMPTY, age: 0 };

    /// The raw count of event number `event`.
    ///
    /// # Panics
    /// If `event` is [`MAX_EVENTS`](crate::session::MAX_EVENTS) or more, or is not
    /// [counted](Self::is_counted).
    pub fn count(&self, event: usize) -> u64 {
        self.sample.counts[self.epoch.expect(event)]
    }

    /// Whether the sample has event number `event`. False only in a session with rotating sets,
    /// while another set is on the thread's counters.
    pub fn is_counted(&self, event: usize) -> bool {
        self.epoch.place(event).is_some()
    }

    /// The count of event number `event` from `earlier` to this sample of the same thread; `None`
    /// if it was not on the counters all the time between.
    ///
    /// # Panics
    /// If `event` is [`MAX_EVENTS`](crate::session::MAX_EVENTS) or more in a session
    /// whose events are counted at once.
    pub fn counted_since(&self, earlier: &PeerSample, event: usize) -> Option<u64> {
        let place = self.epoch.place(event).filter(|_| self.epoch == earlier.epoch)?;
        Some(self.sample.counts[place].wrapping_sub(earlier.sample.counts[place]))
    }

    /// The number of set changes before the sample. Samples of different epochs cannot be
    /// subtracted. Always 0 if all events are counted at once.
    pub fn epoch(&self) -> u64 {
        self.epoch.number
    }

    /// Ticks of the session's clock when the owner took the sample.
    pub fn ticks(&self) -> u64 {
        self.sample.ticks
    }

    /// Ticks that passed since then.
    pub fn age(&self) -> u64 {
        self.age
    }
}
