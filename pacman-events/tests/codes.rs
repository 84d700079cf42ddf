//! Arm, POWER and IBM Z: an event is one code.

mod source;

use std::collections::BTreeMap;

use pacman_events::allocate::{EventConstraints, Pmu, allocate};
use pacman_events::encode::{Kind, Rings, Scope};
use pacman_events::{CpuModel, Encoding, Family, ResolveErrorKind, resolve};
use source::Row;

fn cpu(name: &str) -> CpuModel {
    CpuModel::named(name).unwrap_or_else(|| panic!("no table {name}"))
}

fn encoding(table: &str, name: &str) -> Encoding {
    let resolved = resolve(cpu(table), name).unwrap_or_else(|refusal| panic!("{refusal}"));
    resolved.encoding().unwrap_or_else(|| panic!("{name} is an expression")).clone()
}

fn refusal(table: &str, name: &str) -> (ResolveErrorKind, String) {
    let refusal = resolve(cpu(table), name).expect_err(name);
    (refusal.kind(), refusal.to_string())
}

/// The rows of the tables of codes, with their model.
fn rows() -> impl Iterator<Item = (CpuModel, Row)> {
    CpuModel::all().flat_map(|cpu| {
        let directory = match cpu.facts().family {
            Family::Arm => "arm",
            Family::Power => "power",
            Family::S390x => "s390x",
            _ => return Vec::new(),
        };
        source::rows(&format!("{directory}/{cpu}.tsv")).into_iter().map(|row| (cpu, row)).collect()
    })
}

/// The encoder derives the counters from the code, so the tables' own columns check it.
#[test]
fn every_row_resolves_to_what_it_says() {
    let mut counts = BTreeMap::new();
    for (cpu, row) in rows() {
        let place = row.place();
        let event = encoding(cpu.name(), &row["event"]);
        let code = row.number("select").expect("a code");
        assert_eq!(event.kind, Kind::Code, "{place}");
        assert_eq!(event.name.to_string(), row["event"], "{place}");
        assert_eq!((event.evtsel, event.perf.unwrap().config), (code, code), "{place}");
        assert_eq!(event.perf.unwrap().kind, 4, "{place}");
        assert_eq!(event.counters.bits(), row.number("counters").unwrap_or(0), "{place}");
        assert_eq!(event.counters_smt_off, event.counters, "{place}");
        assert_eq!(event.fixed.map(u64::from), row.number("fixed"), "{place}");
        let scope = if &row["flags"] == "core" { Scope::Core } else { Scope::Thread };
        assert_eq!(event.limits.counts, scope, "{place}");
        // The code alone has the same counters.
        let raw = encoding(cpu.name(), &format!("r{code:x}"));
        assert_eq!((raw.counters, raw.fixed), (event.counters, event.fixed), "{place}");
        *counts.entry(cpu.name()).or_insert(0) += 1;
    }
    // Without CHAIN, which Linux refuses: libpfm4's list of Olympus has 465 events with it.
    let some = [("olympus", 464), ("neoverse-v2", 154), ("monaka", 500), ("power8", 1063)];
    for (table, events) in some.into_iter().chain([("power9", 958), ("power10", 971), ("z16", 98)])
    {
        assert_eq!(counts[table], events, "{table}");
    }
    assert_eq!(counts.len(), 27);
}

#[test]
fn codes_agree_with_other_sources() {
    let rows = source::oracle("codes.tsv");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in &rows {
        let event = encoding(&row["table"], &row["event"]);
        assert_eq!(Some(event.evtsel), row.number("code"), "{}", row.place());
        *counts.entry(row["table"].to_owned()).or_default() += 1;
    }
    assert!(counts.values().all(|count| *count >= 12), "{counts:?}");
    assert_eq!(counts.len(), 25, "{counts:?}");
}

#[test]
fn a_code_of_arm_is_an_event_in_16_bits() {
    for name in ["CPU_CYCLES", "cpu_cycles", "r11", "cpu/event=0x11/", "armv8_pmuv3_0/event=0x11/"]
    {
        let event = encoding("neoverse-n1", name);
        assert_eq!(
            (event.evtsel, event.fixed, event.counters.bits()),
            (0x11, Some(31), 0x3f),
            "{name}"
        );
    }
    let fast = encoding("neoverse-n1", "armv8_pmuv3_0/event=0x8,long,rdpmc/u");
    let perf = fast.perf.unwrap();
    assert_eq!((perf.config, perf.config1, fast.rings.user), (8, 3, true));
    let (kind, text) = refusal("neoverse-n1", "r10011");
    assert_eq!(kind, ResolveErrorKind::Impossible, "{text}");
    assert!(text.contains("has 16 bits"), "{text}");
    let (kind, text) = refusal("neoverse-n1", "cpu/event=0x10011/");
    assert_eq!(kind, ResolveErrorKind::Grammar, "{text}");
    for name in ["CHAIN", "r1e"] {
        let (kind, text) = refusal("neoverse-v2", name);
        assert_eq!(kind, ResolveErrorKind::Impossible, "{text}");
        assert!(text.contains("makes two counters one"), "{text}");
    }
    for name in ["INST_RETIRED:c=1", "INST_RETIRED:e", "CYCLES:any", "INST_RETIRED:thr=1"] {
        let (kind, text) = refusal("olympus", name);
        assert_eq!(kind, ResolveErrorKind::Impossible, "{text}");
        assert!(text.contains("no filters"), "{text}");
    }
}

/// Where threads share a core, PMCCNTR counts the clock of the core (Linux c3d78c34ad00).
#[test]
fn the_cycle_counter_counts_a_thread_only_where_a_core_has_one() {
    for cpu in CpuModel::all().filter(|cpu| cpu.facts().family == Family::Arm) {
        let cycles = encoding(cpu.name(), "CYCLES");
        let alone = cpu.facts().smt_ways == 1;
        assert_eq!(cycles.fixed, alone.then_some(31), "{cpu}");
        assert_eq!(cpu.facts().fixed.is_empty(), !alone, "{cpu}");
    }
}

#[test]
fn six_events_and_the_cycles_fit_a_core_of_six_counters() {
    let n1 = cpu("neoverse-n1");
    let pmu = Pmu::of(n1, false);
    let user = Rings { user: true, kernel: false };
    let demand = |name: &str| {
        EventConstraints::of(resolve(n1, name).unwrap().encoding().unwrap(), &pmu, user)
    };
    let mut demands: Vec<_> = [
        "BRANCHES",
        "BRANCH_MISSES",
        "L1D_MISSES",
        "L2_MISSES",
        "LLC_MISSES",
        "INSTRUCTIONS",
        "CYCLES",
    ]
    .map(demand)
    .into();
    assert!(allocate(&pmu, &demands).is_ok());
    demands.push(demand("DTLB_MISSES"));
    assert!(allocate(&pmu, &demands).is_err());
}

#[test]
fn a_pmc_of_power_is_part_of_the_code() {
    for (name, general, fixed) in [
        ("PM_DTLB_MISS", 1 << 3, None),
        ("r300fc", 1 << 3, None),
        ("CYCLES", 0, Some(6)),
        ("INSTRUCTIONS", 0, Some(5)),
        ("cpu/event=0x600f4/", 0, Some(6)),
        ("r1e", 0x1e, None),
    ] {
        let event = encoding("power9", name);
        assert_eq!((event.counters.bits(), event.fixed), (general, fixed), "{name}");
    }
    let (kind, text) = refusal("power9", "r7001e");
    assert_eq!(kind, ResolveErrorKind::Impossible, "{text}");
    // Two events of one PMC, and two modes in one thread.
    let power = cpu("power9");
    let pmu = Pmu::of(power, true);
    assert_eq!((pmu.contexts(), pmu.general().to_string()), (8, "1-4".to_owned()));
    let user = Rings { user: true, kernel: false };
    let fits = |names: [&str; 2]| {
        let demands = names.map(|name| {
            EventConstraints::of(resolve(power, name).unwrap().encoding().unwrap(), &pmu, user)
        });
        allocate(&pmu, &demands).is_ok()
    };
    assert!(fits(["PM_DTLB_MISS", "PM_ITLB_MISS"]));
    assert!(!fits(["PM_ITLB_MISS", "PM_BR_MPRED_CMPL"]));
    assert!(!fits(["CYCLES:u", "INSTRUCTIONS:uk"]));
}

#[test]
fn a_counter_of_ibm_z_counts_both_modes_or_has_a_twin() {
    let both = Rings { user: true, kernel: true };
    for (table, name, code) in [
        ("z14", "CYCLES", 0),
        ("z14", "CYCLES:u", 32),
        ("z14", "INSTRUCTIONS:u", 33),
        ("z14", "INSTRUCTIONS:uk", 1),
        ("z13", "L1D_MISSES:u", 36),
        ("z14", "PROBLEM_STATE_CPU_CYCLES:u", 32),
        ("z14", "cpum_cf/event=1/", 1),
    ] {
        let event = encoding(table, name);
        assert_eq!((event.evtsel, event.rings), (code, both), "{name} on {table}");
        assert!(event.counters.is_empty() && event.fixed.is_none());
    }
    for (table, name) in [("z14", "L1D_MISSES:u"), ("z14", "CYCLES:k"), ("z16", "TX_C_TEND:u")] {
        let (kind, text) = refusal(table, name);
        assert_eq!(kind, ResolveErrorKind::Impossible, "{text}");
        assert!(text.contains("counts both modes"), "{text}");
    }
    // Counters do not compete: all events of a processor fit at once.
    let z16 = cpu("z16");
    let pmu = Pmu::of(z16, true);
    let demands: Vec<_> = z16
        .events()
        .map(|event| {
            let event = resolve(z16, &event.name()).unwrap();
            EventConstraints::of(event.encoding().unwrap(), &pmu, both)
        })
        .collect();
    assert!(allocate(&pmu, &demands).is_ok());
}

#[test]
fn presets_have_the_events_that_the_processor_has() {
    let names = |table: &str, preset: &str| {
        let resolved = resolve(cpu(table), preset).unwrap_or_else(|why| panic!("{why}"));
        let terms =
            resolved.terms().map(|term| format!("{}*{}", term.coefficient, term.encoding.name));
        terms.collect::<Vec<_>>().join(" ")
    };
    for (table, preset, expression) in [
        ("olympus", "STALL_CYCLES", "1*STALL"),
        ("thunderx2", "STALL_CYCLES", "1*STALL_FRONTEND 1*STALL_BACKEND"),
        ("neoverse-n1", "STALL_CYCLES", "1*STALL_FRONTEND 1*STALL_BACKEND"),
        ("olympus", "SLOTS", "1*CPU_SLOT"),
        ("thunderx2", "SLOTS", "4*CPU_CYCLES"),
        ("neoverse-v2", "SLOTS", "8*CPU_CYCLES"),
        ("neoverse-v1", "TOPDOWN_FRONTEND_BOUND", "1*STALL_SLOT_FRONTEND -32*BR_MIS_PRED"),
        ("olympus", "ONE_THREAD_ACTIVE", "1*CPU_SLOT -5*CPU_CYCLES"),
        ("a64fx", "BRANCHES", "1*BR_PRED"),
        ("cortex-a72", "DTLB_MISSES", "1*L1D_TLB_REFILL"),
        ("power10", "STALL_CYCLES", "1*r600f4 -1*PM_1PLUS_PPC_DISP"),
        ("z15", "DTLB_MISSES", "1*DTLB2_WRITES"),
    ] {
        assert_eq!(names(table, preset), expression, "{preset} on {table}");
    }
    let (_, text) = refusal("cortex-a72", "STALL_CYCLES");
    assert!(text.contains("Armv8.1"), "{text}");
}
