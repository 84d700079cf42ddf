//! Times of the allocator: `cargo bench -p pacman-events --bench allocate`.
//!
//! Prints the median and the worst of many runs. The limits that the crate promises
//! are checked, and a miss ends the program with status 1.

#[path = "../tests/allocation/netburst.rs"]
mod netburst;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use netburst::Event;
use pacman_events::allocate::{
    Alternative, EventConstraints, Pmu, Register, RegisterKind, SiblingErratum, allocate,
};
use pacman_events::encode::{Rings, Scope};
use pacman_events::partition::Partition;
use pacman_events::{CounterSet, CpuModel, Encoding, resolve};

fn main() -> ExitCode {
    let mut kept = true;
    kept &= report("allocate 8 events, Skylake, SMT off", Some(20), || {
        let (pmu, events) = skylake(8);
        move || {
            black_box(allocate(black_box(&pmu), black_box(&events)).is_ok());
        }
    });
    kept &= report("allocate 7 events, Skylake, SMT on", None, || {
        let (pmu, events) = skylake(4);
        let events = events[..7].to_vec();
        move || {
            black_box(allocate(black_box(&pmu), black_box(&events)).is_ok());
        }
    });
    kept &= report("joint NetBurst plan, 9 + 9 events", Some(100), || {
        let pmu = Pmu::netburst("p4", 2).allowing_all_counters();
        let threads = nine_and_nine();
        assert!(Partition::ByDemand.plan(&pmu, &threads).is_ok());
        move || {
            black_box(Partition::ByDemand.plan(black_box(&pmu), black_box(&threads)).is_ok());
        }
    });
    kept &= report("the same from encodings, demands included", Some(20), || {
        let skl = CpuModel::named("skl").expect("a shipped table");
        let pmu = Pmu::of(skl, false);
        let user = Rings { user: true, kernel: false };
        let encodings = named(skl, &SKYLAKE);
        move || {
            let demand = |encoding| EventConstraints::of(encoding, &pmu, user);
            let events: Vec<EventConstraints> = black_box(&encodings).iter().map(demand).collect();
            assert!(allocate(black_box(&pmu), &events).is_ok());
        }
    });
    random_netburst();
    random_sets();
    random_haswell();
    random_masks();
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a case 2000 times and compares its median with a limit in microseconds.
fn report<F: FnMut()>(name: &str, limit: Option<u64>, make: impl FnOnce() -> F) -> bool {
    let mut run = make();
    let mut times: Vec<Duration> = (0..2000)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let median = times[times.len() / 2];
    let kept = limit.is_none_or(|limit| median < Duration::from_micros(limit));
    let promise = match limit {
        Some(limit) => format!(" (limit {limit} us: {})", if kept { "kept" } else { "MISSED" }),
        None => String::new(),
    };
    println!("{name:<44} median {median:>10.2?}  worst {:>10.2?}{promise}", times[1999]);
    kept
}

/// Eight events of the shipped table: three fixed, two off-core, three general.
const SKYLAKE: [&str; 8] = [
    "INST_RETIRED.ANY",
    "CPU_CLK_UNHALTED.THREAD",
    "CPU_CLK_UNHALTED.REF_TSC",
    "OFFCORE_RESPONSE.DEMAND_DATA_RD.L3_HIT.ANY_SNOOP",
    "OFFCORE_RESPONSE.DEMAND_RFO.L3_HIT.ANY_SNOOP",
    "CYCLE_ACTIVITY.STALLS_L1D_MISS",
    "L1D_PEND_MISS.PENDING",
    "UOPS_ISSUED.STALL_CYCLES",
];

fn named(cpu: CpuModel, names: &[&str]) -> Vec<Encoding> {
    let encoding = |name: &&str| {
        let resolved = resolve(cpu, name).unwrap_or_else(|refusal| panic!("{refusal}"));
        resolved.encoding().expect("a single event").clone()
    };
    names.iter().map(encoding).collect()
}

/// Three fixed events, two off-core responses and three events of restricted counters.
fn skylake(general: u32) -> (Pmu, Vec<EventConstraints>) {
    let all = CounterSet::first(general);
    let low = CounterSet::first(4);
    let pmu = Pmu::per_context("skl", if general == 4 { 2 } else { 1 }, all)
        .with_fixed(CounterSet::first(3));
    let fixed = |name, n| {
        EventConstraints::new(
            name,
            [Alternative::fixed(CounterSet::only(n)), Alternative::general(all)],
        )
    };
    let offcore = |name, value| {
        let register = |msr| Register::msr(RegisterKind::OffcoreResponse, msr, Scope::Thread);
        let alternative = |msr| Alternative::general(low).claiming(register(msr), value);
        EventConstraints::new(name, [alternative(0x1a6), alternative(0x1a7)])
    };
    let events = vec![
        fixed("INST_RETIRED.ANY", 0),
        fixed("CPU_CLK_UNHALTED.THREAD", 1),
        fixed("CPU_CLK_UNHALTED.REF_TSC", 2),
        offcore("OFFCORE_RESPONSE.DEMAND_DATA_RD", 0x3_fc00_0001),
        offcore("OFFCORE_RESPONSE.DEMAND_RFO", 0x3_fc00_0002),
        EventConstraints::new("CYCLE_ACTIVITY.STALLS_L1D_MISS", [Alternative::general(low)]),
        EventConstraints::new("L1D_PEND_MISS.PENDING", [Alternative::general(low)]),
        EventConstraints::new("UOPS_ISSUED.STALL_CYCLES", [Alternative::general(all)]),
    ];
    (pmu, events)
}

/// 18 events that fill every counter of the core: two or three of each group and half.
fn nine_and_nine() -> [Vec<EventConstraints>; 2] {
    let events = netburst::events();
    let list = |names: &[&str]| {
        names
            .iter()
            .map(|name| events.iter().find(|event| event.name == *name).unwrap().demand(1))
            .collect()
    };
    let first = [
        "global_power_events",
        "BSQ_cache_reference",
        "uop_queue_writes",
        "TC_deliver_mode",
        "memory_cancel",
        "x87_FP_uop",
        "instr_retired",
        "branch_retired",
        "resource_stall",
    ];
    let second = [
        "ITLB_reference",
        "BPU_fetch_request",
        "uop_queue_writes",
        "retired_branch_type",
        "memory_complete",
        "packed_DP_uop",
        "uops_retired",
        "branch_retired",
        "resource_stall",
    ];
    [list(&first), list(&second)]
}

/// A fixed pseudo-random sequence, so that every run measures the same cases.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) as usize) % bound
    }
}

/// Prints median and worst of cases that are all different.
fn spread(name: &str, mut times: Vec<(Duration, String)>) {
    times.sort();
    let (worst, case) = &times[times.len() - 1];
    println!(
        "{name:<44} median {:>10.2?}  worst {worst:>10.2?}  of {} ({case})",
        times[times.len() / 2].0,
        times.len(),
    );
}

fn random_list(random: &mut Random, events: &[Event], most: usize) -> Vec<EventConstraints> {
    let count = random.below(most + 1);
    (0..count)
        .map(|_| {
            let mask = random.below(3) as u64 + 1;
            events[random.below(events.len())].demand(mask)
        })
        .collect()
}

fn random_netburst() {
    let (mut random, events) = (Random(1), netburst::events());
    let pmu = Pmu::netburst("p4", 2);
    let (mut placed, mut refused) = (Vec::new(), Vec::new());
    for _ in 0..20_000 {
        let threads = [random_list(&mut random, &events, 9), random_list(&mut random, &events, 9)];
        let case = format!("{} + {} events", threads[0].len(), threads[1].len());
        let start = Instant::now();
        let plan = Partition::ByDemand.plan(&pmu, &threads);
        let time = start.elapsed();
        match plan {
            Ok(_) => placed.push((time, case)),
            Err(_) => refused.push((time, case)),
        }
    }
    spread("random joint NetBurst plans, placed", placed);
    spread("random joint NetBurst plans, explained", refused);
}

fn random_sets() {
    let (mut random, events) = (Random(2), netburst::events());
    let pmu = Pmu::netburst("p4", 2);
    let (mut times, mut proved) = (Vec::new(), 0);
    for _ in 0..2_000 {
        let threads =
            [random_list(&mut random, &events, 12), random_list(&mut random, &events, 12)];
        let case = format!("{} + {} events", threads[0].len(), threads[1].len());
        let start = Instant::now();
        let schedule = Partition::ByDemand.sets(&pmu, &threads).unwrap();
        times.push((start.elapsed(), case));
        proved += usize::from(schedule.is_fewest());
    }
    println!("{proved} of {} schedules are proved to be the fewest sets", times.len());
    spread("random NetBurst schedules, up to 24 events", times);
}

/// Eight-way mixes of restricted, excluding and off-core events on both siblings.
fn random_haswell() {
    let mut random = Random(3);
    let pmu = Pmu::per_context("hsw", 2, CounterSet::first(4))
        .with_fixed(CounterSet::first(3))
        .with_erratum(SiblingErratum { name: "HSD29", budget: Some(2) });
    let masks = [0xf, 0xf, 0xf, 0x4, 0x8, 0x3, 0x2];
    let mut event = || {
        let low = CounterSet::from_bits(masks[random.below(masks.len())]);
        match random.below(6) {
            0 => EventConstraints::new("d1", [Alternative::general(CounterSet::first(4))])
                .excluding_sibling(),
            1 => {
                let value = random.below(4) as u64;
                let register =
                    |msr| Register::msr(RegisterKind::OffcoreResponse, msr, Scope::Thread);
                let alternative = |msr| Alternative::general(low).claiming(register(msr), value);
                EventConstraints::new("b7", [alternative(0x1a6), alternative(0x1a7)])
            }
            2 => EventConstraints::new(
                "c0",
                [Alternative::fixed(CounterSet::only(0)), Alternative::general(low)],
            ),
            _ => EventConstraints::new("other", [Alternative::general(low)]),
        }
    };
    let (mut plans, mut sets, mut proved) = (Vec::new(), Vec::new(), 0);
    for round in 0..2_000 {
        let mut list = |most: usize| (0..most).map(|_| event()).collect::<Vec<_>>();
        let threads = [list(1 + round % 4), list(1 + round / 4 % 4)];
        let case = format!("{} + {} events", threads[0].len(), threads[1].len());
        let start = Instant::now();
        black_box(Partition::ByDemand.plan(&pmu, &threads).is_ok());
        plans.push((start.elapsed(), case));
        let threads = [list(1 + round % 12), list(1 + round / 12 % 12)];
        let case = format!("{} + {} events", threads[0].len(), threads[1].len());
        let start = Instant::now();
        let schedule = Partition::ByDemand.sets(&pmu, &threads).unwrap();
        sets.push((start.elapsed(), case));
        proved += usize::from(schedule.is_fewest());
    }
    spread("random Haswell plans", plans);
    println!("{proved} of {} schedules are proved to be the fewest sets", sets.len());
    spread("random Haswell schedules, up to 24 events", sets);
}

/// Up to 24 events of one thread, each restricted to a random half of eight counters.
fn random_masks() {
    let mut random = Random(4);
    let pmu = Pmu::per_context("masks", 1, CounterSet::first(8));
    let (mut sets, mut proved) = (Vec::new(), 0);
    for round in 0..2_000 {
        let event = |_| {
            let mask: u64 = (0..3).fold(0, |mask, _| mask | 1 << random.below(8));
            EventConstraints::new("event", [Alternative::general(CounterSet::from_bits(mask))])
        };
        let list: Vec<EventConstraints> = (0..1 + round % 24).map(event).collect();
        let case = format!("{} events", list.len());
        let start = Instant::now();
        let schedule = Partition::ByDemand.sets(&pmu, &[list]).unwrap();
        sets.push((start.elapsed(), case));
        proved += usize::from(schedule.is_fewest());
    }
    println!("{proved} of {} schedules are proved to be the fewest sets", sets.len());
    spread("random restricted schedules, up to 24 events", sets);
}
