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
    let contexts = topology.contexts_per_core();
    let lists: Vec<Vec<Encoding>> = (0..contexts)
        .map(|context| match partition {
            Partition::Whole { owner } if usize::from(owner) != context => Vec::new(),
            _ => encodings.clone(),
        })
        .collect();
    let pmu = Pmu::of(machine::model(), contexts > 1);
    let demands: Vec<Vec<Demand>> = lists
        .iter()
        .map(|list| list.iter().map(|event| Demand::of(event, &pmu, USER)).collect())
        .collect();
    let plan = partition.plan(&pmu, &demands).map_err(|conflict| {
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
