//! Plans the fewest sets for more events than counters, and their rotation over a phase's executions.

use super::fewest::{Cover, fewest};
use super::plan::{CorePlan, Partition};
use crate::allocate::{
    Conflict, Division, EventConstraints, Item, PlacementError, Pmu, Problem, Relax, Search,
    assignments, items,
};
use crate::few;

/// Rotating sets that together count all events.
///
/// PACMAN's predictor sampled two sets in the first two executions of a phase. A schedule
/// generalises that to the fewest sets that the hardware allows. Every set is a legal plan for all
/// contexts of the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    sets: Vec<CorePlan>,
    fewest: bool,
    parted: Vec<(u8, u32)>,
}

impl Schedule {
    /// The sets, in the order in which executions take them.
    pub fn sets(&self) -> &[CorePlan] {
        &self.sets
    }

    /// Whether fewer sets are proved not to suffice. The proof always exists for up to 24 events
    /// that compete with each other, and often for more.
    pub fn is_fewest(&self) -> bool {
        self.fewest
    }

    /// The bundles, by thread and number, that do not fit into one set even alone.
    ///
    /// The schedule splits them: their events are counted in different executions.
    pub fn parted(&self) -> &[(u8, u32)] {
        &self.parted
    }

    /// The set for one core in one execution of a phase. Both are counted from 0, and `cores` cores
    /// run the phase. The cores divide the sets among them, and each proceeds to another set with
    /// every execution.
    ///
    /// `None` if there is no event, or no core.
    pub fn set(&self, execution: u64, core: u32, cores: u32) -> Option<&CorePlan> {
        if self.sets.is_empty() || core >= cores {
            return None;
        }
        let turn = u128::from(execution) * u128::from(cores) + u128::from(core);
        self.sets.get((turn % self.sets.len() as u128) as usize)
    }

    /// Executions until every set has run on some core; 0 without a core.
    pub fn executions(&self, cores: u32) -> u64 {
        if cores == 0 { 0 } else { (self.sets.len() as u64).div_ceil(u64::from(cores)) }
    }
}

impl Partition {
    /// Plans the fewest sets in which all events of all contexts are counted, each
    /// event in exactly one set.
    ///
    /// `threads[n]` runs on context `n` in every set. The contexts run at the same time, so a set
    /// is legal for all of them together. Events of one thread with the same
    /// [bundle](EventConstraints::in_bundle) stay in one set if that is possible, see
    /// [`Schedule::parted`]. Without events there are no sets.
    ///
    /// # Errors
    /// The conflict of an event that cannot be counted even in a set of its own.
    ///
    /// ```
    /// use pacman_events::CounterSet;
    /// use pacman_events::allocate::{EventConstraints, Pmu, Alternative};
    /// use pacman_events::partition::Partition;
    ///
    /// let pmu = Pmu::per_context("skl", 2, CounterSet::first(4));
    /// let event = |n: u32| EventConstraints::new(format!("r{n:02x}"), [Alternative::general(CounterSet::first(4))]);
    /// let schedule = Partition::ByDemand.sets(&pmu, &[(0..9).map(event).collect()]).unwrap();
    /// assert_eq!(schedule.sets().len(), 3);
    /// assert!(schedule.is_fewest());
    /// ```
    pub fn sets(self, pmu: &Pmu, threads: &[Vec<EventConstraints>]) -> Result<Schedule, Conflict> {
        let lists: Vec<&[EventConstraints]> = threads.iter().map(Vec::as_slice).collect();
        let (items, asked) = items(pmu, &lists);
        self.schedule(pmu, &items, &asked)
    }

    /// Plans the fewest sets for threads that all run the same phase on the contexts of one core.
    /// Each event is counted on one context in one set, on any free context.
    ///
    /// Threads of one phase do the same work, so an event that one of them counts represents all.
    /// On several cores, [`Schedule::set`] gives each core a different set.
    ///
    /// # Errors
    /// As [`Partition::sets`].
    ///
    /// ```
    /// use pacman_events::CounterSet;
    /// use pacman_events::allocate::{EventConstraints, Pmu, Alternative};
    /// use pacman_events::partition::Partition;
    ///
    /// let pmu = Pmu::per_context("skl", 2, CounterSet::first(4));
    /// let event = |n: u32| EventConstraints::new(format!("r{n:02x}"), [Alternative::general(CounterSet::first(4))]);
    /// let events: Vec<_> = (0..16).map(event).collect();
    /// let schedule = Partition::ByDemand.spread(&pmu, &events).unwrap();
    /// assert_eq!(schedule.sets().len(), 2);
    /// assert_eq!(schedule.executions(2), 1);
    /// ```
    pub fn spread(self, pmu: &Pmu, events: &[EventConstraints]) -> Result<Schedule, Conflict> {
        let anywhere = u8::MAX >> (8 - pmu.contexts());
        let item = |demand| Item { demand, contexts: anywhere, reserved: false };
        let items: Vec<Item<'_>> = events.iter().map(item).collect();
        let asked: Vec<(u8, usize)> = (0..events.len()).map(|event| (0, event)).collect();
        self.schedule(pmu, &items, &asked)
    }

    fn schedule(
        self,
        pmu: &Pmu,
        items: &[Item<'_>],
        asked: &[(u8, usize)],
    ) -> Result<Schedule, Conflict> {
        let division = self.division(pmu);
        let problem = Problem::new(pmu, &division.grants, items, Relax::default());
        let mut search = Search::new(&problem);
        let mut parted = Vec::new();
        let mut units = Vec::new();
        for unit in bundles(items, asked) {
            if search.fits(&unit) {
                units.push(unit);
                continue;
            }
            for item in &unit {
                if !search.fits(&[*item]) {
                    return Err(refusal(pmu, &division, items, asked, &[*item]));
                }
            }
            parted.extend(bundle(items, asked, unit[0]));
            units.extend(unit.into_iter().map(|item| vec![item]));
        }
        let Cover { sets, fewest } = fewest(&problem, &mut search, &units);
        let mut plans = Vec::with_capacity(sets.len());
        for mut set in sets {
            few::sort(&mut set);
            assert!(search.fits(&set), "sets of separate components fit together");
            let spots: Vec<_> = set.iter().map(|item| search.spot(*item)).collect();
            let chosen: Vec<Item<'_>> = set.iter().map(|item| items[usize::from(*item)]).collect();
            let events: Vec<usize> = set.iter().map(|item| asked[usize::from(*item)].1).collect();
            plans.push(CorePlan { contexts: assignments(pmu, &chosen, &spots, &events) });
        }
        Ok(Schedule { sets: plans, fewest, parted })
    }
}

/// Events that stay together, in the order of their first members.
fn bundles(items: &[Item<'_>], asked: &[(u8, usize)]) -> Vec<Vec<u16>> {
    let mut units: Vec<Vec<u16>> = Vec::new();
    for at in 0..items.len() as u16 {
        let own = bundle(items, asked, at);
        let with = |unit: &&mut Vec<u16>| own.is_some() && bundle(items, asked, unit[0]) == own;
        match units.iter_mut().find(with) {
            Some(unit) => unit.push(at),
            None => units.push(vec![at]),
        }
    }
    units
}

/// Thread and number of an event's bundle.
fn bundle(items: &[Item<'_>], asked: &[(u8, usize)], at: u16) -> Option<(u8, u32)> {
    let (thread, _) = asked[usize::from(at)];
    items[usize::from(at)].demand.bundle.map(|bundle| (thread, bundle))
}

fn refusal(
    pmu: &Pmu,
    division: &Division,
    items: &[Item<'_>],
    asked: &[(u8, usize)],
    unit: &[u16],
) -> Conflict {
    let of_unit = |at: &u16| (items[usize::from(*at)], asked[usize::from(*at)]);
    let (items, asked): (Vec<Item<'_>>, Vec<(u8, usize)>) = unit.iter().map(of_unit).unzip();
    PlacementError { pmu, division, items: &items, asked: &asked }.explain()
}
