//! Planning a session that programs the counters' registers itself.

use pacman_events::allocate::{Demand, Pmu};
use pacman_events::encode::Rings;
use pacman_events::partition::Partition;
use pacman_events::{Encoding, Family};

use crate::backend::Backend;
use crate::backend::msr::{Contexts, DevMsr, MsrBackend, MsrIo};
use crate::backend::summed::{Sum, Summed, sums};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{self, Event, Source};
use crate::sim::Machine;
use crate::topology::Topology;

use super::turns::Room;

/// What an event counts that names no ring: as everywhere, user mode.
const USER: Rings = Rings { user: true, kernel: false };

/// Whether to program the registers although nobody asked for it: on a Pentium 4, for events
/// of the hardware alone, where this process may.
///
/// Linux's driver there writes a stale period over a counter when it changes threads, so that a
/// count may be off by the counter's width. With the NMI watchdog on, a counter is the kernel's.
pub(super) fn are_preferred(
    events: &[Event],
    topology: &Topology,
    machine: Option<&Machine>,
) -> bool {
    let cpu = machine.map_or_else(event::machine::model, Machine::cpu);
    if cpu.facts().family != Family::NetBurst || !events.iter().all(Event::is_hardware) {
        return false;
    }
    let Some(first) = topology.allowed().iter().next() else { return false };
    match machine {
        Some(machine) => is_reachable(&machine.registers(), first),
        None => is_reachable(&DevMsr::new(), first),
    }
}

/// Whether this process can read the registers of `cpu` and nobody counts by the kernel's leave.
fn is_reachable(io: &impl MsrIo, cpu: u32) -> bool {
    !io.watchdog() && io.read(cpu, FIRST_COUNTER).is_ok()
}

/// `MSR_BPU_COUNTER0`.
const FIRST_COUNTER: u32 = 0x300;

/// A backend that gives each context of a core its share of the PMU.
pub(super) fn backend(
    events: &[Event],
    partition: Partition,
    topology: &Topology,
    machine: Option<&Machine>,
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
    let (contexts, pmu) = (topology.contexts_per_core(), pmu(topology, machine));
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
    let sums = sums(parts.into_iter());
    Ok(match machine {
        None => summed(MsrBackend::new(plan.contexts(), &lists, USER)?, sums),
        Some(machine) => {
            let (io, contexts) = (machine.registers(), Contexts::of(topology));
            summed(MsrBackend::with_io(io, contexts, plan.contexts(), &lists, USER)?, sums)
        }
    })
}

fn summed<B: Backend + 'static>(backend: B, sums: Option<Vec<Sum>>) -> Box<dyn Backend> {
    match sums {
        None => Box::new(backend),
        Some(sums) => Box::new(Summed { backend, sums }),
    }
}

/// What a thread has for sets of events that take turns.
pub(super) fn room(
    partition: Partition,
    topology: &Topology,
    machine: Option<&Machine>,
) -> Result<Room> {
    let pmu = pmu(topology, machine);
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

fn pmu(topology: &Topology, machine: Option<&Machine>) -> Pmu {
    let cpu = machine.map_or_else(event::machine::model, Machine::cpu);
    Pmu::of(cpu, topology.contexts_per_core() > 1)
}
