//! Slots and stalls of Arm's cores, and the modes of one thread on Olympus and POWER.

use pacman_events::allocate::Pmu;
use pacman_events::{CpuModel, EventGroup, resolve};
use pacman_metrics::language::{Countable, Metric, builtin, one_of_each_name};
use pacman_metrics::slots::SlotShares;

fn model(name: &str) -> CpuModel {
    CpuModel::named(name).unwrap_or_else(|| panic!("no table {name}"))
}

/// The metric of this name as a model counts it.
fn way(cpu: &str, name: &str) -> Option<&'static Metric> {
    let counts = |metric: &Metric| metric.events().iter().all(|it| resolve(model(cpu), it).is_ok());
    let named = builtin().iter().filter(|metric| metric.name() == name);
    one_of_each_name(named, counts).into_iter().next().filter(|metric| counts(metric))
}

fn value(cpu: &str, name: &str, counts: &[(&str, u64)]) -> f64 {
    let metric = way(cpu, name).unwrap_or_else(|| panic!("{cpu} does not count {name}"));
    let count =
        |event: &str| counts.iter().find(|(known, _)| *known == event).map(|(_, count)| *count);
    metric.value(count).unwrap()
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-12
}

#[test]
fn the_categories_of_slots_are_those_of_the_vendors_formulas() {
    let divided = [
        ("SLOTS", 10_000),
        ("OP_RETIRED", 3_600),
        ("OP_SPEC", 4_000),
        ("STALL_SLOT", 6_000),
        ("TOPDOWN_FRONTEND_BOUND", 1_500),
        ("TOPDOWN_BACKEND_BOUND", 4_000),
    ];
    // Arm's formulas of V2, with a front end of 2,000 and a back end of 3,000 slots.
    let apart = [
        ("SLOTS", 8_000),
        ("CYCLES", 1_000),
        ("OP_RETIRED", 2_700),
        ("OP_SPEC", 3_000),
        ("STALL_SLOT_FRONTEND", 2_000),
        ("STALL_SLOT_BACKEND", 3_000),
        ("BR_MIS_PRED", 20),
    ];
    for (cpu, counts, expected) in [
        ("olympus", &divided[..], [0.36, 0.09, 0.15, 0.4]),
        ("neoverse-v1", &divided[..], [0.36, 0.09, 0.15, 0.4]),
        ("neoverse-n3", &divided[..], [0.36, 0.09, 0.15, 0.4]),
        ("neoverse-n2", &apart[..], [0.3375, 0.1175, 0.23, 0.315]),
        ("neoverse-v2", &apart[..], [0.3375, 0.1175, 0.23, 0.315]),
    ] {
        let count = |event: &str| counts.iter().find(|(name, _)| *name == event).map(|it| it.1);
        let all = SlotShares::of(count).unwrap();
        let found = [all.retiring, all.bad_speculation, all.frontend_bound, all.backend_bound];
        assert!(
            found.iter().zip(expected).all(|(one, other)| close(*one, other)),
            "{cpu}: {found:?}"
        );
        assert!(close(all.sum(), 1.0) && all.smt_contention.is_none(), "{cpu}");
        // The group of events has what the metrics need.
        let group = EventGroup::TopDown.events(model(cpu)).expect(cpu);
        assert!(counts.iter().all(|(name, _)| group.contains(name)), "{cpu}: {group:?}");
        assert_eq!(group.len(), counts.len(), "{cpu}");
    }
    for cpu in ["neoverse-n1", "thunderx2", "monaka", "power9", "z16"] {
        assert_eq!(EventGroup::TopDown.events(model(cpu)), None, "{cpu}");
    }
}

/// All events of the group fit the counters of a thread, the cycle counter among them.
#[test]
fn the_categories_are_counted_at_once() {
    for cpu in
        ["olympus", "neoverse-n2", "neoverse-n3", "neoverse-v1", "neoverse-v2", "neoverse-v3"]
    {
        let sum = EventGroup::TopDown.events(model(cpu)).unwrap().join(" + ");
        let metric = Metric::read_all("t", &format!("all | 1 | {sum} | words")).unwrap().remove(0);
        let pmu = Pmu::of(model(cpu), true);
        let countable = metric.countable(&pmu, |event| resolve(model(cpu), event));
        assert_eq!(countable, Countable::AtOnce, "{cpu}");
    }
}

/// Navarro et al.: 1,000 cycles of ThunderX2 with 1,200 instructions on its four slots a cycle.
#[test]
fn the_stack_of_synpa_divides_the_cycles() {
    let counts = [
        ("INST_SPEC", 1_200),
        ("SLOTS", 4_000),
        ("CYCLES", 1_000),
        ("STALL_FRONTEND", 150),
        ("STALL_BACKEND", 350),
    ];
    let stack =
        [("isc-dispatch", 0.3), ("isc-frontend", 0.15), ("isc-backend", 0.35), ("isc-rest", 0.2)];
    for (name, part) in stack {
        assert!(close(value("thunderx2", name, &counts), part), "{name}");
        let pmu = Pmu::of(model("thunderx2"), true);
        let ways =
            way("thunderx2", name).unwrap().countable(&pmu, |it| resolve(model("thunderx2"), it));
        assert_eq!(ways, Countable::AtOnce, "{name}");
        assert!(way("olympus", name).is_some(), "{name}");
        assert!(way("skl", name).is_none(), "{name}");
    }
}

#[test]
fn a_thread_of_olympus_knows_how_long_it_had_the_core() {
    // 600 cycles alone have ten slots each, 400 beside the sibling five.
    let counts = [
        ("CPU_SLOT", 600 * 10 + 400 * 5),
        ("CYCLES", 1_000),
        ("TMS_ST_TO_SMT_COUNT", 2),
        ("TMS_SMT_TO_ST_COUNT", 1),
        ("TMS_ST_TO_SMT_LATENCY", 30),
        ("TMS_SMT_TO_ST_LATENCY", 20),
        ("NANOSECONDS", 1_000),
    ];
    for (name, expected) in
        [("smt-alone-share", 0.6), ("smt-switches", 3e6), ("smt-switch-share", 0.05)]
    {
        assert!(close(value("olympus", name, &counts) / expected, 1.0), "{name}");
    }
    for (slots, share) in [(5_000, 0.0), (10_000, 1.0), (10_010, 1.0), (4_990, 0.0)] {
        let counts = [("CPU_SLOT", slots), ("CYCLES", 1_000)];
        assert_eq!(value("olympus", "smt-alone-share", &counts), share, "{slots}");
    }
    let power = [("PM_RUN_CYC_ST_MODE", 250), ("CYCLES", 1_000)];
    assert_eq!(value("power9", "smt-alone-share", &power), 0.25);
    assert!(way("skl", "smt-alone-share").is_none());
}
