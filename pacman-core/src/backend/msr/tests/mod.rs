//! Tests of the backend over registers that are a map in memory.

mod errors;
mod fake;
mod flags;
mod ownership;
mod sequence;
mod signals;

use pacman_events::allocate::{EventConstraints, Pmu};
use pacman_events::encode::Rings;
use pacman_events::partition::Partition;
use pacman_events::{CpuModel, Encoding};

use super::{CpuMap, MsrBackend};
use crate::backend::{Backend, Counters, Reading, Target};
use pacman_events::{Error, Result};
use pacman_topology::Topology;

use fake::Fake;

const USER: Rings = Rings { user: true, kernel: false };

/// A backend over `io` for one core with two contexts; `lists` has the events of each.
fn backend(io: &Fake, table: &str, lists: [&[&str]; 2]) -> Result<MsrBackend<Fake>> {
    let cpu = CpuModel::named(table).unwrap();
    let pmu = Pmu::of(cpu, true).allowing_all_counters();
    let encode = |names: &[&str]| -> Vec<Encoding> {
        let one =
            |name: &&str| pacman_events::resolve(cpu, name).unwrap().encoding().unwrap().clone();
        names.iter().map(one).collect()
    };
    let events = lists.map(encode);
    let demands = events
        .each_ref()
        .map(|list| list.iter().map(|it| EventConstraints::of(it, &pmu, USER)).collect::<Vec<_>>());
    let plan = Partition::ByDemand.plan(&pmu, &demands).unwrap();
    let contexts = CpuMap::of(&Topology::synthetic("1 core, 2 threads")?);
    MsrBackend::with_io(io.clone(), contexts, plan.contexts(), &events, USER)
}

/// Counters opened on `cpu`.
fn open(io: &Fake, backend: &MsrBackend<Fake>, cpu: u32) -> Result<Box<dyn Counters>> {
    io.run_on(cpu);
    backend.open(Target::Caller)
}

fn refusal(io: &Fake, backend: &MsrBackend<Fake>, cpu: u32) -> Error {
    open(io, backend, cpu).err().expect("a refusal")
}

fn read(counters: &mut dyn Counters) -> Result<Reading> {
    let mut reading = Reading::EMPTY;
    counters.read(&mut reading).map(|()| reading)
}
