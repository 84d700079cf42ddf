//! The event sets of a run: one, or several that the kernel rotates.
//!
//! The kernel rotates them, as for perf: it alone knows when a thread of another process runs, so its
//! times of each set are exact and rotation wakes nobody. The library's own rotation is by executions
//! of a phase, which a command does not have.

use std::collections::BTreeSet;

use pacman_core::backend::perf::{Sharing, backend_on};
use pacman_core::backend::{Backend, Caps, Counters, Reading, Target};
use pacman_core::session::{events_of_one_figure, plan_event_sets};
use pacman_core::{Event, Result, platform};

use pacman_report::stat::Count;

/// The sets, ready to be opened for any thread.
pub(super) struct EventSets {
    groups: Vec<Group>,
    /// The events of each set, as numbers; one list if all fit at once.
    pub(super) sets: Vec<Vec<usize>>,
}

/// Events that the kernel puts on counters together.
struct Group {
    events: Vec<usize>,
    rotates: bool,
    backend: Box<dyn Backend>,
}

/// The counters of one thread.
pub(super) struct SetCounters {
    groups: Vec<(Vec<usize>, bool, Box<dyn Counters>)>,
}

impl EventSets {
    /// All events at once.
    pub(super) fn one(events: &[Event]) -> Result<EventSets> {
        let events = Event::with_parts(events.to_vec());
        let all: Vec<usize> = (0..events.len()).collect();
        EventSets::of(&events, vec![(all.clone(), false)], vec![all])
    }

    /// All events at once, or in sets that rotate if they do not fit.
    pub(super) fn rotating(events: &[Event]) -> Result<EventSets> {
        let refusal = match EventSets::one(events) {
            Err(refusal) => refusal,
            fitting => return fitting,
        };
        let sets = match plan_event_sets(platform::current(), events, &events_of_one_figure(events))
        {
            Ok(sets) if sets.len() > 1 => sets,
            _ => return Err(refusal),
        };
        // An event that has room in each set needs no rotation: its group is pinned.
        let all: Vec<BTreeSet<usize>> =
            sets.iter().map(|set| set.iter().copied().collect()).collect();
        let in_all = |event: &usize| all.iter().all(|set| set.contains(event));
        let always: Vec<usize> = (0..events.len()).filter(in_all).collect();
        let parts = sets.iter().map(|set| {
            let own = set.iter().copied().filter(|event| !always.contains(event));
            (own.collect(), true)
        });
        let groups = parts.chain([(always.clone(), false)]);
        let groups = groups.filter(|(events, _): &(Vec<usize>, bool)| !events.is_empty()).collect();
        EventSets::of(events, groups, sets)
    }

    fn of(
        events: &[Event],
        groups: Vec<(Vec<usize>, bool)>,
        sets: Vec<Vec<usize>>,
    ) -> Result<EventSets> {
        let platform = platform::current();
        let group = |(numbers, rotates): (Vec<usize>, bool)| {
            let own: Vec<Event> = numbers.iter().map(|event| events[*event].clone()).collect();
            let sharing = if rotates { Sharing::Rotating } else { Sharing::Pinned };
            let backend = backend_on(platform, &own, sharing, platform.permissions())?;
            Ok(Group { events: numbers, rotates, backend })
        };
        let groups = groups.into_iter().map(group).collect::<Result<_>>()?;
        let sets = EventSets { groups, sets };
        // Some refusals come only when counters are to be on.
        sets.open(Target::Caller)?;
        Ok(sets)
    }

    pub(super) fn open(&self, target: Target) -> Result<SetCounters> {
        let open =
            |group: &Group| Ok((group.events.clone(), group.rotates, group.backend.open(target)?));
        Ok(SetCounters { groups: self.groups.iter().map(open).collect::<Result<_>>()? })
    }
}

impl SetCounters {
    /// Reads all counts so far. They mean something by their differences only.
    pub(super) fn read(&mut self, into: &mut Vec<Count>) -> Result<()> {
        let mut reading = Reading::EMPTY;
        for (events, rotates, counters) in &mut self.groups {
            counters.read(&mut reading)?;
            let (enabled_ns, running_ns) = match rotates {
                true => (reading.enabled_ns, reading.running_ns),
                false => (0, 0),
            };
            for (event, raw) in events.iter().zip(reading.counts) {
                if into.len() <= *event {
                    into.resize(event + 1, Count::exact(0));
                }
                into[*event] = Count { raw, enabled_ns, running_ns };
            }
        }
        Ok(())
    }

    /// The abilities of the counters.
    pub(super) fn caps(&self) -> Caps {
        self.groups[0].2.caps()
    }
}
