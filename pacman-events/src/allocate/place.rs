//! Placing lists of events on a divided core, or explaining why it cannot be done.

use std::sync::Arc;

use super::conflict::{Contender, minimal};
use super::problem::{Item, Problem, Relax};
use super::reason;
use super::search::Search;
use super::{Assignment, Conflict, Demand, Pmu, assignments};
use crate::CounterSet;

/// The share of a core that one context may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    /// General counters, withheld ones included.
    pub(crate) general: CounterSet,
    /// The half whose registers it may use; `None` for both.
    pub(crate) half: Option<u8>,
    /// Whether it may count at all.
    pub(crate) active: bool,
}

/// How a core is divided between its contexts.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    /// One per context.
    pub(crate) grants: Vec<Grant>,
    /// A division that gives every context at least as much, and how to ask for it.
    pub(crate) wider: Option<(&'static str, Vec<Grant>)>,
}

impl Division {
    /// Every context may use everything.
    pub(crate) fn open(pmu: &Pmu) -> Self {
        let all = Grant { general: pmu.general, half: None, active: true };
        Division { grants: vec![all; usize::from(pmu.contexts())], wider: None }
    }

    /// One context may use everything, the others nothing.
    pub(crate) fn whole(pmu: &Pmu, owner: u8) -> Self {
        let mut division = Division::open(pmu);
        for (context, grant) in division.grants.iter_mut().enumerate() {
            grant.active = context == usize::from(owner);
        }
        division
    }
}

/// Places one list of events per context.
pub(crate) fn place(
    pmu: &Pmu,
    division: &Division,
    threads: &[&[Demand]],
) -> Result<Vec<Assignment>, Conflict> {
    let (items, asked) = items(pmu, threads);
    let problem = Problem::new(pmu, &division.grants, &items, Relax::default());
    let mut search = Search::new(&problem);
    if search.fits_all() {
        let spots: Vec<_> = (0..items.len() as u16).map(|item| search.spot(item)).collect();
        let events: Vec<usize> = asked.iter().map(|(_, event)| *event).collect();
        return Ok(assignments(pmu, &items, &spots, &events));
    }
    Err(Refusal { pmu, division, items: &items, asked: &asked }.explain())
}

/// The events of all threads, with thread and position of each; thread *n* runs on
/// context *n*, and a thread beyond the contexts of the core nowhere.
pub(crate) fn items<'a>(pmu: &Pmu, threads: &[&'a [Demand]]) -> (Vec<Item<'a>>, Vec<(u8, usize)>) {
    let mut items = Vec::new();
    let mut asked = Vec::new();
    for (thread, demands) in threads.iter().enumerate() {
        let contexts = if thread < usize::from(pmu.contexts()) { 1 << thread } else { 0 };
        for (event, demand) in demands.iter().enumerate() {
            items.push(Item { demand, contexts, reserved: false });
            asked.push((thread as u8, event));
        }
    }
    (items, asked)
}

/// A placement that failed.
pub(crate) struct Refusal<'r, 'a> {
    pub(crate) pmu: &'a Pmu,
    pub(crate) division: &'r Division,
    /// The events, all of those that were asked for together.
    pub(crate) items: &'r [Item<'a>],
    /// Thread and position of each event.
    pub(crate) asked: &'r [(u8, usize)],
}

impl<'a> Refusal<'_, 'a> {
    /// Finds a minimal conflict and explains it.
    ///
    /// # Panics
    /// If the events fit after all.
    #[cold]
    pub(crate) fn explain(&self) -> Conflict {
        let problem = Problem::new(self.pmu, &self.division.grants, self.items, Relax::default());
        let set = minimal(&problem);
        let items: Vec<Item<'a>> = set.iter().map(|at| self.items[usize::from(*at)]).collect();
        let events = set
            .iter()
            .map(|at| {
                let (thread, event) = self.asked[usize::from(*at)];
                let name = Arc::clone(&self.items[usize::from(*at)].demand.name);
                Contender { thread, event, name }
            })
            .collect();
        reason::explain(self, &items, events)
    }

    /// Whether these events fit under other rules or another division.
    pub(super) fn fits(&self, items: &[Item<'_>], relax: Relax, grants: &[Grant]) -> bool {
        let problem = Problem::new(self.pmu, grants, items, relax);
        Search::new(&problem).fits_all()
    }
}
