//! Registers that siblings share on families other than NetBurst: known answers rule by rule.
//!
//! Rules: Linux 6.12, arch/x86/events (core.c, intel/core.c, amd/core.c), and Solaris
//! niagara_pcbe.c, as noted at each test.

use pacman_events::CounterSet;
use pacman_events::allocate::{
    Alternative, Conflict, Counter, CounterUse, EventConstraints, Pmu, Register, RegisterKind,
    SiblingErratum, allocate,
};
use pacman_events::encode::Scope;
use pacman_events::partition::{CorePlan, Partition};

fn low(count: u32) -> CounterSet {
    CounterSet::first(count)
}

fn plan(pmu: &Pmu, threads: &[Vec<EventConstraints>]) -> Result<CorePlan, Conflict> {
    Partition::ByDemand.plan(pmu, threads)
}

fn plain(count: usize) -> Vec<EventConstraints> {
    (0..count)
        .map(|n| EventConstraints::new(format!("plain {n}"), [Alternative::general(low(10))]))
        .collect()
}

/// An off-core event that can use any of these registers.
fn offcore(name: &str, msrs: &[u32], scope: Scope, value: u64) -> EventConstraints {
    let register = |msr| Register::msr(RegisterKind::OffcoreResponse, msr, scope);
    let alternative = |msr: &u32| Alternative::general(low(4)).claiming(register(*msr), value);
    EventConstraints::new(name, msrs.iter().map(alternative))
}

fn nehalem() -> Pmu {
    Pmu::per_context("nhm-ep", 2, low(4)).with_fixed(low(3))
}

fn haswell() -> Pmu {
    Pmu::per_context("hsw", 2, low(4))
        .with_fixed(low(3))
        .with_smt_off(low(8))
        .with_erratum(SiblingErratum { name: "HSD29", budget: Some(2) })
}

fn retired(count: usize) -> Vec<EventConstraints> {
    let event = |n| {
        EventConstraints::new(format!("d1/{n}"), [Alternative::general(low(4))]).excluding_sibling()
    };
    (0..count).map(event).collect()
}

fn counters(plan: &CorePlan, context: usize) -> CounterSet {
    plan.contexts()[context].general()
}

#[test]
fn nehalem_siblings_share_one_off_core_register() {
    let event = |value| vec![offcore("OFFCORE_RESPONSE_0", &[0x1a6], Scope::Core, value)];
    assert!(plan(&nehalem(), &[event(0x11), event(0x11)]).is_ok());
    let refused = plan(&nehalem(), &[event(0x11), event(0x12)]).unwrap_err();
    assert_eq!(refused.events().len(), 2);
    assert_eq!(refused.resource().to_string(), "OFFCORE_RSP_0");
    assert_eq!(refused.holders()[0].who, "OFFCORE_RESPONSE_0 of thread 0");
    assert!(refused.remedy().contains("rotate"), "{refused}");
    // Rotation is what the sets are for.
    let sets = Partition::ByDemand.sets(&nehalem(), &[event(0x11), event(0x12)]).unwrap();
    assert_eq!(sets.sets().len(), 2);
}

#[test]
fn westmere_siblings_share_two_registers_and_swap_between_them() {
    let event = |value| offcore("OFFCORE_RESPONSE", &[0x1a6, 0x1a7], Scope::Core, value);
    let two = [vec![event(1), event(2)], vec![event(2), event(1)]];
    assert!(plan(&nehalem(), &two).is_ok());
    let three = [vec![event(1), event(2)], vec![event(3)]];
    let refused = plan(&nehalem(), &three).unwrap_err();
    assert_eq!(refused.events().len(), 3);
    assert_eq!(refused.resource().to_string(), "OFFCORE_RSP_0, OFFCORE_RSP_1");
}

#[test]
fn since_sandy_bridge_each_thread_has_two_registers() {
    let event = |value| offcore("OFFCORE_RESPONSE", &[0x1a6, 0x1a7], Scope::Thread, value);
    let four = [vec![event(1), event(2)], vec![event(3), event(4)]];
    let placed = plan(&nehalem(), &four).unwrap();
    for own in placed.contexts() {
        let msrs: Vec<u32> =
            own.placements().iter().flat_map(|it| it.registers().map(|(msr, _)| msr)).collect();
        assert_eq!(msrs.len(), 2);
        assert_ne!(msrs[0], msrs[1]);
    }
    let refused = plan(&nehalem(), &[vec![event(1), event(2), event(3)]]).unwrap_err();
    assert!(refused.reason().contains("register of the thread"), "{refused}");
}

#[test]
fn a_value_that_only_one_twin_accepts_pushes_the_other_away() {
    // Silvermont: bit 38 (outstanding requests) exists in OFFCORE_RSP_0 only.
    let outstanding = offcore("OUTSTANDING", &[0x1a6], Scope::Thread, 1 << 38);
    let any = offcore("ANY", &[0x1a6, 0x1a7], Scope::Thread, 1);
    let pmu = Pmu::per_context("slm", 1, low(2)).with_fixed(low(3));
    let placed = allocate(&pmu, &[any, outstanding]).unwrap();
    assert_eq!(placed.placements()[0].registers().next(), Some((0x1a7, 1)));
}

#[test]
fn the_load_latency_threshold_is_the_cores_before_sandy_bridge() {
    let event = |scope, value| {
        let register = Register::msr(RegisterKind::LoadLatency, 0x3f6, scope);
        vec![EventConstraints::new(
            "latency",
            [Alternative::general(low(4)).claiming(register, value)],
        )]
    };
    let (core, thread) = (Scope::Core, Scope::Thread);
    assert!(plan(&nehalem(), &[event(core, 32), event(core, 64)]).is_err());
    assert!(plan(&nehalem(), &[event(core, 32), event(core, 32)]).is_ok());
    assert!(plan(&nehalem(), &[event(thread, 32), event(thread, 64)]).is_ok());
}

#[test]
fn arctic_wolf_ties_each_off_core_register_to_a_counter() {
    let alternatives = || {
        (0..4u8).map(|n| {
            let register =
                Register::msr(RegisterKind::OffcoreResponse, 0x3e0 + u32::from(n), Scope::Thread);
            Alternative::general(CounterSet::only(n)).claiming(register, 7)
        })
    };
    let pmu = Pmu::per_context("nvl-arcticwolf", 1, low(8));
    let events: Vec<_> =
        (0..4).map(|n| EventConstraints::new(format!("omr {n}"), alternatives())).collect();
    let placed = allocate(&pmu, &events).unwrap();
    for placement in placed.placements() {
        let Some(Counter::General(counter)) = placement.counter() else { panic!("no counter") };
        let (msr, _) = placement.registers().next().unwrap();
        assert_eq!(msr, 0x3e0 + u32::from(counter));
    }
}

#[test]
fn a_retired_memory_event_closes_its_counter_to_the_sibling() {
    let placed = plan(&haswell(), &[retired(2), plain(2)]).unwrap();
    assert!(counters(&placed, 0).and(counters(&placed, 1)).is_empty());
    // Two excluding events on each side need all four numbers, two each.
    let placed = plan(&haswell(), &[retired(2), retired(2)]).unwrap();
    assert!(counters(&placed, 0).and(counters(&placed, 1)).is_empty());
}

#[test]
fn while_one_runs_each_thread_has_half_of_the_general_counters() {
    assert!(plan(&haswell(), &[plain(4), plain(4)]).is_ok());
    assert!(plan(&haswell(), &[retired(1), plain(2)]).is_ok());
    for (threads, least) in [([retired(1), plain(3)], 4), ([retired(3), vec![]], 3)] {
        let refused = plan(&haswell(), &threads).unwrap_err();
        assert_eq!(refused.events().len(), least, "{refused}");
        assert_eq!(refused.resource().to_string(), "erratum HSD29");
        assert!(refused.reason().contains("HSD29"), "{refused}");
    }
    // Fixed counters are not affected.
    let fixed = |n| EventConstraints::new("fixed", [Alternative::fixed(CounterSet::only(n))]);
    let mut many = plain(2);
    many.extend((0..3).map(fixed));
    assert!(plan(&haswell(), &[retired(2), many]).is_ok());
}

#[test]
fn the_budget_moves_an_event_to_its_fixed_counter() {
    let cycles = EventConstraints::new(
        "cycles",
        [Alternative::general(low(4)), Alternative::fixed(CounterSet::only(1))],
    );
    let mut second = plain(2);
    second.push(cycles);
    let placed = plan(&haswell(), &[retired(1), second]).unwrap();
    assert_eq!(placed.contexts()[1].placements()[2].counter(), Some(Counter::Fixed(1)));
}

#[test]
fn with_smt_off_the_erratum_is_gone_and_counters_double() {
    let alone = Pmu::per_context("hsw", 1, low(8))
        .with_erratum(SiblingErratum { name: "HSD29", budget: Some(4) });
    let mut events = retired(4);
    events.extend(plain(4));
    assert!(allocate(&alone, &events).is_ok());
}

#[test]
fn a_refusal_names_smt_off_only_if_it_helps() {
    let pmu = Pmu::per_context("skl", 2, low(4)).with_smt_off(low(8));
    let five: Vec<_> = plain(5).into_iter().map(|event| event.with_smt_off(low(8))).collect();
    let refused = allocate(&pmu, &five).unwrap_err();
    assert_eq!(refused.events().len(), 5);
    assert_eq!(refused.resource().to_string(), "counters 0-3");
    assert!(refused.remedy().contains("SMT off"), "{refused}");

    let restricted: Vec<_> = plain(5).into_iter().map(|event| event.with_smt_off(low(4))).collect();
    let refused = allocate(&pmu, &restricted).unwrap_err();
    assert!(!refused.remedy().contains("SMT off"), "{refused}");

    let upper = EventConstraints::new("upper", []).with_smt_off(CounterSet::from_bits(0xf0));
    let refused = allocate(&pmu, &[upper]).unwrap_err();
    assert_eq!(refused.resource().to_string(), "counters 4-7, only with SMT off");
}

#[test]
fn the_watchdog_keeps_fixed_counter_1_or_a_general_one() {
    let cycles = EventConstraints::new("cycles", [Alternative::fixed(CounterSet::only(1))]);
    let pmu = Pmu::per_context("skl", 2, low(4)).with_fixed(low(3));
    assert!(plan(&pmu, &[vec![cycles.clone()], vec![cycles.clone()]]).is_ok());
    let watched = pmu.with_watchdog();
    let refused = plan(&watched, &[vec![], vec![cycles]]).unwrap_err();
    assert!(refused.reason().contains("NMI watchdog"), "{refused}");
    assert!(refused.remedy().contains("kernel.nmi_watchdog"), "{refused}");

    // Zen has no fixed counters; which general one the kernel moves it to is its affair.
    let zen = Pmu::per_context("zen3", 2, low(6)).with_watchdog();
    assert!(plan(&zen, &[plain(5), plain(5)]).is_ok());
    let refused = plan(&zen, &[plain(6), vec![]]).unwrap_err();
    assert_eq!(refused.holders().len(), 6);
    assert!(refused.holders().iter().any(|held| held.who == "the NMI watchdog"));
}

#[test]
fn merged_counters_of_zen_come_in_pairs() {
    let pair = || {
        let alternative = Alternative {
            counter_use: CounterUse::Pair,
            ..Alternative::general(CounterSet::from_bits(0x15))
        };
        EventConstraints::new("FP_RET_SSE_AVX_OPS", [alternative])
    };
    let zen = Pmu::per_context("zen2", 2, low(6));
    assert!(allocate(&zen, &[pair(), pair(), pair()]).is_ok());
    let mut events = plain(2);
    events.extend([pair(), pair()]);
    let placed = allocate(&zen, &events).unwrap();
    assert_eq!(placed.general().len(), 6);
    for placement in &placed.placements()[2..] {
        assert_eq!(placement.counter().unwrap().number() % 2, 0);
    }
    let mut events = plain(3);
    events.extend([pair(), pair()]);
    assert_eq!(allocate(&zen, &events).unwrap_err().events().len(), 5);
}

#[test]
fn an_event_that_is_taken_alone_leaves_only_fixed_counters() {
    let alone = EventConstraints::new(
        "alone",
        [Alternative { counter_use: CounterUse::Alone, ..Alternative::general(low(4)) }],
    );
    let fixed = EventConstraints::new("fixed", [Alternative::fixed(CounterSet::only(0))]);
    let pmu = Pmu::per_context("skl", 2, low(4)).with_fixed(low(3));
    assert!(allocate(&pmu, &[alone.clone(), fixed]).is_ok());
    let with_plain = vec![alone.clone(), plain(1).remove(0)];
    let refused = allocate(&pmu, &with_plain).unwrap_err();
    assert_eq!(refused.resource().to_string(), "all of counters 0-3");
    assert_eq!(refused.cause(), "alone must count alone, so it takes all of counters 0-3");
    // The sibling is not concerned.
    assert!(plan(&pmu, &[vec![alone], plain(4)]).is_ok());
}

#[test]
fn northbridge_events_own_a_counter_number_across_the_node() {
    // Four cores of a node, planned like contexts.
    let event = || {
        let alternatives = (0..4u8).flat_map(|core| {
            (0..4u8).map(move |counter| {
                let owner = Register::unnumbered(RegisterKind::Northbridge, counter, Scope::Node);
                Alternative::general(CounterSet::only(counter))
                    .claiming(owner, u64::from(core))
                    .on(core)
            })
        });
        EventConstraints::new("DRAM_ACCESSES", alternatives)
    };
    let node = Pmu::per_context("fam10h", 4, low(4));
    let one_each: Vec<_> = (0..4).map(|_| vec![event()]).collect();
    let placed = plan(&node, &one_each).unwrap();
    let used: CounterSet = (0..4).filter_map(|core| counters(&placed, core).lowest()).collect();
    assert_eq!(used, low(4));
    // A core may run several; five over the node are one too many.
    let mut five = one_each;
    five[0].push(event());
    let refused = plan(&node, &five).unwrap_err();
    assert_eq!(refused.events().len(), 5);
    // Other events do not mind.
    assert!(plan(&node, &[vec![event(), event(), event(), event()], plain(4)]).is_ok());
}

#[test]
fn both_counters_of_an_ultrasparc_strand_count_in_the_same_rings() {
    let mode = Register::unnumbered(RegisterKind::ModeBits, 0, Scope::Thread);
    let event = |pic, rings| {
        EventConstraints::new(
            "event",
            [Alternative::general(CounterSet::only(pic)).claiming(mode, rings)],
        )
    };
    let strands = Pmu::per_context("niagara1", 4, low(2));
    let (user, both) = (1, 3);
    assert!(plan(&strands, &[vec![event(0, user), event(1, user)], vec![event(0, both)]]).is_ok());
    let refused = plan(&strands, &[vec![event(0, user), event(1, both)]]).unwrap_err();
    assert_eq!(refused.resource().to_string(), "the mode bits of all counters");
}

#[test]
fn eight_contexts_are_planned_together() {
    let power = Pmu::per_context("power9", 8, low(6));
    let threads: Vec<_> = (0..8).map(|_| plain(6)).collect();
    let placed = plan(&power, &threads).unwrap();
    assert!(placed.contexts().iter().all(|own| own.general() == low(6)));
    let schedule = Partition::ByDemand.spread(&power, &plain(60)).unwrap();
    assert_eq!(schedule.sets().len(), 2);
    assert!(schedule.is_fewest());
}

#[test]
fn a_thread_too_many_is_refused() {
    let threads = [plain(1), plain(1), plain(1)];
    let refused = plan(&nehalem(), &threads).unwrap_err();
    assert_eq!(refused.events()[0].thread(), 2);
    assert_eq!(refused.resource().to_string(), "hardware contexts");
}

#[test]
fn the_terms_of_an_expression_stay_in_one_set() {
    let pmu = Pmu::per_context("skl", 2, low(4));
    let mut events = plain(3);
    events.extend(plain(2).into_iter().map(|event| event.in_bundle(7)));
    events.extend(plain(2));
    let schedule = Partition::ByDemand.sets(&pmu, &[events]).unwrap();
    assert_eq!(schedule.sets().len(), 2);
    let with = schedule.sets().iter().filter(|set| {
        let events: Vec<_> = set.contexts()[0].placements().iter().map(|it| it.event()).collect();
        events.contains(&3) && events.contains(&4)
    });
    assert_eq!(with.count(), 1);
    assert!(schedule.parted().is_empty());
    // A bundle that never fits is taken apart.
    let five = plain(5).into_iter().map(|event| event.in_bundle(1)).collect();
    let schedule = Partition::ByDemand.sets(&pmu, &[five]).unwrap();
    assert_eq!(schedule.sets().len(), 2);
    assert_eq!(schedule.parted(), [(0, 1)]);
}

#[test]
fn cores_divide_the_sets_between_them() {
    let pmu = Pmu::per_context("skl", 2, low(4));
    let schedule = Partition::ByDemand.sets(&pmu, &[plain(12)]).unwrap();
    assert_eq!(schedule.sets().len(), 3);
    assert_eq!(schedule.executions(1), 3);
    assert_eq!(schedule.executions(2), 2);
    assert_eq!(schedule.executions(8), 1);
    let all: Vec<_> = (0..2)
        .flat_map(|execution| (0..2).map(move |core| (execution, core)))
        .map(|(execution, core)| schedule.set(execution, core, 2).unwrap())
        .collect();
    assert!(schedule.sets().iter().all(|set| all.contains(&set)));
    assert_eq!(schedule.set(0, 2, 2), None);
}
