//! Planning a session that programs the counters' registers itself.

use pacman_events::Encoding;
use pacman_events::allocate::{EventConstraints, Pmu};
use pacman_events::encode::Rings;
use pacman_events::partition::Partition;

use crate::backend::Backend;
use crate::backend::beside::{Beside, Part};
use crate::backend::msr::{CpuMap, DevMsr, MsrBackend, MsrIo};
use crate::backend::summed::{Sum, Summed, sums};
use crate::event::{Event, Source};
use crate::platform::PlatformRef;
use pacman_events::{Error, ErrorKind, Result};
use pacman_topology::Topology;

use super::rotation::Room;

/// The mode of an event that names none: user mode, as everywhere.
const USER: Rings = Rings { user: true, kernel: false };

/// The obstacle to programming the registers of `cpu`: the system's answer, and the remedy. `None`
/// where there is no obstacle.
///
/// With the NMI watchdog on, a counter is the kernel's.
pub(super) fn obstacle(topology: &Topology, platform: &PlatformRef) -> Option<(ErrorKind, String)> {
    let cpu = topology.allowed().iter().next()?;
    match platform.msr() {
        Some(io) => obstacle_on(&io, cpu),
        None => obstacle_on(&DevMsr::new(), cpu),
    }
}

fn obstacle_on(io: &impl MsrIo, cpu: u32) -> Option<(ErrorKind, String)> {
    if io.watchdog() {
        let line = "the NMI watchdog holds a counter; sysctl kernel.nmi_watchdog=0 frees it";
        return Some((ErrorKind::Conflict, line.into()));
    }
    let errno = io.read(cpu, TIME_STAMP).err()?.0;
    let said = format!("/dev/cpu/{cpu}/msr says {}", std::io::Error::from_raw_os_error(errno));
    Some(match errno {
        // The device was reached, and this processor has no such register.
        libc::EIO => return None,
        libc::EACCES | libc::EPERM => {
            (ErrorKind::Permission, format!("{said}; run as root (CAP_SYS_RAWIO)"))
        }
        _ => (ErrorKind::Unsupported, format!("{said}; load the msr module (modprobe msr)")),
    })
}

/// `IA32_TIME_STAMP_COUNTER`, which every processor has.
const TIME_STAMP: u32 = 0x10;

/// A backend of `events` that does not use the kernel's driver for hardware events.
///
/// `kernel` makes a backend for the kernel's own events.
pub(super) fn backend_beside(
    events: &[Event],
    partition: Partition,
    topology: &Topology,
    platform: &PlatformRef,
    kernel: impl FnOnce(&[Event]) -> Result<Box<dyn Backend>>,
) -> Result<Box<dyn Backend>> {
    let (hardware, own): (Vec<usize>, Vec<usize>) =
        (0..events.len()).partition(|at| events[*at].is_hardware());
    let of = |places: &[usize]| places.iter().map(|at| events[*at].clone()).collect::<Vec<_>>();
    let registers = backend(&of(&hardware), partition, topology, platform)?;
    if own.is_empty() {
        return Ok(registers);
    }
    let kernel = kernel(&of(&own))?;
    let parts = [Part { places: hardware, of: registers }, Part { places: own, of: kernel }];
    Ok(Box::new(Beside { parts }))
}
/// A backend that gives each context of a core its share of the PMU.
pub(super) fn backend(
    events: &[Event],
    partition: Partition,
    topology: &Topology,
    platform: &PlatformRef,
) -> Result<Box<dyn Backend>> {
    let (mut encodings, mut parts) = (Vec::new(), Vec::new());
    for (place, event) in events.iter().enumerate() {
        let Source::Hardware(terms) = event.source() else {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("cannot count {event} by registers: the kernel counts it; leave it out"),
            ));
        };
        for term in terms {
            if let Some(core_type) = &term.core_type {
                return Err(by_core_type(event, core_type.name()));
            }
            parts.push(Sum { from: parts.len(), to: place, coefficient: term.coefficient });
            encodings.push(term.encoding.clone());
        }
    }
    let (contexts, pmu) = (topology.contexts_per_core(), pmu(topology, platform));
    let lists: Vec<Vec<Encoding>> = (0..contexts)
        .map(|context| match partition {
            Partition::Whole { owner } if usize::from(owner) != context => Vec::new(),
            _ => encodings.clone(),
        })
        .collect();
    let on = |pmu: &Pmu| {
        let demands = |list: &Vec<Encoding>| {
            list.iter()
                .map(|event| EventConstraints::of(event, pmu, USER))
                .collect::<Vec<EventConstraints>>()
        };
        partition.plan(pmu, &lists.iter().map(demands).collect::<Vec<_>>())
    };
    let plan = on(&pmu).or_else(|conflict| match partition {
        // Plans leave NetBurst's counter 1 alone, as Linux does, unless the only user of the
        // whole PMU needs it.
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
    Ok(match platform.msr() {
        None => summed(MsrBackend::new(plan.contexts(), &lists, USER)?, sums),
        Some(io) => {
            let contexts = CpuMap::of(topology);
            summed(MsrBackend::with_io(io, contexts, plan.contexts(), &lists, USER)?, sums)
        }
    })
}

/// Plans give every core the same counters, and core types differ in them.
#[cold]
fn by_core_type(event: &Event, pmu: &str) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!(
            "cannot count {event} by registers on a hybrid processor, whose core types have \
             counters of their own ({pmu} and others); count through the kernel"
        ),
    )
}

fn summed<B: Backend + 'static>(backend: B, sums: Option<Vec<Sum>>) -> Box<dyn Backend> {
    match sums {
        None => Box::new(backend),
        Some(sums) => Box::new(Summed { backend, sums }),
    }
}

/// The counters that a thread has for event sets.
pub(super) fn room(
    partition: Partition,
    topology: &Topology,
    platform: &PlatformRef,
) -> Result<Room> {
    let pmu = pmu(topology, platform);
    if partition == Partition::ByDemand && pmu.shares_counters() && pmu.contexts() > 1 {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "cannot rotate by registers on siblings that share counters by demand: each \
             changes its set when it likes, and what one leaves the other may have taken; split \
             the core evenly (Partition::Even) or give it to one context (Partition::Whole)",
        ));
    }
    Ok(Room { pmu, partition })
}

fn pmu(topology: &Topology, platform: &PlatformRef) -> Pmu {
    Pmu::of(platform.cpu_model(), topology.contexts_per_core() > 1)
}
