//! Shares of issue slots from counts, by the manuals' formulas, and the verdict on SMT off.

use std::collections::BTreeMap;

use pacman_events::allocate::Pmu;
use pacman_events::{CpuModel, resolve};
use pacman_metrics::ErrorKind;
use pacman_metrics::language::{Countable, Metric, builtin, one_of_each_name};
use pacman_metrics::slots::{SiblingSlots, SlotShares, SmtOff, Verdict, smt_off};

const LEVEL_1: [&str; 4] = [
    "topdown-retiring",
    "topdown-bad-speculation",
    "topdown-frontend-bound",
    "topdown-backend-bound",
];

type Counts = BTreeMap<&'static str, u64>;

fn counts(all: &[(&'static str, u64)]) -> Counts {
    all.iter().copied().collect()
}

fn shares(counts: &Counts) -> SlotShares {
    SlotShares::of(|name| counts.get(name).copied()).unwrap()
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-12
}

fn assert_shares(found: SlotShares, expected: [f64; 4], contention: Option<f64>) {
    let SlotShares { retiring, bad_speculation, frontend_bound, backend_bound, .. } = found;
    let all = [retiring, bad_speculation, frontend_bound, backend_bound];
    let agree = all.iter().zip(expected).all(|(one, other)| close(*one, other));
    assert!(agree, "{found:?}, expected {expected:?}");
    assert_eq!(found.smt_contention, contention);
}

/// A thread of Sandy Bridge to Skylake beside its sibling over 1,000 cycles of the core.
fn beside(retired: u64, issued: u64, empty: u64) -> Counts {
    counts(&[
        ("CPU_CLK_UNHALTED.THREAD_ANY", 1_000),
        ("UOPS_RETIRED.RETIRE_SLOTS", retired),
        ("UOPS_ISSUED.ANY", issued),
        ("IDQ_UOPS_NOT_DELIVERED.CORE", empty),
        ("INT_MISC.RECOVERY_CYCLES_ANY", 25),
    ])
}

#[test]
fn a_core_of_skylake_has_four_slots_a_cycle_for_all_its_contexts() {
    // Two contexts: 2,000 of 4,000 slots each, and half of the recovery.
    let [mut first, mut second] = [beside(1_200, 1_300, 300), beside(400, 440, 100)];
    for thread in [&mut first, &mut second] {
        thread.insert("CONTEXTS", 2);
    }
    assert_shares(shares(&first), [0.6, 0.075, 0.15, 0.175], None);
    assert_shares(shares(&second), [0.2, 0.045, 0.05, 0.705], None);
    // The core, from the sums: the means, since both have the same slots.
    let mut core: Counts =
        first.iter().map(|(name, count)| (*name, count + second[name])).collect();
    core.insert("CONTEXTS", 2);
    assert_shares(shares(&core), [0.4, 0.06, 0.1, 0.44], None);
    // Alone on its core a thread has all slots.
    let mut alone = beside(1_200, 1_300, 300);
    alone.insert("CONTEXTS", 1);
    assert_shares(shares(&alone), [0.3, 0.05, 0.075, 0.575], None);
    // Nobody guesses how many contexts ran.
    alone.remove("CONTEXTS");
    let error = SlotShares::of(|name| alone.get(name).copied()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotComputable);
    assert!(error.to_string().contains("CONTEXTS was not counted"), "{error}");
}

#[test]
fn zen_has_the_siblings_turns_as_a_category() {
    let zen = counts(&[
        ("SLOTS", 6_000),
        ("TOPDOWN_RETIRING", 1_500),
        ("TOPDOWN_DISPATCHED", 1_800),
        ("TOPDOWN_FRONTEND_BOUND", 1_200),
        ("TOPDOWN_BACKEND_BOUND", 2_100),
        ("TOPDOWN_SMT_CONTENTION", 900),
    ]);
    assert_shares(shares(&zen), [0.25, 0.05, 0.2, 0.35], Some(0.15));
    // A late stop of a counter is no bad speculation below 0.
    let mut late = zen;
    late.insert("TOPDOWN_DISPATCHED", 1_499);
    assert_eq!(shares(&late).bad_speculation, 0.0);
}

#[test]
fn categories_beyond_all_slots_are_refused() {
    let wrong = counts(&[
        ("SLOTS", 1_000),
        ("TOPDOWN_RETIRING", 500),
        ("TOPDOWN_BAD_SPECULATION", 100),
        ("TOPDOWN_FRONTEND_BOUND", 400),
        ("TOPDOWN_BACKEND_BOUND", 400),
    ]);
    let error = SlotShares::of(|name| wrong.get(name).copied()).unwrap_err();
    assert!(error.to_string().contains("its categories come to 1.400 of the slots"), "{error}");
}

/// The value of the way in which a model counts the metric, with these counts.
fn value(cpu: &str, name: &str, counts: &Counts) -> f64 {
    let metric = way(cpu, name).unwrap_or_else(|| panic!("{cpu} does not count {name}"));
    metric.value(|event| counts.get(event).copied()).unwrap()
}

/// The definition that a model counts at once, both siblings being on.
fn way(cpu: &str, name: &str) -> Option<&'static Metric> {
    let model = CpuModel::named(cpu).unwrap();
    let pmu = Pmu::of(model, true);
    let is_counted = |metric: &Metric| {
        metric.countable(&pmu, |event| resolve(model, event)) == Countable::AtOnce
    };
    let named = builtin().iter().filter(|metric| metric.name() == name);
    let metric = *one_of_each_name(named, is_counted).first().expect("a metric of that name");
    is_counted(metric).then_some(metric)
}

#[test]
fn every_model_with_slots_counts_level_1_at_once() {
    let by_registers = ["icl", "icx", "rkl", "tgl", "adl-goldencove", "spr", "emr", "gnr"];
    let by_core =
        ["snb", "jkt", "ivb", "ivt", "hsw", "hsx", "bdw", "bdx", "bdw-de", "skl", "skx", "clx"];
    for name in LEVEL_1 {
        for cpu in by_registers.into_iter().chain(by_core).chain(["zen4", "zen5"]) {
            let way = way(cpu, name).unwrap_or_else(|| panic!("{cpu} does not count {name}"));
            let is_by_core = way.expression().names().contains(&"CONTEXTS");
            assert_eq!(is_by_core, by_core.contains(&cpu), "{cpu}: {way}");
        }
        // Nothing there tells slots that the front end left empty.
        for cpu in ["nhm-ep", "wsm-ep-dp", "zen3", "core"] {
            let model = CpuModel::named(cpu);
            assert!(model.is_none_or(|_| way(cpu, name).is_none()), "{cpu}: {name}");
        }
    }
    for (cpu, counts_it) in [("zen4", true), ("zen5", true), ("spr", false), ("skl", false)] {
        assert_eq!(way(cpu, "topdown-smt-contention").is_some(), counts_it, "{cpu}");
    }
}

#[test]
fn level_2_is_a_part_of_level_1() {
    let intel = counts(&[
        ("SLOTS", 6_000),
        ("TOPDOWN_HEAVY_OPERATIONS", 600),
        ("TOPDOWN_BRANCH_MISPREDICTS", 300),
        ("TOPDOWN_FETCH_LATENCY", 1_200),
        ("TOPDOWN_MEMORY_BOUND", 1_500),
    ]);
    for (name, expected) in [
        ("topdown-heavy-operations", 0.1),
        ("topdown-branch-mispredicts", 0.05),
        ("topdown-fetch-latency", 0.2),
        ("topdown-memory-bound", 0.25),
    ] {
        assert!(close(value("spr", name, &intel), expected), "{name}");
        assert!(way("icl", name).is_none(), "{name}");
    }
    for (cpu, restarts) in [("zen4", "RESYNCS"), ("zen5", "BP_REDIRECTS:RESYNC")] {
        let zen = counts(&[
            ("SLOTS", 6_000),
            ("TOPDOWN_RETIRING", 1_500),
            ("TOPDOWN_DISPATCHED", 2_100),
            ("BRANCH_MISSES", 30),
            (restarts, 10),
            ("TOPDOWN_FETCH_LATENCY", 600),
            ("TOPDOWN_BACKEND_BOUND", 1_200),
            ("CYCLES_NO_RETIRE:NOT_COMPLETE_MISSING_LOAD", 60),
            ("CYCLES_NO_RETIRE:NOT_COMPLETE_LOAD_AND_ALU", 80),
            ("RETIRED_UCODE_OPS", 120),
        ]);
        for (name, expected) in [
            ("topdown-branch-mispredicts", 0.075),
            ("topdown-fetch-latency", 0.1),
            ("topdown-memory-bound", 0.15),
            ("topdown-microcode", 0.02),
        ] {
            assert!(close(value(cpu, name, &zen), expected), "{cpu}: {name}");
        }
    }
}

#[test]
fn slots_of_dispatch_are_as_wide_as_the_model() {
    for (cpu, width) in [("zen4", 6), ("zen5", 8)] {
        let model = CpuModel::named(cpu).unwrap();
        let slots = resolve(model, "SLOTS").unwrap();
        assert_eq!(slots.value([1_000]), 1_000 * width, "{cpu}");
        let latency = resolve(model, "TOPDOWN_FETCH_LATENCY").unwrap();
        assert_eq!(latency.value([10]), 10 * width, "{cpu}");
    }
}

fn zen(retiring: f64, backend_bound: f64, contention: f64) -> SiblingSlots {
    let frontend_bound = 1.0 - retiring - backend_bound - contention;
    let shares = SlotShares {
        retiring,
        bad_speculation: 0.0,
        frontend_bound,
        backend_bound,
        smt_contention: Some(contention),
    };
    SiblingSlots { shares, part: 1.0 }
}

fn intel(retiring: f64, backend_bound: f64) -> SiblingSlots {
    let SiblingSlots { shares, .. } = zen(retiring, backend_bound, 0.0);
    SiblingSlots { shares: SlotShares { smt_contention: None, ..shares }, part: 0.5 }
}

#[test]
fn a_core_that_one_thread_fills_gains_nothing_from_the_other() {
    for thread in [zen(0.5, 0.0, 0.5), zen(0.49, 0.01, 0.5)] {
        let off = smt_off(&[thread, thread]).unwrap();
        assert_eq!(off.verdict, Verdict::Pays, "{off:?}");
        assert!(off.speed.low >= 0.97 && off.speed.high <= 1.03, "{off:?}");
    }
}

#[test]
fn threads_that_leave_slots_to_each_other_lose_without_smt() {
    for thread in [zen(0.2, 0.1, 0.05), intel(0.3, 0.2)] {
        let off = smt_off(&[thread, thread]).unwrap();
        assert_eq!(off.verdict, Verdict::Costs, "{off:?}");
        assert!((0.5..0.97).contains(&off.estimate), "{off:?}");
    }
    // The busy thread counts more than the idle one.
    let off = smt_off(&[zen(0.6, 0.0, 0.05), zen(0.05, 0.0, 0.3)]).unwrap();
    assert_eq!(off.verdict, Verdict::Costs, "{off:?}");
}

#[test]
fn stalls_of_the_back_end_leave_it_open() {
    for thread in [zen(0.1, 0.85, 0.03), intel(0.2, 0.75)] {
        let off = smt_off(&[thread, thread]).unwrap();
        assert_eq!(off.verdict, Verdict::Undecided, "{off:?}");
        assert!(off.speed.low < 0.6 && off.speed.high > 1.03, "{off:?}");
        assert!(off.reason.contains("back end"), "{off:?}");
    }
}

#[test]
fn a_region_is_as_fast_as_its_cores_together() {
    let costs = smt_off(&[zen(0.2, 0.1, 0.05); 2]).unwrap();
    let open = smt_off(&[zen(0.1, 0.85, 0.03); 2]).unwrap();
    let all = SmtOff::of_cores(&[costs.clone(), open.clone()]).unwrap();
    let expected = 2.0 / (1.0 / costs.speed.low + 1.0 / open.speed.low);
    assert!(close(all.speed.low, expected), "{all:?}");
    assert!(all.speed.high > costs.speed.high && all.speed.high < open.speed.high, "{all:?}");
    assert_eq!(SmtOff::of_cores(std::slice::from_ref(&costs)), Some(costs));
    assert_eq!(SmtOff::of_cores(&[]), None);
}

#[test]
fn one_thread_or_one_that_did_nothing_has_no_verdict() {
    let thread = zen(0.3, 0.3, 0.1);
    for threads in [vec![thread], vec![thread; 4], vec![thread, zen(0.0, 0.5, 0.1)]] {
        let error = smt_off(&threads).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotComputable, "{error}");
    }
}
