//! The allocator on the shipped tables: every event of every model, and the results
//! of the manuals and kernel sources for some.

use pacman_events::CpuModel;
use pacman_events::allocate::{Assignment, Conflict, EventConstraints, Pmu, Resource, allocate};
use pacman_events::encode::Rings;
use pacman_events::partition::{CorePlan, Partition};
use pacman_events::{catalog, resolve};

const USER: Rings = Rings { user: true, kernel: false };

fn table(name: &str) -> CpuModel {
    CpuModel::named(name).unwrap_or_else(|| panic!("no table {name}"))
}

fn demand(cpu: CpuModel, pmu: &Pmu, name: &str) -> EventConstraints {
    let resolved = resolve(cpu, name).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
    EventConstraints::of(resolved.encoding().expect("a single event"), pmu, USER)
}

fn demands(cpu: CpuModel, pmu: &Pmu, names: &[&str]) -> Vec<EventConstraints> {
    names.iter().map(|name| demand(cpu, pmu, name)).collect()
}

fn one(cpu: &str, smt: bool, names: &[&str]) -> Result<Assignment, Conflict> {
    let cpu = table(cpu);
    let pmu = Pmu::of(cpu, smt);
    allocate(&pmu, &demands(cpu, &pmu, names))
}

fn both(cpu: &str, split: Partition, threads: [&[&str]; 2]) -> Result<CorePlan, Conflict> {
    let cpu = table(cpu);
    let pmu = Pmu::of(cpu, true);
    split.plan(&pmu, &threads.map(|names| demands(cpu, &pmu, names)))
}

/// A joint plan of both threads of a Prescott.
fn joint(threads: [&[&str]; 2]) -> Result<CorePlan, Conflict> {
    both("p4-prescott", Partition::ByDemand, threads)
}

#[test]
fn every_event_of_every_table_is_placed_or_refused_for_a_reason() {
    let (mut placed, mut smt_off) = (0, 0);
    for cpu in CpuModel::all() {
        let pmus = [Pmu::of(cpu, true), Pmu::of(cpu, false)];
        for entry in catalog(cpu) {
            let name = &*entry.name;
            let Ok(resolved) = resolve(cpu, name) else { continue };
            let Some(encoding) = resolved.encoding() else { continue };
            for (pmu, smt) in pmus.iter().zip([true, false]) {
                match allocate(pmu, &[EventConstraints::of(encoding, pmu, USER)]) {
                    Ok(assignment) => {
                        placed += 1;
                        let placement = &assignment.placements()[0];
                        if let Some(extra) = &encoding.extra {
                            let (msr, value) = placement.registers().next().unwrap();
                            assert_eq!(value, extra.value, "{cpu} {name}");
                            assert!(extra.choices().iter().any(|it| it.msr == msr));
                        }
                    }
                    Err(refused) => match refused.resource() {
                        Resource::SmtOff { .. } => {
                            assert!(smt && encoding.needs.smt_off, "{cpu} {name}: {refused}");
                            smt_off += 1;
                        }
                        _ => panic!("{cpu} {name}, smt {smt}: {refused}"),
                    },
                }
            }
        }
    }
    assert!(placed > 20_000, "{placed} placements, {smt_off} only with SMT off");
}

#[test]
fn nehalem_and_westmere_share_off_core_responses_between_siblings() {
    let a = "OFFCORE_RESPONSE_0.ANY_DATA.ANY_CACHE_DRAM";
    let b = "OFFCORE_RESPONSE_0.ANY_DATA.LOCAL_CACHE";
    fn plan(cpu: &str, threads: [&[&str]; 2]) -> Result<CorePlan, Conflict> {
        both(cpu, Partition::ByDemand, threads)
    }
    assert!(plan("nhm-ep", [&[a], &[a]]).is_ok());
    let refused = plan("nhm-ep", [&[a], &[b]]).unwrap_err();
    assert_eq!(refused.resource().to_string(), "OFFCORE_RSP_0");
    let a = "OFFCORE_RESPONSE.ANY_DATA.ANY_CACHE_DRAM";
    let b = "OFFCORE_RESPONSE.ANY_DATA.LOCAL_CACHE";
    let c = "OFFCORE_RESPONSE.ANY_RFO.LOCAL_CACHE";
    assert!(plan("wsm-ep-dp", [&[a], &[b]]).is_ok());
    let refused = plan("wsm-ep-dp", [&[a, b], &[c]]).unwrap_err();
    assert_eq!(refused.events().len(), 3);
    assert_eq!(refused.resource().to_string(), "OFFCORE_RSP_0, OFFCORE_RSP_1");
}

#[test]
fn haswell_keeps_retired_memory_events_apart() {
    let [l1, l2, l3] = ["L1_HIT", "L2_HIT", "L3_HIT"];
    let name = |level: &str| format!("MEM_LOAD_UOPS_RETIRED.{level}");
    let (l1, l2, l3) = (name(l1), name(l2), name(l3));
    let other = ["UOPS_ISSUED.ANY", "BR_MISP_RETIRED.ALL_BRANCHES", "BR_INST_RETIRED.ALL_BRANCHES"];
    for (cpu, erratum) in [("hsw", "HSD29"), ("ivb", "BV98"), ("snb", "BJ122")] {
        let l3 = if cpu == "hsw" { l3.clone() } else { name("LLC_HIT") };
        let plan = both(cpu, Partition::ByDemand, [&[&l1, &l2], &other[..2]]).unwrap();
        let [first, second] = [0, 1].map(|thread| plan.contexts()[thread].general());
        assert!(first.and(second).is_empty(), "{cpu}: {first} and {second}");
        for threads in [[&[&*l1, &*l2, &*l3][..], &[]], [&[&*l1], &other[..3]]] {
            let refused = both(cpu, Partition::ByDemand, threads).unwrap_err();
            assert_eq!(refused.resource(), &Resource::Erratum { name: erratum }, "{refused}");
        }
    }
    // Broadwell has no such erratum.
    let l3 = name("L3_HIT");
    assert!(both("bdw", Partition::ByDemand, [&[&l1, &l2, &l3], &other[..3]]).is_ok());
}

#[test]
fn smt_decides_between_four_and_eight_counters() {
    let five = [
        "UOPS_ISSUED.ANY",
        "UOPS_EXECUTED.THREAD",
        "BR_INST_RETIRED.ALL_BRANCHES",
        "BR_MISP_RETIRED.ALL_BRANCHES",
        "IDQ.DSB_UOPS",
    ];
    let refused = one("skl", true, &five).unwrap_err();
    assert_eq!(refused.events().len(), 5);
    assert_eq!(refused.resource().to_string(), "counters 0-3");
    assert!(refused.remedy().contains("SMT off"), "{refused}");
    assert!(one("skl", false, &five).is_ok());
    assert!(one("icl", true, &five).is_ok());
}

#[test]
fn each_split_of_netburst_loses_its_events() {
    let lost = |split, thread: usize, name| {
        let mut threads: [&[&str]; 2] = [&[], &[]];
        let list = [name];
        threads[thread] = &list;
        both("p4-prescott", split, threads).err().map(|refused| refused.resource().to_string())
    };
    let ioq = "IOQ_active_entries:ReqA0:ALL_READ:MEM_WB:OWN";
    let bsq = "bsq_active_entries:REQ_TYPE0";
    // Both halves lose them: the partner that they need sits in the other one.
    for thread in 0..2 {
        for name in [ioq, bsq, "split_load_retired"] {
            let lost_by_0_only = name == "split_load_retired" && thread == 1;
            let answer = lost(Partition::Even, thread, name);
            assert_eq!(answer.is_none(), lost_by_0_only, "thread {thread} {name}: {answer:?}");
            assert_eq!(lost(Partition::ByDemand, thread, name), None, "{name}");
        }
    }
    assert_eq!(lost(Partition::Even, 0, "BSQ_allocation:REQ_TYPE0"), None);
    let other_half = Some("half 1 of the core".to_owned());
    assert_eq!(lost(Partition::Even, 1, "BSQ_allocation:REQ_TYPE0"), other_half);
    assert_eq!(lost(Partition::Whole { owner: 0 }, 0, ioq), None);
    let nothing = Some("the core's counters".to_owned());
    assert_eq!(lost(Partition::Whole { owner: 0 }, 1, ioq), nothing);
}

#[test]
fn early_northwood_has_one_escr_for_bus_allocations() {
    let name = ["IOQ_allocation:ReqA0:ALL_READ:MEM_WB:OWN"];
    let both = |cpu| both(cpu, Partition::ByDemand, [&name, &name]);
    assert!(both("p4-northwood").is_ok());
    let refused = both("p4-northwood-early").unwrap_err();
    assert_eq!(refused.resource().to_string(), "MSR_FSB_ESCR0");
}

#[test]
fn one_replay_metric_runs_on_a_core_at_a_time() {
    let (l1, l2) = ("1stL_cache_load_miss_retired", "2ndL_cache_load_miss_retired");
    assert!(joint([&[l1], &[l1]]).is_ok());
    for threads in [[&[l1][..], &[l2][..]], [&[l1, l2], &[]]] {
        let refused = joint(threads).unwrap_err();
        assert_eq!(refused.resource().to_string(), "MSR_PEBS_ENABLE", "{refused}");
    }
}

#[test]
fn execution_tags_move_apart_and_keep_a_counter_awake() {
    let threads: [&[&str]; 2] = [&["packed_SP_retired"], &["scalar_DP_retired"]];
    for split in [Partition::ByDemand, Partition::Even] {
        let plan = both("p4-prescott", split, threads).unwrap();
        let tag = |thread: usize| {
            let placement = &plan.contexts()[thread].placements()[0];
            // Bit i of the event mask (ESCR bits 24:9) reads tag i.
            let own = placement.escr().unwrap().value as u32 >> 9 & 0xffff;
            // The tagging ESCR: bit 4 enables, bits 8:5 are the tag.
            let (_, tagging) = placement.registers().nth(1).unwrap();
            let given = (tagging as u32) >> 5 & 0xf;
            assert_eq!(tagging >> 4 & 1, 1);
            assert_eq!(own, given, "reads what it tags");
            assert!(placement.awake().is_some());
            given
        };
        assert_ne!(tag(0), tag(1), "tags are the core's: each thread would see the other's");
    }
    // The same uops for both threads may share a tag, as the taggers see both anyway.
    let same: &[&str] = &["packed_SP_retired"];
    assert!(both("p4-prescott", Partition::ByDemand, [same, same]).is_ok());
}

#[test]
fn a_thread_has_one_front_end_tag_but_siblings_one_each() {
    assert!(joint([&["memory_loads"], &["memory_stores"]]).is_ok());
    let refused = joint([&["memory_loads", "memory_stores"], &[]]).unwrap_err();
    assert_eq!(refused.resource().to_string(), "front-end tag", "{refused}");
}

#[test]
fn one_event_in_two_rings_takes_two_escrs() {
    let names = ["instr_retired:NBOGUSNTAG:u", "instr_retired:NBOGUSNTAG:k"];
    let placed = one("p4-prescott", true, &names).unwrap();
    let escrs: Vec<_> = placed.placements().iter().map(|it| it.escr().unwrap()).collect();
    assert_ne!(escrs[0].register, escrs[1].register);
    let refused = both("p4-prescott", Partition::Even, [&names, &[]]).unwrap_err();
    assert_eq!(refused.resource().to_string(), "MSR_CRU_ESCR0");
    assert!(refused.remedy().contains("by demand"), "{refused}");
}

#[test]
fn t_bits_follow_the_logical_processor() {
    let name: &[&str] = &["global_power_events:RUNNING"];
    let plan = both("p4-prescott", Partition::ByDemand, [name, name]).unwrap();
    let value = |thread: usize| plan.contexts()[thread].placements()[0].escr().unwrap().value;
    assert_eq!(value(0) & 0xf, 0b0100);
    assert_eq!(value(1) & 0xf, 0b0001);
    assert_eq!(value(0) & !0xf, value(1) & !0xf);
}

#[test]
fn a_counter_that_is_enabled_anyway_keeps_the_tagging_escr_awake() {
    let names = ["packed_SP_retired", "memory_cancel:ST_RB_FULL", "memory_complete:SSC"];
    let placed = one("p4-prescott", true, &names).unwrap();
    let counting = placed.general();
    let awake = placed.placements()[0].awake().unwrap();
    assert!(counting.contains(awake.number()), "{awake} of {counting}");
    // Without another event of the group a free one is enabled for it.
    let placed = one("p4-prescott", true, &names[..1]).unwrap();
    let awake = placed.placements()[0].awake().unwrap();
    assert!((8..12).contains(&awake.number()), "{awake}");
    assert!(!placed.general().contains(awake.number()));
}

#[test]
fn northbridge_events_are_planned_for_the_cores_of_a_node() {
    let cpu = table("fam10h");
    let pmu = Pmu::of(cpu, true).with_contexts(2);
    let event = "DRAM_ACCESSES_PAGE:HIT";
    let threads = [vec![demand(cpu, &pmu, event); 2], vec![demand(cpu, &pmu, event); 2]];
    let plan = Partition::ByDemand.plan(&pmu, &threads).unwrap();
    assert!(plan.contexts()[0].general().and(plan.contexts()[1].general()).is_empty());
    let threads = [vec![demand(cpu, &pmu, event); 3], vec![demand(cpu, &pmu, event); 2]];
    let refused = Partition::ByDemand.plan(&pmu, &threads).unwrap_err();
    assert!(refused.resource().to_string().contains("northbridge"), "{refused}");
}

#[test]
fn long_lists_are_planned_in_sets_too() {
    let cpu = table("skx");
    let pmu = Pmu::of(cpu, true);
    let names: Vec<String> = catalog(cpu)
        .filter(|entry| !entry.deprecated)
        .map(|entry| entry.name.into_owned())
        .filter(|name| resolve(cpu, name).is_ok_and(|it| it.encoding().is_some()))
        .take(300)
        .collect();
    let list: Vec<EventConstraints> = names.iter().map(|name| demand(cpu, &pmu, name)).collect();
    let threads = [list.clone(), list];
    let schedule = Partition::ByDemand.sets(&pmu, &threads).unwrap();
    let placed: usize = schedule
        .sets()
        .iter()
        .flat_map(|set| set.contexts())
        .map(|own| own.placements().len())
        .sum();
    assert_eq!(placed, 2 * names.len());
    assert!(schedule.sets().len() < names.len(), "{} sets", schedule.sets().len());
}

/// The reason is the resource that is short, also where the events must count alone besides.
#[test]
fn the_reason_is_the_register_that_events_share() {
    let frontend = "MSR_PEBS_FRONTEND";
    let latency = "MSR_PEBS_LD_LAT_THRESHOLD";
    let offcore = "OFFCORE_RSP_0, OFFCORE_RSP_1";
    for (table, names, resource) in [
        ("icl", "FRONTEND_RETIRED.DSB_MISS FRONTEND_RETIRED.ITLB_MISS", frontend),
        ("skl", "FRONTEND_RETIRED.DSB_MISS FRONTEND_RETIRED.ITLB_MISS", frontend),
        ("spr", "FRONTEND_RETIRED.L1I_MISS INST_RETIRED.ANY FRONTEND_RETIRED.L2_MISS", frontend),
        ("skl", "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4 MEM_TRANS_RETIRED.LOAD_LATENCY_GT_8", latency),
        ("icl", "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4 MEM_TRANS_RETIRED.LOAD_LATENCY_GT_8", latency),
        (
            "skl",
            "OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE OFFCORE_RESPONSE.DEMAND_RFO.ANY_RESPONSE \
             OFFCORE_RESPONSE.DEMAND_CODE_RD.ANY_RESPONSE",
            offcore,
        ),
        (
            "icl",
            "OCR.DEMAND_CODE_RD.ANY_RESPONSE OCR.DEMAND_CODE_RD.DRAM OCR.DEMAND_RFO.DRAM",
            offcore,
        ),
        ("icl", "FRONTEND_RETIRED.DSB_MISS UOPS_ISSUED.ANY", "all of counters 0-7"),
        // The register would do for no two either, but its only counter does not.
        (
            "hsw",
            "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4 MEM_TRANS_RETIRED.LOAD_LATENCY_GT_8",
            "counter 3",
        ),
    ] {
        let cpu = CpuModel::named(table).unwrap();
        let pmu = Pmu::of(cpu, true);
        let asked: Vec<_> = names
            .split_whitespace()
            .map(|name| {
                let resolved = resolve(cpu, name).unwrap_or_else(|refusal| panic!("{refusal}"));
                EventConstraints::of(resolved.encoding().unwrap(), &pmu, USER)
            })
            .collect();
        let refused = allocate(&pmu, &asked).expect_err(names);
        assert_eq!(refused.resource().to_string(), resource, "{table}: {refused}");
    }
}
