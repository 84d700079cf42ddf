//! Known answers for NetBurst: capacities, what each split loses, and the pairs that
//! the Linux scheduler refuses although the hardware can count them.
//!
//! The figures come from an exhaustive simulation of the register tables, made for this
//! project and independent of the allocator.

#[path = "allocation/netburst.rs"]
mod netburst;

use std::collections::BTreeSet;

use netburst::{Event, choice, events, rows};
use pacman_events::CounterSet;
use pacman_events::allocate::{EventConstraints, Pmu, allocate};
use pacman_events::partition::Partition;

/// Without Hyper-Threading, and with counter 1.
fn whole() -> Pmu {
    Pmu::netburst("p4", 1).allowing_all_counters()
}

fn siblings() -> Pmu {
    Pmu::netburst("p4", 2).allowing_all_counters()
}

fn fits(pmu: &Pmu, events: &[&Event]) -> bool {
    let demands: Vec<EventConstraints> = events.iter().map(|event| event.demand(1)).collect();
    allocate(pmu, &demands).is_ok()
}

/// Adds event after event wherever it still fits: with one thread's events being a
/// matroid (a flow from event to ESCR to half), this finds the most events.
fn most(place: impl Fn(&[EventConstraints]) -> bool, offered: &[EventConstraints]) -> usize {
    let mut kept: Vec<EventConstraints> = Vec::new();
    for demand in offered {
        kept.push(demand.clone());
        if !place(&kept) {
            kept.pop();
        }
    }
    kept.len()
}

#[test]
fn a_thread_alone_counts_eighteen_distinct_events_or_seventeen_without_counter_1() {
    let offered: Vec<EventConstraints> = events().iter().map(|event| event.demand(1)).collect();
    let with = whole();
    let without = Pmu::netburst("p4", 1);
    assert_eq!(most(|set| allocate(&with, set).is_ok(), &offered), 18);
    assert_eq!(most(|set| allocate(&without, set).is_ok(), &offered), 17);
}

#[test]
fn a_half_split_counts_nine_and_nine_or_eight_and_nine_without_counter_1() {
    let offered: Vec<EventConstraints> = events().iter().map(|event| event.demand(1)).collect();
    let specific: Vec<EventConstraints> =
        events().iter().filter(|event| !event.independent).map(|event| event.demand(1)).collect();
    let lp = |pmu: &Pmu, context: usize, offered: &[EventConstraints]| {
        let place = |set: &[EventConstraints]| {
            let mut threads = [Vec::new(), Vec::new()];
            threads[context] = set.to_vec();
            Partition::Even.plan(pmu, &threads).is_ok()
        };
        most(place, offered)
    };
    let pmu = siblings();
    assert_eq!([lp(&pmu, 0, &offered), lp(&pmu, 1, &offered)], [9, 9]);
    assert_eq!([lp(&pmu, 0, &specific), lp(&pmu, 1, &specific)], [9, 9]);
    let pmu = Pmu::netburst("p4", 2);
    assert_eq!([lp(&pmu, 0, &offered), lp(&pmu, 1, &offered)], [8, 9]);
}

#[test]
fn a_joint_plan_lends_one_context_what_the_other_leaves() {
    let all = events();
    let offered: Vec<EventConstraints> = all.iter().map(|event| event.demand(1)).collect();
    let pmu = siblings();
    // The second thread counts one event; the first gets the other 17 counters.
    let second = vec![all.iter().find(|it| it.name == "tc_ms_xfer").unwrap().demand(1)];
    let place = |set: &[EventConstraints]| {
        Partition::ByDemand.plan(&pmu, &[set.to_vec(), second.clone()]).is_ok()
    };
    assert_eq!(most(place, &offered), 17);
}

#[test]
fn one_event_with_other_masks_runs_once_for_each_of_its_escrs() {
    let (whole, halves) = (whole(), siblings());
    let mut twice = 0;
    for event in events() {
        let masks: Vec<EventConstraints> = (1..4).map(|mask| event.demand(mask)).collect();
        let escrs = event.halves.iter().flatten().count();
        twice += usize::from(escrs == 2);
        for count in 1..=3 {
            let fits = allocate(&whole, &masks[..count]).is_ok();
            assert_eq!(fits, count <= escrs, "{} with {count} masks", event.name);
            let split = Partition::Even.plan(&halves, &[masks[..count].to_vec()]).is_ok();
            assert_eq!(split, count == 1 && event.halves[0].is_some(), "{}", event.name);
        }
    }
    assert_eq!(twice, 44);
}

#[test]
fn one_escr_setting_with_other_filters_fills_the_counters_of_its_group() {
    let whole = whole();
    for event in events() {
        // Equal ESCR values may share the ESCR; the filters live in the CCCRs.
        let same = vec![event.demand(1); 8];
        let most = (1..=8).rev().find(|n| allocate(&whole, &same[..*n]).is_ok()).unwrap();
        let wired: CounterSet =
            event.halves.iter().flatten().fold(CounterSet::EMPTY, |set, half| set.or(half.1));
        assert_eq!(most, wired.len() as usize, "{}", event.name);
        let single = event.halves.iter().flatten().count() == 1;
        let expected: &[usize] = if single { &[2] } else { &[4, 6] };
        assert!(expected.contains(&most), "{}: {most}", event.name);
    }
}

#[test]
fn the_even_split_loses_exactly_the_events_of_the_other_half() {
    let pmu = siblings();
    let lost = |context: usize| -> Vec<&str> {
        let lost = |event: &&Event| {
            let mut threads = [Vec::new(), Vec::new()];
            threads[context] = vec![event.demand(1)];
            Partition::Even.plan(&pmu, &threads).is_err()
        };
        events().iter().filter(lost).map(|event| event.name).collect()
    };
    assert_eq!(lost(0), ["IOQ_active_entries", "bsq_active_entries"]);
    assert_eq!(lost(1), ["BSQ_allocation"]);
    for event in events() {
        for context in 0..2 {
            let mut threads = [Vec::new(), Vec::new()];
            threads[context] = vec![event.demand(1)];
            assert!(Partition::ByDemand.plan(&pmu, &threads).is_ok(), "{}", event.name);
        }
    }
}

#[test]
fn a_refusal_of_the_even_split_advises_the_joint_one() {
    let all = events();
    let active = all.iter().find(|it| it.name == "IOQ_active_entries").unwrap();
    let refused = Partition::Even.plan(&siblings(), &[vec![active.demand(1)]]).unwrap_err();
    assert_eq!(refused.resource().to_string(), "half 0 of the core");
    assert!(refused.remedy().contains("by demand"), "{refused}");
}

#[test]
fn whole_gives_one_context_everything_and_the_other_nothing() {
    let all = events();
    let offered: Vec<EventConstraints> = all.iter().map(|event| event.demand(1)).collect();
    let pmu = siblings();
    for owner in 0..2usize {
        let whole = Partition::Whole { owner: owner as u8 };
        let place = |set: &[EventConstraints]| {
            let mut threads = [Vec::new(), Vec::new()];
            threads[owner] = set.to_vec();
            whole.plan(&pmu, &threads).is_ok()
        };
        assert_eq!(most(place, &offered), 18);
        let mut threads = [Vec::new(), Vec::new()];
        threads[1 - owner] = vec![offered[0].clone()];
        let refused = whole.plan(&pmu, &threads).unwrap_err();
        assert_eq!(refused.resource().to_string(), "the core's counters");
    }
}

/// Linux on logical processor 0: for each event one ESCR, and the first free counter.
fn linux_fits(rows: &[Vec<&str>], set: &[usize]) -> bool {
    let (mut counters, mut escrs) = (BTreeSet::new(), BTreeSet::new());
    set.iter().all(|at| {
        let (escr, list) = choice(rows[*at][7], rows[*at][8]).unwrap();
        let free = list.iter().find(|counter| !counters.contains(counter));
        free.is_some_and(|counter| counters.insert(counter) && escrs.insert(escr))
    })
}

#[test]
fn the_pairs_that_linux_refuses_are_all_placed() {
    let (rows, events) = (rows(), events());
    let (mut pairs, mut refused, mut by_half, mut of_half) = (0, 0, 0, 0);
    let halves = siblings();
    for a in 0..46 {
        for b in a + 1..46 {
            pairs += 1;
            assert!(fits(&whole(), &[&events[a], &events[b]]), "hardware can count every pair");
            let list = vec![events[a].demand(1), events[b].demand(1)];
            let half = Partition::Even.plan(&halves, &[list]).is_ok();
            by_half += u32::from(half);
            of_half += u32::from(half && !linux_fits(&rows, &[a, b]));
            if !linux_fits(&rows, &[a, b]) {
                refused += 1;
                // Also with counter 1 avoided, as we do by default.
                assert!(
                    fits(&Pmu::netburst("p4", 1), &[&events[a], &events[b]]),
                    "{} and {}",
                    events[a].name,
                    events[b].name
                );
            }
        }
    }
    assert_eq!((pairs, refused, of_half), (1035, 135, 56));
    assert_eq!((f64::from(by_half) / 1035.0 * 1000.0).round() / 10.0, 83.9);
}

#[test]
fn the_triples_that_linux_refuses_are_placed_wherever_hardware_can() {
    let (rows, events, pmu) = (rows(), events(), whole());
    let (mut triples, mut by_hardware, mut by_linux, mut by_half) = (0, 0, 0, 0);
    let (mut gained, mut of_half) = (0, 0);
    let halves = siblings();
    for a in 0..46 {
        for b in a + 1..46 {
            for c in b + 1..46 {
                triples += 1;
                let set = [&events[a], &events[b], &events[c]];
                let ours = fits(&pmu, &set);
                let linux = linux_fits(&rows, &[a, b, c]);
                assert!(ours || !linux);
                by_hardware += u32::from(ours);
                by_linux += u32::from(linux);
                gained += u32::from(ours && !linux);
                let list = set.iter().map(|event| event.demand(1)).collect();
                let half = Partition::Even.plan(&halves, &[list]).is_ok();
                by_half += u32::from(half);
                of_half += u32::from(half && !linux);
            }
        }
    }
    assert_eq!((triples, gained, of_half), (15_180, 5124, 1736));
    let share = |count: u32| (f64::from(count) / f64::from(triples) * 1000.0).round() / 10.0;
    assert_eq!([share(by_hardware), share(by_half), share(by_linux)], [99.1, 66.1, 65.3]);
}

#[test]
fn single_escr_events_cannot_run_on_both_threads_at_once() {
    let all = events();
    let mut single = Vec::new();
    for event in &all {
        let both = [vec![event.demand(1)], vec![event.demand(1)]];
        match Partition::ByDemand.plan(&siblings(), &both) {
            Ok(plan) => {
                let escrs: BTreeSet<u32> = plan
                    .contexts()
                    .iter()
                    .map(|own| own.placements()[0].escr().unwrap().register.number().unwrap())
                    .collect();
                assert_eq!(escrs.len(), 2, "{}", event.name);
            }
            Err(refused) => {
                assert_eq!(refused.events().len(), 2);
                assert!(refused.resource().to_string().contains("ESCR"), "{refused}");
                single.push(event.name);
            }
        }
    }
    assert_eq!(single, ["IOQ_active_entries", "BSQ_allocation", "bsq_active_entries"]);
}

#[test]
fn pairs_of_siblings_that_linux_lets_collide_get_registers_of_their_own() {
    let (rows, events) = (rows(), events());
    let pmu = siblings();
    let (mut collisions, mut solved, mut unsolved) = (0, 0, Vec::new());
    for a in 0..46 {
        for b in 0..46 {
            let (escr, counters) = choice(rows[a][7], rows[a][8]).unwrap();
            let (other, others) = choice(rows[b][9], rows[b][10]).unwrap();
            if escr == other || counters.lowest() == others.lowest() {
                collisions += 1;
                let threads = [vec![events[a].demand(1)], vec![events[b].demand(1)]];
                if let Ok(plan) = Partition::ByDemand.plan(&pmu, &threads) {
                    let first = &plan.contexts()[0].placements()[0];
                    let second = &plan.contexts()[1].placements()[0];
                    assert_ne!(first.counter(), second.counter());
                    assert_ne!(first.escr().unwrap().register, second.escr().unwrap().register);
                    solved += 1;
                } else {
                    unsolved.push((events[a].name, events[b].name));
                }
            }
        }
    }
    assert_eq!(collisions, 30);
    // Only an event with a single ESCR collides with itself whatever one does.
    let single = ["IOQ_active_entries", "BSQ_allocation", "bsq_active_entries"];
    assert_eq!(unsolved, single.map(|name| (name, name)));
    assert_eq!(solved, 27);
}

#[test]
fn a_refusal_offers_counter_1_only_where_it_helps() {
    let all = events();
    let named = |name: &str| all.iter().find(|event| event.name == name).unwrap().demand(1);
    let list = |names: &[&'static str]| names.iter().map(|name| named(name)).collect::<Vec<_>>();
    let pmu = Pmu::netburst("p4", 1);
    let four = ["ITLB_reference", "BPU_fetch_request", "MOB_load_replay", "page_walk_type"];
    let refused = allocate(&pmu, &list(&four)).unwrap_err();
    assert_eq!(refused.resource().to_string(), "counters 0,2,3");
    assert!(refused.remedy().contains("allow counter 1"), "{refused}");
    let same = ["packed_SP_uop", "packed_DP_uop", "scalar_SP_uop"];
    let refused = allocate(&pmu, &list(&same)).unwrap_err();
    assert_eq!(refused.resource().to_string(), "MSR_FIRM_ESCR0, MSR_FIRM_ESCR1");
    assert!(!refused.remedy().contains("counter 1"), "{refused}");
}
