//! The places of a configuration's threads.

use crate::predict::Configuration;
use pacman_events::{Error, ErrorKind, Result};
use pacman_topology::{Core, Place, Placement, Topology};

/// The places of the threads of `on`: one after the other on each core, with the cores in `order`'s
/// order.
///
/// A configuration without a number of contexts takes the first places of `order`. One with a number of
/// nodes takes as many cores of each. It begins with the nodes of one package if they have no more cores
/// than it needs. Otherwise it takes a node of each package in turn.
///
/// # Errors
/// As [`Placement::places`]: the machine lacks the places, or the process may not use them.
pub fn places(topology: &Topology, on: Configuration, order: &Placement) -> Result<Vec<Place>> {
    let (Some(cores), Some(per_core)) = (on.cores(), on.per_core()) else {
        return order.places(topology, on.threads() as usize);
    };
    let usable = usable_cores(topology, order, per_core)?;
    let chosen = match on.nodes() {
        Some(nodes) => {
            let share = (cores / nodes) as usize;
            let ordered = Nodes::among(topology, &usable).chosen(share, nodes as usize);
            ordered.unwrap_or_default()
        }
        None => usable.iter().take(cores as usize).map(|(core, _)| *core).collect(),
    };
    if let (true, Some(nodes)) = (chosen.is_empty(), on.nodes()) {
        let share = cores / nodes;
        let there = Nodes::among(topology, &usable).holding(share);
        let why = format!(
            "cannot place {on} {order}: NUMA nodes with {share} or more cores of {per_core} or more usable contexts: \
             {nodes} needed, {there} there; choose fewer nodes or fewer threads",
        );
        return Err(Error::new(ErrorKind::NoSuchPlace, why));
    }
    if chosen.len() < cores as usize {
        let why = format!(
            "cannot place {on} {order}: {} cores there have {per_core} or more contexts that the process may use; \
             choose another placement or fewer threads",
            usable.len()
        );
        return Err(Error::new(ErrorKind::NoSuchPlace, why));
    }
    let of_core = |core: u32| usable.iter().find(|(other, _)| *other == core);
    let places = chosen.iter().filter_map(|&core| of_core(core));
    Ok(places.flat_map(|(_, places)| &places[..per_core as usize]).copied().collect())
}

/// Whether threads can be placed in more than one way on the contexts that the process may use: on
/// siblings or on cores of their own, on few NUMA nodes or on many.
///
/// ```
/// use pacman_adapt::has_places;
/// use pacman_topology::Topology;
/// assert!(!has_places(&Topology::synthetic("4 cores")?));
/// assert!(has_places(&Topology::synthetic("2 packages, 2 cores")?));
/// # Ok::<(), pacman_adapt::Error>(())
/// ```
pub fn has_places(topology: &Topology) -> bool {
    topology.contexts_per_core() > 1 || Nodes::of(topology, 1).count() > 1
}

/// The cores with at least `per_core` contexts that the process may use, in the order of `order`, and
/// these contexts.
fn usable_cores(
    topology: &Topology,
    order: &Placement,
    per_core: u32,
) -> Result<Vec<(u32, Vec<Place>)>> {
    let mut cores: Vec<(u32, Vec<Place>)> = Vec::new();
    for place in order.places(topology, order.capacity(topology)?)? {
        if cores.iter().any(|(core, _)| *core == place.core()) {
            continue;
        }
        let mates = topology.cores()[place.core() as usize].cpus.iter();
        cores.push((place.core(), mates.filter_map(|&cpu| topology.place(cpu).ok()).collect()));
    }
    cores.retain(|(_, places)| places.len() >= per_core as usize);
    Ok(cores)
}

/// The memory that a core is close to: its package and NUMA node.
type Node = (u32, u32);

/// The cores of each NUMA node, or of each package where there are no nodes within.
pub(super) struct Nodes {
    nodes: Vec<(Node, Vec<u32>)>,
}

impl Nodes {
    /// Of the cores with at least `per_core` contexts that the process may use.
    pub(super) fn of(topology: &Topology, per_core: u32) -> Nodes {
        let usable = |cpu: &&u32| topology.context(**cpu).is_some_and(|context| context.allowed);
        let enough = |core: &&Core| core.cpus.iter().filter(usable).count() >= per_core as usize;
        let cores = topology.cores().iter().filter(enough);
        Nodes::grouped(cores.map(|core| ((core.package, core.node), core.core)))
    }

    fn among(topology: &Topology, cores: &[(u32, Vec<Place>)]) -> Nodes {
        let node = |core: u32| {
            let core = &topology.cores()[core as usize];
            (core.package, core.node)
        };
        Nodes::grouped(cores.iter().map(|&(core, _)| (node(core), core)))
    }

    fn grouped(cores: impl Iterator<Item = (Node, u32)>) -> Nodes {
        let mut nodes: Vec<(Node, Vec<u32>)> = Vec::new();
        for (node, core) in cores {
            match nodes.iter_mut().find(|(other, _)| *other == node) {
                Some((_, cores)) => cores.push(core),
                None => nodes.push((node, vec![core])),
            }
        }
        Nodes { nodes }
    }

    /// The number of cores.
    pub(super) fn cores(&self) -> u32 {
        self.nodes.iter().map(|(_, cores)| cores.len() as u32).sum()
    }

    /// The number of nodes.
    pub(super) fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The number of nodes with at least `share` cores.
    fn holding(&self, share: u32) -> usize {
        self.nodes.iter().filter(|(_, cores)| cores.len() >= share as usize).count()
    }

    /// The numbers of nodes that `cores` cores can be divided among: the least and the most, which may be
    /// the same. `None` if there is no even division.
    pub(super) fn divisions(&self, cores: u32) -> Option<(u32, u32)> {
        let divides =
            |nodes: &u32| cores % nodes == 0 && self.holding(cores / nodes) >= *nodes as usize;
        let most = cores.min(self.count() as u32);
        let least = (1..=most).find(divides)?;
        Some((least, (least..=most).rev().find(divides).unwrap_or(least)))
    }

    /// `share` cores on each of `count` nodes.
    fn chosen(&self, share: usize, count: usize) -> Option<Vec<u32>> {
        let mut large: Vec<&(Node, Vec<u32>)> =
            self.nodes.iter().filter(|(_, cores)| cores.len() >= share).collect();
        let least = self.divisions((share * count) as u32).map(|(least, _)| least as usize);
        if least.is_some_and(|least| count > least) {
            large = packages_in_turn(large);
        }
        let nodes = large.get(..count)?;
        Some(nodes.iter().flat_map(|(_, cores)| &cores[..share]).copied().collect())
    }
}

/// The first node of each package, then the second of each, and so on.
fn packages_in_turn(nodes: Vec<&(Node, Vec<u32>)>) -> Vec<&(Node, Vec<u32>)> {
    let rank = |at: usize| {
        nodes[..at].iter().filter(|((package, _), _)| *package == nodes[at].0.0).count()
    };
    let mut ranked: Vec<_> = (0..nodes.len()).map(|at| (rank(at), at)).collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, at)| nodes[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(machine: &str, on: &str, order: &Placement) -> Vec<u32> {
        let machine = Topology::synthetic(machine).unwrap();
        let places = places(&machine, on.parse().unwrap(), order).unwrap();
        places.iter().map(Place::cpu).collect()
    }

    #[test]
    fn places_fill_cores_in_the_order_of_the_placement() {
        let machine = "2 packages, 2 cores, 2 threads";
        assert_eq!(cpus(machine, "2x2", &Placement::Compact), [0, 1, 2, 3]);
        assert_eq!(cpus(machine, "2x2", &Placement::Scatter), [0, 1, 4, 5]);
        assert_eq!(cpus(machine, "4x1", &Placement::Compact), [0, 2, 4, 6]);
        assert_eq!(cpus(machine, "3", &Placement::Compact), [0, 1, 2]);
        let five = "5x1".parse().unwrap();
        let machine = Topology::synthetic(machine).unwrap();
        let refused = places(&machine, five, &Placement::Compact).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NoSuchPlace);
    }

    #[test]
    fn nodes_get_the_same_number_of_cores() {
        let machine = "2 packages, 4 cores, 2 threads";
        assert_eq!(cpus(machine, "4x1/1", &Placement::Compact), [0, 2, 4, 6]);
        assert_eq!(cpus(machine, "4x1/2", &Placement::Compact), [0, 2, 8, 10]);
        assert_eq!(cpus(machine, "2x2/2", &Placement::Compact), [0, 1, 8, 9]);
        assert_eq!(cpus(machine, "6x1/2", &Placement::Compact), [0, 2, 4, 8, 10, 12]);
        // Two packages of two nodes of two cores: 4 cores on 2 nodes are one package, 2 on 2 are not.
        let nodes = "2 packages, 2 nodes, 2 cores";
        assert_eq!(cpus(nodes, "4x1/2", &Placement::Compact), [0, 1, 2, 3]);
        assert_eq!(cpus(nodes, "2x1/2", &Placement::Compact), [0, 4]);
        assert_eq!(cpus(nodes, "4x1/4", &Placement::Compact), [0, 4, 2, 6]);
        let machine = Topology::synthetic(machine).unwrap();
        let refused = |on: &str| {
            places(&machine, on.parse().unwrap(), &Placement::Compact).unwrap_err().kind()
        };
        let far = places(&machine, "4x1/4".parse().unwrap(), &Placement::Compact).unwrap_err();
        assert!(far.to_string().contains("4 needed, 2 there"), "{far}");
        assert_eq!(refused("6x1/1"), ErrorKind::NoSuchPlace, "a node has four cores");
        assert_eq!(refused("4x1/4"), ErrorKind::NoSuchPlace, "there are two nodes");
    }
}
