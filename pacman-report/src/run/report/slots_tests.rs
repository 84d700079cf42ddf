//! Slots of made-up regions, and the verdict on SMT off against machines whose times are known.

use pacman_adapt::phases::{Kind, Random, SimPhase, SmtMachine};
use pacman_adapt::predict::Configuration;
use pacman_core::Topology;
use pacman_metrics::slots::{SiblingSlots, SlotShares, Verdict, smt_off};

use super::seats::Seats;
use super::tests::{region, report, row};

const SKYLAKE: [&str; 5] = [
    "CPU_CLK_UNHALTED.THREAD_ANY",
    "UOPS_RETIRED.RETIRE_SLOTS",
    "UOPS_ISSUED.ANY",
    "IDQ_UOPS_NOT_DELIVERED.CORE",
    "INT_MISC.RECOVERY_CYCLES_ANY",
];

const ZEN: [&str; 6] = [
    "SLOTS",
    "TOPDOWN_RETIRING",
    "TOPDOWN_DISPATCHED",
    "TOPDOWN_FRONTEND_BOUND",
    "TOPDOWN_BACKEND_BOUND",
    "TOPDOWN_SMT_CONTENTION",
];

fn some(counts: &[u64]) -> Vec<Option<u64>> {
    counts.iter().copied().map(Some).collect()
}

fn seats() -> Seats {
    // CPUs 0 and 1 are one core, 2 and 3 the other.
    Seats::on(&Topology::synthetic("2 cores, 2 threads").expect("a machine"))
}

#[test]
fn siblings_share_the_slots_of_a_core_and_a_lone_thread_has_all() {
    let counts = some(&[1_000, 1_200, 1_300, 300, 25]);
    let rows = vec![
        row(0, 1.0, Some(0), 0, &counts),
        row(1, 1.0, Some(1), 0, &counts),
        row(2, 1.0, Some(2), 0, &counts),
    ];
    let report = report(&region(&[(3, 1.0)], rows), &SKYLAKE, &seats());
    let slots = report.slots.expect("its events were counted");
    let retiring: Vec<Vec<f64>> = slots
        .cores
        .iter()
        .map(|core| core.threads.iter().map(|one| one.shares.unwrap().retiring).collect())
        .collect();
    assert_eq!(retiring, [vec![0.6, 0.6], vec![0.3]]);
    assert_eq!(slots.cores[0].place, Some((0, 0)));
    assert!(slots.cores[0].smt_off.is_some() && slots.cores[1].smt_off.is_none());
    assert_eq!(slots.smt_off, slots.cores[0].smt_off);
}

#[test]
fn counts_of_a_core_say_nothing_of_threads_that_ran_apart() {
    let counts = some(&[1_000, 1_200, 1_300, 300, 25]);
    let apart = vec![row(0, 1.0, Some(0), 0, &counts), row(1, 0.5, Some(1), 0, &counts)];
    let slots = report(&region(&[(2, 1.0)], apart), &SKYLAKE, &seats()).slots.unwrap();
    let core = &slots.cores[0];
    assert!(core.threads.iter().all(|thread| thread.shares.is_none()) && core.smt_off.is_none());
    let why = core.why_absent.as_deref().unwrap();
    assert!(why.starts_with("its threads ran together in 50 % of the time"), "{why}");

    let moved = vec![row(0, 1.0, Some(0), 0, &counts), row(1, 1.0, Some(2), 1, &counts)];
    let slots = report(&region(&[(2, 1.0)], moved), &SKYLAKE, &seats()).slots.unwrap();
    assert_eq!(slots.cores.len(), 2);
    for core in &slots.cores {
        assert!(core.threads[0].shares.is_none() && core.why_absent.is_some(), "{core:?}");
    }
}

#[test]
fn each_thread_of_zen_has_its_own_slots_wherever_it_ran() {
    let counts = some(&[6_000, 1_500, 1_800, 1_200, 2_100, 900]);
    let rows = vec![row(0, 1.0, Some(0), 0, &counts), row(1, 0.5, Some(1), 3, &counts)];
    let slots = report(&region(&[(2, 1.0)], rows), &ZEN, &seats()).slots.unwrap();
    for core in &slots.cores {
        let shares = core.threads[0].shares.expect("counted");
        assert_eq!((shares.retiring, shares.smt_contention), (0.25, Some(0.15)));
        assert_eq!((&core.why_absent, &core.smt_off), (&None, &None));
    }
    let without = report(&region(&[(1, 1.0)], vec![]), &ZEN, &seats());
    assert!(without.slots.is_none());
}

/// The slots of a thread of a phase on cores with two busy contexts; with a count of contention or
/// with slots that the siblings divide.
fn siblings(phase: &SimPhase, cores: u32, counts_contention: bool) -> SiblingSlots {
    // Slots of a simulated core in a cycle.
    const WIDTH: f64 = 4.0;
    let on = Configuration::on_cores(cores, 2).unwrap();
    let sample = phase.counted(on).unwrap();
    let count = |event: &str| sample.count(event).unwrap();
    let used = count("instructions") / (WIDTH * count("cycles"));
    let contention = count("stalls_sibling") / count("cycles");
    // Nine tenths of the slots that a simulated core does not fill wait for data.
    let part = if counts_contention { 1.0 } else { 0.5 };
    let retiring = used / part;
    let denied = if counts_contention { contention } else { 0.0 };
    let rest = (1.0 - retiring - denied).max(0.0);
    let shares = SlotShares {
        retiring,
        bad_speculation: 0.0,
        frontend_bound: 0.1 * rest,
        backend_bound: 0.9 * rest,
        smt_contention: counts_contention.then_some(denied),
    };
    SiblingSlots { shares, part }
}

/// The verdict beside the times with one and with two contexts a core. Wrong are verdicts where the
/// speed differs by more than the tolerance of 3 % the other way.
#[test]
fn verdicts_on_simulated_phases_are_right_or_undecided() {
    const DRAWS: usize = 6_000;
    for (processor, counts_contention, least_right) in [("Zen", true, 0.4), ("Intel", false, 0.15)]
    {
        let mut random = Random::new(20_261_125);
        let (mut right, mut wrong, mut undecided, mut pays) = (0, 0, 0, 0);
        for draw in 0..DRAWS {
            let cores = [2, 4, 8, 16][draw % 4];
            let phase = Kind::Any.draw(&mut random, SmtMachine::new(cores, 2));
            let seconds =
                |contexts| phase.seconds(Configuration::on_cores(cores, contexts).unwrap());
            let truth = seconds(2) / seconds(1);
            let thread = siblings(&phase, cores, counts_contention);
            let off = smt_off(&[thread, thread]).unwrap();
            pays += i32::from(off.verdict == Verdict::Pays);
            match off.verdict {
                Verdict::Pays if truth < 0.97 => wrong += 1,
                Verdict::Costs if truth > 1.03 => wrong += 1,
                Verdict::Pays | Verdict::Costs => right += 1,
                _ => undecided += 1,
            }
        }
        let of = |number: i32| f64::from(number) / DRAWS as f64;
        println!(
            "verdicts on {DRAWS} phases, {processor}: {:.3} right, {:.4} wrong, {:.3} undecided; {:.4} pays",
            of(right),
            of(wrong),
            of(undecided),
            of(pays)
        );
        assert!(of(wrong) < 0.01, "{processor}: {wrong} of {DRAWS} are wrong");
        assert!(of(right) > least_right, "{processor}: {right} of {DRAWS} are right");
    }
}
