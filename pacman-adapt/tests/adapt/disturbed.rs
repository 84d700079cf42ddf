//! The effects of other programs' time slices: on a sample, to what is held, and to the default for as long
//! as they are there.

use pacman_adapt::phases::Random;
use pacman_adapt::predict::Configuration;
use pacman_adapt::{Controller, Rules, State};

use super::{controller, on};

/// Two threads take 1, one of them `alone`.
fn quiet(alone: f64, on: Configuration) -> f64 {
    if on.threads() == 1 { alone } else { 1.0 }
}

/// Runs executions `from` to `to`, which take what `seconds` says by number; what they took in all.
fn run(
    phase: &mut Controller,
    executions: std::ops::Range<u64>,
    mut seconds: impl FnMut(u64, Configuration) -> f64,
) -> f64 {
    let one = |number| {
        let on = phase.next();
        let took = seconds(number, on);
        phase.finished(on, took, took).expect("a valid execution");
        took
    };
    executions.map(one).sum()
}

/// Another program takes a processor in one of six executions on both, for the time of twenty.
fn loaded(random: &mut Random, alone: f64, on: Configuration) -> f64 {
    let waits = random.unit() < 1.0 / 6.0;
    quiet(alone, on) + if waits && on.threads() == 2 { 20.0 } else { 0.0 }
}

#[test]
fn a_default_that_waits_for_others_is_left_until_it_does_not() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let mut phase = controller("2 cores", Rules::default());
        let took = run(&mut phase, 0..4_000, |_, on| loaded(&mut random, 1.9, on));
        // The default would take 17,300, and one thread 7,600.
        assert!(took < 9_500.0, "seed {seed}: {took}: {}", phase.why());
        let back = run(&mut phase, 0..4_000, |_, on| quiet(1.9, on));
        assert_eq!(phase.next(), on("2x1"), "seed {seed}: {}", phase.why());
        assert!(back < 4_000.0 * 1.4, "seed {seed}: {back}");
    }
}

/// Where one thread waits as often as both it is no way out, and that is found out soon.
#[test]
fn what_waits_wherever_it_runs_stays_as_it_is() {
    let both = |random: &mut Random, on: Configuration| {
        let waits = random.unit() < 1.0 / 6.0;
        quiet(1.9, on) + if waits { 20.0 } else { 0.0 }
    };
    let mut lost = 0.0;
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let mut phase = controller("2 cores", Rules::default());
        let mut alone = 0;
        let took = run(&mut phase, 0..4_000, |_, on| {
            alone += u64::from(on.threads() == 1);
            both(&mut random, on)
        });
        assert!(alone < 800, "seed {seed}: {alone} of 4,000 on one: {}", phase.why());
        lost += took / (4_000.0 * (1.0 + 20.0 / 6.0)) - 1.0;
    }
    assert!(lost / 100.0 < 0.02, "{lost} in a hundred");
}

#[test]
fn one_slice_at_the_default_is_no_reason_to_leave_it() {
    let mut phase = controller("2 cores", Rules::default());
    run(&mut phase, 0..2_000, |number, on| {
        quiet(1.9, on) + if number % 700 == 150 { 60.0 } else { 0.0 }
    });
    assert_eq!((phase.next(), phase.state()), (on("2x1"), State::Holding), "{}", phase.why());
    assert!(phase.reduced_executions() <= 3, "samples only: {}", phase.reduced_executions());
}

#[test]
fn a_sample_that_met_a_slice_is_taken_again() {
    // Eight threads take turns on two contexts: down to two nothing is risked, even by who owes.
    let machine = pacman_topology::Topology::synthetic("2 cores").expect("a machine");
    let team = pacman_adapt::Candidates::for_team(&machine, 8, None).expect("candidates");
    let mut phase = Controller::new(team, Rules::default());
    let mut samples = 0;
    run(&mut phase, 0..40, |_, on| {
        samples += u32::from(on.threads() == 2);
        match on.threads() {
            2 if samples == 1 => 9.0,
            2 => 0.7,
            1 => 1.3,
            _ => 1.0,
        }
    });
    assert_eq!(phase.next(), on("2x1"), "{}", phase.why());
    assert!(samples > 30, "at once: {samples}");
}

#[test]
fn what_is_held_may_meet_one_slice() {
    let mut phase = controller("2 cores", Rules::default());
    run(&mut phase, 0..130, |_, on| quiet(0.8, on));
    assert_eq!(phase.next(), on("1x1"), "{}", phase.why());
    run(&mut phase, 0..1, |_, _| 40.0);
    assert!(phase.account().credit(1.0) < 0.0, "it is overdrawn by that");
    assert_eq!((phase.next(), phase.state()), (on("1x1"), State::Holding), "{}", phase.why());
    // The second within as few executions is no accident.
    run(&mut phase, 0..12, |number, on| if number == 5 { 40.0 } else { quiet(0.8, on) });
    assert_eq!(phase.next(), on("2x1"), "{}", phase.why());
}

/// The first four executions at the default differ by far, and then two threads hold each other up. By the
/// spread of those four a sample of one thread might cost hundreds of executions.
#[test]
fn a_default_that_varies_by_far_at_first_is_left_soon() {
    let mut phase = controller("2 cores", Rules::default());
    let took = run(&mut phase, 0..400, |number, on| match (on.threads(), number) {
        (1, _) => 1.2,
        (_, 0 | 2) => 0.05,
        _ => 8.0,
    });
    // The default would take 3,184, and one thread 480.
    assert_eq!(phase.next(), on("1x1"), "{}", phase.why());
    assert!(took < 800.0, "{took}: {}", phase.why());
}
