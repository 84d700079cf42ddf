//! The registers against the event tables, a brute force and the real driver.

mod amd;
mod brute_force;
mod driver;
mod every_event;
mod intel;
mod netburst;

use pacman_events::allocate::{Counter, CounterUse, EventConstraints, Placement, Pmu};
use pacman_events::encode::{Rings, Scope};
use pacman_events::partition::{CorePlan, Partition};
use pacman_events::{CpuModel, Encoding, Family, resolve};

use super::{Activity, Clock, CorePmu, Ring, Signal, Slice};

const USER: Rings = Rings { user: true, kernel: false };

/// TSC ticks to a tick of the slow clock, in all tests.
const RATIO: u64 = 7;

fn model(name: &str) -> CpuModel {
    CpuModel::named(name).unwrap()
}

fn core(name: &str) -> CorePmu {
    let contexts = model(name).facts().smt_ways;
    CorePmu::new(model(name), contexts).unwrap().with_bus_ratio(RATIO)
}

fn encoding(model: CpuModel, name: &str) -> Encoding {
    resolve(model, name).unwrap().encoding().unwrap().clone()
}

/// The joint plan of one list of events per context, in user mode unless they say.
fn plan(model: CpuModel, lists: &[Vec<Encoding>]) -> Option<CorePlan> {
    let pmu = Pmu::of(model, model.facts().smt_ways > 1).allowing_all_counters();
    let demands: Vec<Vec<EventConstraints>> = lists
        .iter()
        .map(|list| list.iter().map(|it| EventConstraints::of(it, &pmu, USER)).collect())
        .collect();
    Partition::ByDemand.plan(&pmu, &demands).ok()
}

/// Writes the registers of a placement as the manuals define, not as the driver does. Returns the
/// index for RDPMC.
fn program(core: &mut CorePmu, context: u8, placement: &Placement, encoding: &Encoding) -> u32 {
    let rings = if encoding.rings == Rings::default() { USER } else { encoding.rings };
    for (msr, value) in placement.registers() {
        core.write(context, msr, value).unwrap();
    }
    let counter = placement.counter().unwrap();
    let ring_bits = u64::from(rings.user) << 16 | u64::from(rings.kernel) << 17;
    match (encoding.cpu.facts().family, counter) {
        (Family::NetBurst, _) => {
            let n = u32::from(counter.number());
            if let Some(Counter::General(awake)) = placement.awake() {
                core.write(context, 0x360 + u32::from(awake), 0x3_1000).unwrap();
            }
            let cccr = encoding.netburst.unwrap().cccr();
            core.write(context, 0x360 + n, u64::from(cccr)).unwrap();
            n
        }
        (Family::Amd, _) => {
            let n = u32::from(counter.number());
            let six = encoding.cpu.facts().general.len() > 4;
            let control = |n: u32| if six { 0xc001_0200 + 2 * n } else { 0xc001_0000 + n };
            core.write(context, control(n), encoding.evtsel & !0x3_0000 | ring_bits | 1 << 22)
                .unwrap();
            if placement.counter_use() == CounterUse::Pair {
                core.write(context, control(n + 1), 0xf_0040_00ff).unwrap();
            }
            n
        }
        (_, Counter::Fixed(n)) => {
            let any = u64::from(encoding.limits.counts == Scope::Core) << 2;
            let bits = u64::from(rings.kernel) | u64::from(rings.user) << 1 | any;
            let kept = core.read(context, 0x38d).unwrap();
            core.write(context, 0x38d, kept | bits << (4 * n)).unwrap();
            let kept = core.read(context, 0x38f).unwrap();
            core.write(context, 0x38f, kept | 1 << (32 + n)).unwrap();
            1 << 30 | u32::from(n)
        }
        (_, Counter::General(n)) => {
            let mut select = encoding.evtsel & !0x3_0000;
            if let Some(extra) = &encoding.extra {
                let written = |msr| placement.registers().any(|(it, _)| it == msr);
                let choice = extra.choices().iter().find(|it| written(it.msr)).unwrap();
                select = select & !0xffff | u64::from(choice.select);
            }
            core.write(context, 0x186 + u32::from(n), select | ring_bits | 1 << 22).unwrap();
            u32::from(n)
        }
    }
}

/// A core of one event, on context 0, and where it is read; `None` where the event cannot
/// be placed (it needs SMT off, or counts nothing by itself).
fn listening(fresh: &CorePmu, encoding: &Encoding) -> Option<(CorePmu, u32)> {
    let plan = plan(encoding.cpu, &[vec![encoding.clone()]])?;
    let placement = plan.contexts()[0].placements().first()?.clone();
    placement.counter()?;
    let mut core = fresh.clone();
    let index = program(&mut core, 0, &placement, encoding);
    Some((core, index))
}

/// The contexts' activity in which only context `context` does something.
fn alone<'a>(core: &CorePmu, context: u8, slice: Slice<'a>) -> Vec<Activity<'a>> {
    let halted = Activity::Halted { reference: slice.reference };
    let mut all = vec![halted; usize::from(core.contexts())];
    all[usize::from(context)] = Activity::Active(slice);
    all
}

/// A slice in which what `signal` is about happens `n` times and nothing else does.
fn happening<'a>(
    signal: Signal,
    n: u64,
    ring: Ring,
    room: &'a mut [(Signal, u64); 1],
) -> Slice<'a> {
    let nothing = Slice { core_cycles: 0, reference_cycles: 0, ..Slice::of(ring, 1000 * RATIO) };
    match signal {
        Signal::Instructions => Slice { instructions: n, ..nothing },
        Signal::Clock(Clock::Core | Clock::CoreShare | Clock::NonSleep) => {
            Slice { core_cycles: n, ..nothing }
        }
        Signal::Clock(Clock::Reference) => Slice { reference_cycles: n, ..nothing },
        Signal::Clock(_) => Slice { reference_cycles: n * RATIO, ..nothing },
        _ => {
            *room = [(signal, n)];
            Slice { signals: room, ..nothing }
        }
    }
}

/// The count of one counter after one slice on `context`.
fn count(core: &CorePmu, index: u32, context: u8, slice: Slice<'_>) -> u64 {
    let mut core = core.clone();
    core.pass(&alone(&core, context, slice));
    core.rdpmc(0, index).unwrap()
}

/// Whether 3Ch/01h counts TSC ticks.
fn counts_tsc(model: CpuModel) -> bool {
    let old = ["nhm", "wsm"].iter().any(|name| model.name().starts_with(name));
    old || resolve(model, "CPU_CLK_UNHALTED.REF_TSC_P").is_ok()
}
