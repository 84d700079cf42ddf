//! Plans the sets: as few as possible, and each as full as possible.

use pacman_events::allocate::{EventConstraints, Pmu};
use pacman_events::encode::Rings;
use pacman_events::few;
use pacman_events::partition::Partition;

use super::sets::{MAX_ROTATED_EVENTS, Set, Sets};
use crate::backend::Backend;
use crate::event::{Event, Source};
use crate::platform::PlatformRef;
use crate::report::EventSetRotation;
use pacman_events::{Error, ErrorKind, Result};

/// The PMU for which sets are planned, and one thread's share of it.
pub(in crate::session) struct Room {
    pub(in crate::session) pmu: Pmu,
    pub(in crate::session) partition: Partition,
}

impl Room {
    /// The counters that the kernel has for one thread; `None` for a processor without a table.
    pub(in crate::session) fn of_the_kernel(platform: &PlatformRef) -> Option<Room> {
        let (model, permissions) = (platform.cpu_model(), platform.permissions());
        if model.facts().general.is_empty() {
            return None;
        }
        let pmu = Pmu::of(model, permissions.smt);
        let pmu = if permissions.watchdog { pmu.with_watchdog() } else { pmu };
        Some(Room { pmu, partition: Partition::ByDemand })
    }
}

/// Tries events on the machine.
type Open<'a> = dyn Fn(&[Event]) -> Result<Box<dyn Backend>> + 'a;

/// Sets as lists of event numbers, in order.
type Numbers = Vec<Vec<usize>>;

impl Sets {
    /// The sets in which `events` rotate; one set if they fit at once.
    ///
    /// Each list of event numbers in `together` stays in one set if it fits at once, so that ratios of
    /// its counts are of the same time. `open` tries a list of events on the machine, and its answer is
    /// final. If it refuses the plan, the sets are found by trying. The same holds without a `room`, on
    /// a machine without a table.
    ///
    /// # Errors
    /// `TooManyEvents` beyond [`MAX_ROTATED_EVENTS`]; the error of `open` for an event that it
    /// refuses even alone.
    pub(in crate::session) fn plan_together(
        rotation: EventSetRotation,
        events: &[Event],
        together: &[Vec<usize>],
        room: &dyn Fn() -> Result<Option<Room>>,
        open: &Open<'_>,
    ) -> Result<Sets> {
        if events.len() > MAX_ROTATED_EVENTS {
            return Err(too_many(events.len()));
        }
        match open(events) {
            Ok(backend) => return Ok(Sets::one(events.len(), backend)),
            Err(error) if !is_lack_of_room(&error) => return Err(error),
            Err(_) => {}
        }
        let alone = Planner { events, units: Vec::new(), open };
        let fits = |unit: &&Vec<usize>| open(&alone.named(unit)).is_ok();
        let units = together.iter().filter(fits).cloned().collect();
        let planner = Planner { units, ..alone };
        for sets in room()?.map(|room| planner.by_table(&room)).unwrap_or_default() {
            match planner.open_all(&sets) {
                Ok(list) => return Ok(Sets { rotation, list }),
                Err(error) if is_lack_of_room(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let list = planner.open_all(&planner.by_trial()?)?;
        Ok(Sets { rotation, list })
    }
}

/// Adds a hint to the refusal of events that do not fit at once, if rotation would help.
#[cold]
pub(in crate::session) fn advise(error: Error, plan: impl FnOnce() -> Result<Sets>) -> Error {
    if !is_lack_of_room(&error) {
        return error;
    }
    match plan() {
        Ok(sets) if sets.len() > 1 => {
            let counts = sets.len();
            error.followed_by(&format!(
                "; by rotation of event sets (rotate_event_sets) a session counts them in {counts} sets"
            ))
        }
        _ => error,
    }
}

/// Whether fewer events at once might succeed.
pub(in crate::session) fn is_lack_of_room(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Conflict | ErrorKind::TooManyEvents)
}

struct Planner<'a> {
    events: &'a [Event],
    /// Numbers of events that stay together. Events in none of the lists are for themselves.
    units: Vec<Vec<usize>>,
    open: &'a Open<'a>,
}

impl Planner<'_> {
    /// Plans by the processor's table, best first: the fewest sets, filled up, then the same sets
    /// not filled up. Empty if the table allows no plan.
    fn by_table(&self, room: &Room) -> Vec<Numbers> {
        let place = match room.partition {
            Partition::Whole { owner } => usize::from(owner),
            _ => 0,
        };
        let lists = |numbers: &[usize]| {
            let mut lists = vec![Vec::new(); place];
            lists.push(self.demands(numbers, &room.pmu));
            lists
        };
        let hardware = self.hardware();
        let owners: Vec<usize> = hardware
            .iter()
            .flat_map(|event| self.demands(&[*event], &room.pmu).into_iter().map(|_| *event))
            .collect();
        let Ok(schedule) = room.partition.sets(&room.pmu, &lists(&hardware)) else {
            return Vec::new();
        };
        // A sum whose terms are in two sets has no meaning.
        if !schedule.parted().is_empty() {
            return Vec::new();
        }
        let bare: Numbers = schedule
            .sets()
            .iter()
            .map(|plan| {
                let placed = plan.contexts()[place].placements();
                let mut set: Vec<usize> = placed.iter().map(|at| owners[at.event()]).collect();
                set.dedup();
                set
            })
            .collect();
        let mut full = bare.clone();
        for unit in self.hardware_units() {
            let with = |set: &Vec<usize>| {
                let mut set = set.clone();
                set.extend(unit.iter().filter(|event| !set.contains(event)).collect::<Vec<_>>());
                set
            };
            let wider: Numbers = full.iter().map(with).collect();
            // An event is in all sets or in one. With an event in some of the sets, it would be
            // unknown which executions counted it.
            if wider.iter().all(|set| room.partition.plan(&room.pmu, &lists(set)).is_ok()) {
                full = wider;
            }
        }
        vec![full, bare]
    }

    /// Puts each unit into the first set where it fits, by asking the machine.
    fn by_trial(&self) -> Result<Numbers> {
        let mut sets: Numbers = Vec::new();
        'units: for unit in self.hardware_units() {
            for set in &mut sets {
                let before = set.len();
                set.extend(&unit);
                match (self.open)(&self.named(set)) {
                    Ok(_) => continue 'units,
                    Err(error) if is_lack_of_room(&error) => {}
                    Err(error) => return Err(error),
                }
                set.truncate(before);
            }
            (self.open)(&self.named(&unit))?;
            sets.push(unit);
        }
        Ok(sets)
    }

    fn open_all(&self, sets: &Numbers) -> Result<Vec<Set>> {
        let set = |numbers: &Vec<usize>| {
            let numbers = self.completed(numbers);
            let live = numbers.iter().fold(0, |live, event| live | 1 << event);
            let backend = (self.open)(&self.of(&numbers))?;
            Ok(Set { live, backend })
        };
        sets.iter().map(set).collect()
    }

    /// A set with the events that need no counter of their own: those that the kernel itself counts,
    /// and the parts on single core types of those that are counted.
    fn completed(&self, numbers: &[usize]) -> Vec<usize> {
        let mut all = self.numbers(|event| !event.is_hardware());
        all.extend(numbers);
        for number in numbers {
            all.extend(self.numbers(|event| event.is_part_of(&self.events[*number])));
        }
        few::sort(&mut all);
        all.dedup();
        all
    }

    /// The events that need counters of their own.
    fn hardware(&self) -> Vec<usize> {
        let is_part = |event: &Event| self.events.iter().any(|whole| event.is_part_of(whole));
        self.numbers(|event| event.is_hardware() && !is_part(event))
    }

    /// The same events, in lists of those that stay together.
    fn hardware_units(&self) -> Vec<Vec<usize>> {
        let mut units: Vec<Vec<usize>> = Vec::new();
        for event in self.hardware() {
            let number = self.unit_of(event);
            match units.iter_mut().find(|unit| self.unit_of(unit[0]) == number) {
                Some(unit) => unit.push(event),
                None => units.push(vec![event]),
            }
        }
        units
    }

    /// The smallest number of an event that stays together with `event`.
    fn unit_of(&self, event: usize) -> usize {
        let unit = self.units.iter().find(|unit| unit.contains(&event));
        unit.and_then(|unit| unit.iter().copied().min()).unwrap_or(event)
    }

    fn named(&self, numbers: &[usize]) -> Vec<Event> {
        self.of(&self.completed(numbers))
    }

    fn of(&self, numbers: &[usize]) -> Vec<Event> {
        numbers.iter().map(|event| self.events[*event].clone()).collect()
    }

    fn numbers(&self, which: impl Fn(&Event) -> bool) -> Vec<usize> {
        (0..self.events.len()).filter(|event| which(&self.events[*event])).collect()
    }

    /// The constraints of the events' terms. The terms of a unit stay together.
    fn demands(&self, numbers: &[usize], pmu: &Pmu) -> Vec<EventConstraints> {
        let mut demands = Vec::new();
        for event in numbers {
            let Source::Hardware(terms) = self.events[*event].source() else { continue };
            for term in terms {
                let rings = Rings { user: term.hardware.user, kernel: term.hardware.kernel };
                let demand = EventConstraints::of(&term.encoding, pmu, rings);
                demands.push(demand.in_bundle(self.unit_of(*event) as u32));
            }
        }
        demands
    }
}

#[cold]
fn too_many(events: usize) -> Error {
    Error::new(
        ErrorKind::TooManyEvents,
        format!(
            "cannot count {events} events in rotating sets: a session names {MAX_ROTATED_EVENTS} at the \
             most; split them over several sessions or runs"
        ),
    )
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::RefCell;

    use pacman_events::allocate::allocate;
    use pacman_events::{CounterSet, CpuModel};

    use super::*;
    use crate::backend::{Counters, Target};

    /// A backend without counters: these tests only look at the plan.
    struct Nothing;

    impl Backend for Nothing {
        fn open(&self, _: Target) -> Result<Box<dyn Counters>> {
            unreachable!("no thread attaches")
        }
    }

    fn on(cpu: &str, names: &[&str]) -> Vec<Event> {
        let cpu = CpuModel::named(cpu).unwrap();
        names.iter().map(|name| Event::on(cpu, name).unwrap()).collect()
    }

    fn room(cpu: &str) -> Option<Room> {
        let pmu = Pmu::of(CpuModel::named(cpu).unwrap(), true);
        Some(Room { pmu, partition: Partition::ByDemand })
    }

    fn conflict() -> Error {
        Error::new(ErrorKind::Conflict, "cannot count them: no counter left")
    }

    /// Plans on a machine that counts what a PMU has room for.
    fn plan_on(pmu: &Pmu, events: &[Event], room: impl Fn() -> Option<Room>) -> Result<Sets> {
        let open = |list: &[Event]| -> Result<Box<dyn Backend>> {
            let numbers: Vec<usize> = (0..list.len()).collect();
            let open = |_: &[Event]| unreachable!("planning asks once");
            let demands =
                Planner { events: list, units: vec![], open: &open }.demands(&numbers, pmu);
            if allocate(pmu, &demands).is_ok() { Ok(Box::new(Nothing)) } else { Err(conflict()) }
        };
        Sets::plan_together(EventSetRotation::PerExecution, events, &[], &|| Ok(room()), &open)
    }

    fn events_of(sets: &Sets) -> Vec<Vec<usize>> {
        (0..sets.len()).map(|set| sets.events(set)).collect()
    }

    const SEVEN: [&str; 7] = ["r0108", "r0149", "CYCLES", "r0151", "r01c5", "r01c4", "task-clock"];

    #[test]
    fn sets_are_few_and_full_and_software_is_in_each() {
        let events = on("hsw", &SEVEN);
        let sets = plan_on(&room("hsw").unwrap().pmu, &events, || room("hsw")).unwrap();
        // Five general events on four counters: two sets. Cycles have a counter of
        // their own, and the shorter set has room for three of the other set's.
        assert_eq!(sets.len(), 2);
        let sets = events_of(&sets);
        assert!(sets.iter().all(|set| set.len() == 6 && set.contains(&2) && set.contains(&6)));
        for event in 0..7 {
            let of = sets.iter().filter(|set| set.contains(&event)).count();
            assert!(of == 1 || of == 2, "event {event} in {sets:?}");
        }
    }

    #[test]
    fn what_fits_is_one_set() {
        let events = on("hsw", &SEVEN[..4]);
        let sets = plan_on(&room("hsw").unwrap().pmu, &events, || room("hsw")).unwrap();
        assert_eq!((events_of(&sets), sets.rotation()), (vec![vec![0, 1, 2, 3]], None));
    }

    #[test]
    fn a_machine_with_less_than_its_table_is_asked() {
        // A virtual machine with two counters of the four, and a table or none.
        let two = Pmu::of(CpuModel::named("hsw").unwrap(), true)
            .withholding(CounterSet::first(4).minus(CounterSet::first(2)), "a VM has two");
        let events = on("hsw", &SEVEN);
        for known in [true, false] {
            let sets = plan_on(&two, &events, || room("hsw").filter(|_| known)).unwrap();
            let sets = events_of(&sets);
            assert_eq!(sets.len(), 3, "{sets:?}");
            for event in 0..6 {
                assert_eq!(sets.iter().filter(|set| set.contains(&event)).count(), 1);
            }
            assert!(sets.iter().all(|set| set.contains(&6)));
        }
    }

    #[test]
    fn the_terms_of_a_sum_stay_together() {
        let names = ["STALL_CYCLES", "INSTRUCTIONS", "UOPS_RETIRED", "BRANCH_MISSES"];
        let events = on("p4", &names);
        let asked = RefCell::new(Vec::new());
        let open = |list: &[Event]| -> Result<Box<dyn Backend>> {
            asked.borrow_mut().push(list.len());
            if list.len() == 4 { Err(conflict()) } else { Ok(Box::new(Nothing)) }
        };
        let sets = Sets::plan_together(
            EventSetRotation::Staggered,
            &events,
            &[],
            &|| Ok(room("p4")),
            &open,
        )
        .unwrap();
        let rotation = sets.rotation();
        let sets = events_of(&sets);
        assert_eq!(rotation, Some(EventSetRotation::Staggered));
        assert_eq!(asked.borrow().len(), 1 + sets.len(), "the table's plan is taken");
        let pmu = room("p4").unwrap().pmu;
        for set in &sets {
            let demands =
                Planner { events: &events, units: vec![], open: &open }.demands(set, &pmu);
            assert_eq!(demands.len(), set.len() + usize::from(set.contains(&0)), "{sets:?}");
            assert!(allocate(&pmu, &demands).is_ok());
        }
    }

    #[test]
    fn what_stays_together_is_in_one_set_unless_it_has_no_room() {
        let events = on("hsw", &SEVEN);
        let pmu = room("hsw").unwrap().pmu;
        let open = |list: &[Event]| -> Result<Box<dyn Backend>> {
            let numbers: Vec<usize> = (0..list.len()).collect();
            let asked = Planner { events: list, units: vec![], open: &|_| unreachable!() };
            let demands = asked.demands(&numbers, &pmu);
            if allocate(&pmu, &demands).is_ok() { Ok(Box::new(Nothing)) } else { Err(conflict()) }
        };
        let rotation = EventSetRotation::PerExecution;
        for known in [true, false] {
            let room = || Ok(room("hsw").filter(|_| known));
            let plan = |together: &[usize]| {
                let units = [together.to_vec()];
                let sets = Sets::plan_together(rotation, &events, &units, &room, &open).unwrap();
                events_of(&sets)
            };
            let sets = plan(&[0, 5]);
            assert!(sets.len() == 2 && sets.iter().all(|set| set.contains(&0) == set.contains(&5)));
            // Five events on four counters.
            assert_eq!(plan(&[0, 1, 3, 4, 5]).len(), 2);
        }
    }

    #[test]
    fn refusals_name_turns_where_they_help() {
        let events = on("hsw", &SEVEN);
        let pmu = room("hsw").unwrap().pmu;
        let plan = || plan_on(&pmu, &events, || room("hsw"));
        assert_eq!(
            advise(conflict(), plan).to_string(),
            "cannot count them: no counter left; by rotation of event sets (rotate_event_sets) a session counts them in 2 \
             sets"
        );
        let other = Error::new(ErrorKind::NoPmu, "cannot count them: no PMU");
        assert_eq!(advise(other, plan).to_string(), "cannot count them: no PMU");
        let alone = || plan_on(&pmu, &events[..2], || room("hsw"));
        assert_eq!(advise(conflict(), alone).to_string(), conflict().to_string());
    }

    #[test]
    fn one_word_says_which_events_are_counted() {
        let many: Vec<Event> = std::iter::repeat_n(on("hsw", &["r0108"]), 65).flatten().collect();
        let refused = plan_on(&room("hsw").unwrap().pmu, &many, || room("hsw"));
        assert_eq!(refused.err().unwrap().kind(), ErrorKind::TooManyEvents);
        // An event that the machine does not have is refused by itself.
        let nothing = |_: &[Event]| -> Result<Box<dyn Backend>> { Err(conflict()) };
        let none = Sets::plan_together(
            EventSetRotation::PerExecution,
            &many[..2],
            &[],
            &|| Ok(None),
            &nothing,
        );
        assert_eq!(none.err().unwrap().kind(), ErrorKind::Conflict);
    }
}
