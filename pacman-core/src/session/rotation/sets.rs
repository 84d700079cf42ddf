//! Sets of events, and epochs: the time that a set is on the counters.

use crate::backend::Backend;
use crate::report::{EventSet, EventSetRotation};

/// The maximum number of events in a session whose sets rotate. One word has a bit for each event.
pub const MAX_ROTATED_EVENTS: usize = u64::BITS as usize;

/// The sets of a session: one where all its events fit.
pub(crate) struct Sets {
    pub(super) rotation: EventSetRotation,
    pub(super) list: Vec<Set>,
}

/// Events that are counted together.
pub(crate) struct Set {
    /// A bit for each of the session's events.
    pub(super) live: u64,
    pub(super) backend: Box<dyn Backend>,
}

impl Sets {
    /// All of a session's events, counted together.
    pub(in crate::session) fn one(events: usize, backend: Box<dyn Backend>) -> Sets {
        let live = u64::MAX >> (MAX_ROTATED_EVENTS - events);
        Sets { rotation: EventSetRotation::PerExecution, list: vec![Set { live, backend }] }
    }

    /// Sets that take turns, of one event each.
    #[cfg(all(test, not(loom)))]
    pub(in crate::session) fn of_one_each(backends: Vec<Box<dyn Backend>>) -> Sets {
        let set = |(at, backend)| Set { live: 1u64 << at, backend };
        let list = backends.into_iter().enumerate().map(set).collect();
        Sets { rotation: EventSetRotation::PerExecution, list }
    }

    pub(in crate::session) fn len(&self) -> usize {
        self.list.len()
    }

    /// The rule of rotation, if there are several sets.
    pub(in crate::session) fn rotation(&self) -> Option<EventSetRotation> {
        (self.list.len() > 1).then_some(self.rotation)
    }

    /// The backend that opens the counters of a set.
    pub(in crate::session) fn backend(&self, set: usize) -> &dyn Backend {
        &*self.list[set].backend
    }

    /// The events of a set, a bit each.
    pub(in crate::session) fn live(&self, set: usize) -> u64 {
        self.list[set].live
    }

    /// The number of events in the set.
    pub(in crate::session) fn width(&self, set: usize) -> usize {
        self.live(set).count_ones() as usize
    }

    /// The session's numbers of a set's events, in the order in which they are read.
    pub(in crate::session) fn events(&self, set: usize) -> Vec<usize> {
        (0..MAX_ROTATED_EVENTS).filter(|event| self.live(set) >> event & 1 == 1).collect()
    }

    /// All sets, for programs and reports.
    pub(in crate::session) fn described(&self) -> Vec<EventSet> {
        (0..self.len()).map(|set| EventSet { events: self.events(set) }).collect()
    }
}

/// The time that one set is on a thread's counters. Only readings of the same epoch can be
/// subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) struct Epoch {
    /// The number of switches before.
    pub(in crate::session) number: u64,
    /// The session's events that are counted, a bit each.
    pub(in crate::session) live: u64,
}

impl Epoch {
    /// The only epoch of a session whose events fit at once.
    pub(in crate::session) const ONLY: Epoch = Epoch { number: 0, live: u64::MAX };

    /// The position of event number `event` in a reading, if the epoch counts it.
    #[inline]
    pub(in crate::session) fn place(self, event: usize) -> Option<usize> {
        let counted = event < MAX_ROTATED_EVENTS && self.live >> event & 1 == 1;
        counted.then(|| (self.live & ((1 << event) - 1)).count_ones() as usize)
    }

    /// Like [`place`](Self::place), for events that the epoch counts.
    ///
    /// # Panics
    /// If the epoch does not count the event.
    #[inline]
    pub(in crate::session) fn expect(self, event: usize) -> usize {
        self.place(event).unwrap_or_else(|| not_counted(event))
    }
}

#[cold]
fn not_counted(event: usize) -> ! {
    panic!("event {event} was not counted; in a session with rotating sets use counted_since")
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn counted_events_stand_in_their_order() {
        let epoch = Epoch { number: 3, live: 1 << 63 | 0b1011_0000 };
        let places: Vec<Option<usize>> = [3, 4, 5, 6, 7, 63, 64].map(|e| epoch.place(e)).into();
        assert_eq!(places, [None, Some(0), Some(1), None, Some(2), Some(3), None]);
        assert_eq!((0..64).map(|event| Epoch::ONLY.expect(event)).sum::<usize>(), 2016);
    }
}
