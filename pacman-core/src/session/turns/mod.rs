//! Sets of events that take turns on the counters.
//!
//! A session whose events do not fit at once has several sets; each outermost
//! execution of a phase counts one of them. [`plan`](Sets::plan) makes the sets,
//! [`Rota`] is the owner's side, [`Tallies`] what others see.

mod plan;
mod rota;
mod tally;

pub(super) use plan::{Room, advise, is_lack_of_room};
pub(super) use rota::{ByPlace, Rota};
pub(crate) use tally::{Tallies, Tally};

use crate::backend::Backend;
use crate::report::EventSet;

/// The most events of a session whose sets take turns: which of them are being
/// counted is one word.
pub const MAX_EVENTS_IN_TURNS: usize = u64::BITS as usize;

/// Who counts which set, where the events of a session do not fit at once.
///
/// Sets change between outermost executions of phases, never inside one; each phase
/// goes through all sets on each thread, whatever its other phases do. So a phase
/// that runs only inside others sees the sets that those are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Turns {
    /// Execution *i* of a phase on a thread counts set *i* mod *n*: all threads
    /// begin with set 0, and each can be compared with the others at any time.
    ByExecution,
    /// Execution *i* of a phase on thread *k* counts set (*i* + *k*) mod *n*: as many
    /// threads as there are sets see all events in one execution. For threads that do
    /// the same work, as those of a team do.
    BySpread,
}

/// The sets of a session: one where all its events fit.
pub(crate) struct Sets {
    turns: Turns,
    list: Vec<Set>,
}

/// Events that are counted together.
pub(crate) struct Set {
    /// A bit for each of the session's events.
    live: u64,
    backend: Box<dyn Backend>,
}

impl Sets {
    /// All of a session's events, counted together.
    pub(super) fn one(events: usize, backend: Box<dyn Backend>) -> Sets {
        let live = u64::MAX >> (MAX_EVENTS_IN_TURNS - events);
        Sets { turns: Turns::ByExecution, list: vec![Set { live, backend }] }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Who counts which set, if there are several.
    pub(super) fn turns(&self) -> Option<Turns> {
        (self.list.len() > 1).then_some(self.turns)
    }

    /// What opens the counters of a set.
    pub(super) fn backend(&self, set: usize) -> &dyn Backend {
        &*self.list[set].backend
    }

    /// The events of a set, a bit each.
    pub(super) fn live(&self, set: usize) -> u64 {
        self.list[set].live
    }

    /// How many events the set counts.
    pub(super) fn width(&self, set: usize) -> usize {
        self.live(set).count_ones() as usize
    }

    /// The session's numbers of a set's events, in the order in which they are read.
    pub(super) fn events(&self, set: usize) -> Vec<usize> {
        (0..MAX_EVENTS_IN_TURNS).filter(|event| self.live(set) >> event & 1 == 1).collect()
    }

    /// All sets, for programs and reports.
    pub(super) fn described(&self) -> Vec<EventSet> {
        (0..self.len()).map(|set| EventSet { events: self.events(set) }).collect()
    }
}

/// A stay of one set on a thread's counters: two readings of the same stay can be
/// subtracted, others cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// How many switches came before.
    pub(super) number: u64,
    /// The session's events that are counted, a bit each.
    pub(super) live: u64,
}

impl Turn {
    /// The only turn of a session whose events fit at once.
    pub(super) const ONLY: Turn = Turn { number: 0, live: u64::MAX };

    /// Where in a reading the session's event number `event` stands, if it is counted.
    #[inline]
    pub(super) fn place(self, event: usize) -> Option<usize> {
        let counted = event < MAX_EVENTS_IN_TURNS && self.live >> event & 1 == 1;
        counted.then(|| (self.live & ((1 << event) - 1)).count_ones() as usize)
    }

    /// As [`place`](Self::place), for who knows that the event is counted.
    #[inline]
    pub(super) fn expect(self, event: usize) -> usize {
        self.place(event).unwrap_or_else(|| not_counted(event))
    }
}

#[cold]
fn not_counted(event: usize) -> ! {
    panic!("event {event} was not counted; a session in turns is asked with counted_since")
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn counted_events_stand_in_their_order() {
        let turn = Turn { number: 3, live: 1 << 63 | 0b1011_0000 };
        let places: Vec<Option<usize>> = [3, 4, 5, 6, 7, 63, 64].map(|e| turn.place(e)).into();
        assert_eq!(places, [None, Some(0), Some(1), None, Some(2), Some(3), None]);
        assert_eq!((0..64).map(|event| Turn::ONLY.expect(event)).sum::<usize>(), 2016);
    }
}
