//! The machine of an adapter: its candidates, and the order in which cores are used.

use crate::candidates::Candidates;
use crate::places::places;
use crate::predict::Configuration;
use pacman_events::Result;
use pacman_topology::{Place, Placement, Topology};

#[derive(Debug)]
pub(super) struct Machine {
    pub(super) topology: Topology,
    pub(super) candidates: Candidates,
    /// The placement, restricted to the contexts that are left.
    pub(super) order: Placement,
}

impl Machine {
    pub(super) fn places(&self, on: Configuration) -> Result<Vec<Place>> {
        places(&self.topology, on, &self.order)
    }
}

/// The candidates, without a choice of nodes if the caller has an order of cores.
pub(super) fn candidates(
    topology: &Topology,
    limit: Option<usize>,
    order: Option<&Placement>,
) -> Result<Candidates> {
    let all = Candidates::of(topology, limit)?;
    if order.is_some() { all.on_any_nodes() } else { Ok(all) }
}

/// The candidates of `all` that `order` has places for. If the default is not among them, the
/// widest replaces it.
pub(super) fn placed(
    topology: &Topology,
    order: &Placement,
    all: Candidates,
) -> Result<Candidates> {
    let places = |on| places(topology, on, order);
    let placed: Vec<Configuration> =
        all.all().iter().copied().filter(|&on| places(on).is_ok()).collect();
    match placed.iter().max() {
        Some(_) if placed.len() == all.all().len() => Ok(all),
        Some(&widest) => Candidates::new(placed, widest),
        None => places(all.default()).and(Ok(all)),
    }
}

/// `order` without the contexts that are gone or forbidden: a list may name some.
pub(super) fn usable(order: Option<&Placement>, topology: &Topology) -> Placement {
    let usable = |cpu: &u32| topology.context(*cpu).is_some_and(|context| context.allowed);
    match order {
        Some(Placement::List(cpus)) => {
            Placement::List(cpus.iter().copied().filter(usable).collect())
        }
        Some(other) => other.clone(),
        None => Placement::Compact,
    }
}
