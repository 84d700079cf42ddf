//! Planning a session that programs the counters' registers itself.

use pacman_events::Encoding;
use pacman_events::allocate::{Demand, Pmu};
use pacman_events::encode::Rings;
use pacman_events::partition::Partition;

use crate::backend::Backend;
use crate::backend::msr::MsrBackend;
use crate::backend::summed::{Summed, sums};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Source, machine};
use crate::topology::Topology;

use super::turns::Room;

/// What an event counts that names no ring: as everywhere, user mode.
const USER: Rings = Rings { user: true, kernel: false };

/// A backend that gives each context of a core its share of the PMU.
pub(super) fn backend(
    events: &[Event],
    partition: Partition,
    topology: &Topology,
) -> Result<Box<dyn Backend>> {
    let (mut encodings, mut parts) = (Vec::new(), Vec::new());
    for (place, event) in events.iter().enumerate() {
        let Source::Hardware(terms) = &event.source else {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("cannot count {event} by registers: the kernel counts it; leave it out"),
            ));
        };
        for term in terms {
            encodings.push(term.encoding.clone());
            parts.push((place, term.coefficient));
        }
    }
    let (contexts, pmu) = (topology.contexts_per_core(), pmu(topology));
    let lists: Vec<Vec<Encoding>> = (0..contexts)
        .map(|context| match partition {
            Partition::Whole { owner } if usize::from(owner) != context => Vec::new(),
            _ => encodings.clone(),
        })
        .collect();
    let on = |pmu: &Pmu| {
        let demands = |list: &Vec<Encoding>| {
            list.iter().map(|event| Demand::of(event, pmu, USER)).collect::<Vec<Demand>>()
        };
        partition.plan(pmu, &lists.iter().map(demands).collect::<Vec<_>>())
    };
    let plan = on(&pmu).or_else(|conflict| match partition {
        // Plans leave NetBurst's counter 1 alone, as Linux does, unless somebody who is
        // to have the whole PMU needs it.
        Partition::Whole { .. } => on(&pmu.allowing_all_counters()).map_err(|_| conflict),
        _ => Err(conflict),
    });
    let plan = plan.map_err(|conflict| {
        Error::new(
            ErrorKind::Conflict,
            format!(
                "cannot give {} to every thread of a core: {}; what helps: {}",
                events.iter().map(Event::name).collect::<Vec<_>>().join(", "),
                conflict.cause(),
                conflict.remedy()
            ),
        )
    })?;
    let backend = MsrBackend::new(plan.contexts(), &lists, USER)?;
    Ok(match sums(parts.into_iter()) {
        None => Box::new(backend),
        Some(sums) => Box::new(Summed { backend, sums }),
    })
}

/// What a thread has for sets of events that take turns.
pub(super) fn room(partition: Partition, topology: &Topology) -> Result<Room> {
    let pmu = pmu(topology);
    if partition == Partition::ByDemand && pmu.shares_counters() && pmu.contexts() > 1 {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "cannot take turns by registers on siblings that share counters by demand: each \
             changes its set when it likes, and what one leaves the other may have taken; split \
             the core evenly (Partition::Even) or give it to one context (Partition::Whole)",
        ));
    }
    Ok(Room { pmu, partition })
}

fn pmu(topology: &Topology) -> Pmu {
    Pmu::of(machine::model(), topology.contexts_per_core() > 1)
}
