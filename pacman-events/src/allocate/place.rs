//! Places lists of events on a divided core, or explains why that is impossible.

use super::division::Division;
use super::problem::{Item, Problem, Relax};
use super::reason::PlacementError;
use super::search::Search;
use super::{Assignment, Conflict, EventConstraints, Pmu, assignments};

/// Places one list of events per context.
pub(crate) fn place(
    pmu: &Pmu,
    division: &Division,
    threads: &[&[EventConstraints]],
) -> Result<Vec<Assignment>, Conflict> {
    let (items, asked) = items(pmu, threads);
    let problem = Problem::new(pmu, &division.grants, &items, Relax::default());
    let mut search = Search::new(&problem);
    if search.fits_all() {
        let spots: Vec<_> = (0..items.len() as u16).map(|item| search.spot(item)).collect();
        let events: Vec<usize> = asked.iter().map(|(_, event)| *event).collect();
        return Ok(assignments(pmu, &items, &spots, &events));
    }
    Err(PlacementError { pmu, division, items: &items, asked: &asked }.explain())
}

/// The events of all threads, with thread and position of each. Thread *n* runs on context *n*; a
/// thread beyond the core's contexts cannot run.
pub(crate) fn items<'a>(
    pmu: &Pmu,
    threads: &[&'a [EventConstraints]],
) -> (Vec<Item<'a>>, Vec<(u8, usize)>) {
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
