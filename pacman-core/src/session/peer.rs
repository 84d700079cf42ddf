//! Another thread's counts, as it last published them.

use std::sync::Arc;
use std::time::Duration;

use super::shared::Shared;
use super::thread::ThreadRecord;
use crate::clock::Clock;
use crate::report::ThreadState;

/// A view of one thread of a session, for siblings and controllers.
///
/// Looking costs no system call and does not disturb the thread. What is seen is
/// the sample of its latest boundary (or [`publish`](super::Attached::publish)).
#[derive(Clone, Debug)]
pub struct Peer {
    record: Arc<ThreadRecord>,
    clock: Clock,
    events: usize,
}

/// A thread's latest published sample.
#[derive(Clone, Copy, Debug)]
pub struct Latest {
    counts: [u64; crate::backend::MAX_EVENTS],
    ticks: u64,
    age: u64,
}

impl Peer {
    pub(super) fn new(record: Arc<ThreadRecord>, shared: &Shared) -> Peer {
        Peer { record, clock: *shared.clock(), events: shared.events().len() }
    }

    /// The thread's latest sample, or `None` before its first boundary.
    #[inline]
    pub fn latest(&self) -> Option<Latest> {
        let published = self.record.slot.latest(self.events)?;
        // The owner may have stamped its sample after this thread read the clock.
        let age = self.clock.now().saturating_sub(published.ticks);
        Some(Latest { counts: published.counts, ticks: published.ticks, age })
    }

    /// The number the session gave the thread.
    pub fn number(&self) -> usize {
        self.record.number
    }

    /// Whether the thread is still attached.
    pub fn is_attached(&self) -> bool {
        self.record.state() == ThreadState::Attached
    }

    /// Turns an age in ticks into time.
    pub fn duration(&self, ticks: u64) -> Duration {
        self.clock.duration(ticks)
    }
}

impl Latest {
    /// The raw count of event number `event`.
    ///
    /// # Panics
    /// If `event` is [`MAX_EVENTS`](crate::backend::MAX_EVENTS) or more.
    pub fn count(&self, event: usize) -> u64 {
        self.counts[event]
    }

    /// Ticks of the session's clock when the owner took the sample.
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Ticks that passed since then.
    pub fn age(&self) -> u64 {
        self.age
    }
}
