//! Intel's and AMD's counters, programmed directly on both siblings of a core.

use std::sync::Barrier;

use pacman_core::backend::msr::{CpuMap, DevMsr, MsrBackend};
use pacman_core::backend::{Backend, Reading, Target};
use pacman_core::{Binding, Result, Topology};
use pacman_events::allocate::{EventConstraints, Pmu};
use pacman_events::encode::Rings;
use pacman_events::partition::Partition;
use pacman_events::{CpuModel, Encoding};

use crate::doorbell::{known_loop, ring};

const USER: Rings = Rings { user: true, kernel: false };

/// Counts `names` on every sibling at once and prints a line an event: sibling, name,
/// how the count was read, the count, the rings, the instructions of the known loop.
pub(crate) fn run(names: &str) -> Result<()> {
    DevMsr::new().allow_user_rdpmc().expect("the lab's guest is root");
    let (topology, contexts) = (Topology::detect()?, CpuMap::detect()?);
    let cpu = CpuModel::detect(contexts.processor().expect("x86")).expect("a known model");
    let pmu = Pmu::of(cpu, true);
    let resolve = |name| pacman_events::resolve(cpu, name).expect("an event of this model");
    let events: Vec<Encoding> = names
        .split(',')
        .map(|name| resolve(name).encoding().expect("a single event").clone())
        .collect();
    let demands: Vec<EventConstraints> =
        events.iter().map(|it| EventConstraints::of(it, &pmu, USER)).collect();
    let siblings = topology.cores()[0].cpus.clone();
    let lists = vec![demands; siblings.len()];
    let plan = Partition::ByDemand.plan(&pmu, &lists).expect("a legal plan");
    let lists = vec![events.clone(); siblings.len()];
    let backend = MsrBackend::new(plan.contexts(), &lists, USER)?;
    let together = Barrier::new(siblings.len());
    std::thread::scope(|scope| {
        let threads: Vec<_> = siblings
            .iter()
            .map(|cpu| {
                let (topology, backend, together, events) =
                    (&topology, &backend, &together, &events);
                scope.spawn(move || -> Result<()> {
                    let _bound = Binding::bind(topology, &topology.place(*cpu)?)?;
                    let counters = backend.open(Target::Caller)?;
                    let (mut before, mut after) = (Reading::EMPTY, Reading::EMPTY);
                    let rings = |event: usize| 100 * (event as u64 + 1) + u64::from(*cpu);
                    let iterations = 50_000 + 1_000 * u64::from(*cpu);
                    together.wait();
                    counters.read(&mut before)?;
                    for (event, encoding) in events.iter().enumerate() {
                        ring(selector(encoding), rings(event));
                    }
                    known_loop(iterations);
                    counters.read(&mut after)?;
                    together.wait();
                    for (event, encoding) in events.iter().enumerate() {
                        let (path, counted) =
                            (counters.caps().read_path, after.count_since(&before, event));
                        println!(
                            "counted {cpu} {} {path:?} {counted} {} {}",
                            encoding.name,
                            rings(event),
                            2 * iterations
                        );
                    }
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })
}

/// The doorbell's name for an event: its selector without rings and enable.
fn selector(encoding: &Encoding) -> u64 {
    encoding.evtsel & !0x0073_0000
}
