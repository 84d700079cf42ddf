//! The package, core and sibling of each processor number.

use std::collections::BTreeMap;

use pacman_regions::{Machine, MachineContext};
use serde::{Deserialize, Serialize};

/// The place of a thread that did not move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::run) struct Seat {
    pub(in crate::run) package: u32,
    pub(in crate::run) core: u32,
    pub(in crate::run) sibling: u32,
}

impl Seat {
    pub(super) fn are_siblings((one, other): (Seat, Seat)) -> bool {
        one.core == other.core && one.sibling != other.sibling
    }
}

/// The seats of a host, by the kernel's number of the context; empty if the topology is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::run) struct Seats(BTreeMap<u32, Seat>);

impl Seats {
    pub(in crate::run) fn of(machine: &Machine) -> Seats {
        let seat = |context: &MachineContext| {
            let MachineContext { cpu, package, core, sibling } = *context;
            (cpu, Seat { package, core, sibling })
        };
        Seats(machine.contexts.iter().map(seat).collect())
    }

    #[cfg(test)]
    pub(in crate::run) fn on(topology: &pacman_core::Topology) -> Seats {
        Seats::of(&Machine::of(topology, String::new(), None))
    }

    /// The largest number of contexts on one core; 0 if the topology is not known.
    pub(super) fn contexts_per_core(&self) -> u32 {
        let mut cores: BTreeMap<u32, u32> = BTreeMap::new();
        self.0.values().for_each(|seat| *cores.entry(seat.core).or_default() += 1);
        cores.values().copied().max().unwrap_or(0)
    }

    pub(super) fn get(&self, cpu: u32) -> Option<Seat> {
        self.0.get(&cpu).copied()
    }
}
