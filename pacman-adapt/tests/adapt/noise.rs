//! Decisions where executions vary, and how often it is looked again where that is dear.

use pacman_adapt::phases::Noise;
use pacman_adapt::predict::Configuration;
use pacman_adapt::{Controller, RegretLimits, Rules, State};

use super::{controller, on, run};

const SEEDS: u64 = 400;

/// The cost of one of two threads, as a part of both.
fn alone(part: f64) -> impl Fn(Configuration) -> f64 {
    move |on| if on.threads() == 1 { part } else { 1.0 }
}

/// In how many of the seeds a phase is held on one thread in the end, if `run` says how it goes.
fn held_alone(run: impl Fn(&mut Controller, u64)) -> usize {
    let is_alone = |&seed: &u64| {
        let mut phase = controller("2 cores", Rules::default());
        run(&mut phase, seed);
        phase.next() == on("1x1")
    };
    (0..SEEDS).filter(is_alone).count()
}

/// A tenth is gained and executions vary by 6 %: three of each may not suffice. With no more than those
/// 245 of the phases were held on one thread.
#[test]
fn what_noise_may_hide_is_measured_again() {
    let at = |part: f64| {
        held_alone(|phase, seed| {
            let (mut noise, seconds) = (Noise::new(seed, 0.06), alone(part));
            run(phase, 400, |on| seconds(on) * noise.factor());
        })
    };
    assert!(at(0.9) >= 340, "{}", at(0.9));
    assert!(at(1.05) <= SEEDS as usize / 100, "what is worse is left: {}", at(1.05));
}

/// Runs `executions` that vary by a tenth, of which the first `unlucky` on one thread meet a time slice;
/// how many of them were on one thread.
fn with_slices(
    phase: &mut Controller,
    seed: u64,
    executions: usize,
    part: f64,
    unlucky: u32,
) -> u32 {
    let (mut noise, mut count) = (Noise::new(seed, 0.1), 0);
    run(phase, executions, |on| {
        count += u32::from(on.threads() == 1);
        let slice = if on.threads() == 1 && count <= unlucky { 2.0 } else { 0.0 };
        alone(part)(on) * noise.factor() + slice
    });
    count
}

/// A search's sample of one thread meets time slices. Where another one followed only what looked like
/// a drift, 351 of the phases were held on one thread.
#[test]
fn what_noise_has_hidden_is_searched_for_again() {
    let found = held_alone(|phase, seed| {
        with_slices(phase, seed, 2_000, 0.7, 3);
    });
    assert!(found >= 385, "{found}");
    for seed in 0..SEEDS / 4 {
        let mut phase = controller("2 cores", Rules::default());
        let count = with_slices(&mut phase, seed, 10_000, 1.9, 0);
        let part = phase.account().lost() / phase.account().baseline();
        assert!(count <= 30 && part < 0.004, "there is nothing to be found: {count}, {part}");
    }
}

/// From some time on everything takes half as long again and varies by a fifth, as where another
/// program has come: the search that follows sees two levels that noise may explain. Without a
/// preference for what was held, 234 stayed so.
#[test]
fn what_was_held_before_is_not_left_for_noise() {
    let then = |part: f64| {
        held_alone(|phase, seed| {
            run(phase, 300, alone(0.7));
            assert_eq!(phase.next(), on("1x1"));
            let (mut noise, seconds) = (Noise::new(seed, 0.2), alone(part));
            run(phase, 600, |on| 1.5 * seconds(on) * noise.factor());
        })
    };
    assert!(then(0.7) >= 360, "{}", then(0.7));
    assert!(then(1.3) <= 20, "{}: it is worse from then on", then(1.3));
}

#[test]
fn what_is_untypical_is_in_the_account_only() {
    let mut phase = controller("2 cores", Rules::default());
    run(&mut phase, 300, alone(0.7));
    let (level, why) = (phase.level(on("1x1")), phase.state());
    let before = *phase.account();
    phase.outlier(on("1x1"), 5.0);
    phase.outlier(on("2x1"), 9.0);
    for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        phase.outlier(on("1x1"), cost);
    }
    phase.outlier(on("99x1"), 1.0);
    assert_eq!((phase.level(on("1x1")), phase.state()), (level, why));
    let after = phase.account();
    assert_eq!(after.executions(), before.executions() + 2);
    assert!((after.lost() - before.lost() - 4.0).abs() < 1e-9, "the default loses nothing");
}

const HELD: f64 = 0.8;

/// The number of checks among `executions`, and their cost as a part of all. Two threads need a start
/// that takes as long as `start` executions, and the test passes its cost.
fn checks(start: f64, executions: u64) -> (u64, f64) {
    let mut phase = controller("2 cores", Rules::default());
    run(&mut phase, 300, alone(HELD));
    let (mut checks, mut spent) = (0, 0.0);
    for _ in 0..executions {
        let (runs, state) = (phase.next(), phase.state());
        let seconds = alone(HELD)(runs);
        if runs.threads() == 2 {
            assert_eq!(state, State::Checking);
            phase.defer_cost(on("1x1"), start, false);
            checks += 1;
            spent += start + seconds - HELD;
        }
        phase.finished(runs, seconds, seconds).expect("a valid execution");
    }
    (checks, spent / (HELD * executions as f64))
}

/// Half a percent; the cost of a check is unknown before the first. When only the executions counted,
/// it was 5 % at ten starts to an execution.
#[test]
fn checks_cost_no_more_than_their_part() {
    for start in [0.0, 1.0, 10.0] {
        let (checks, part) = checks(start, 40_000);
        let first = (start + 1.0 - HELD) / (HELD * 40_000.0);
        assert!(part <= 0.005 + first && checks >= 10, "{start}: {part} in {checks}");
    }
}

/// Two threads need a start that takes as long as ten executions: they are measured well before they are
/// left, and the first check is no earlier than its part of the time allows.
#[test]
fn what_is_dear_to_come_back_to_is_left_once() {
    let first_return = |switch_back_cost: f64, seed: u64| {
        let mut rules = Rules::default();
        rules.bound = RegretLimits { initial: 1.0, steady: 1.0, after_executions: 50 };
        rules.switch_back_cost = switch_back_cost;
        let mut phase = controller("2 cores", rules);
        let mut noise = Noise::new(seed, 0.02);
        let ran = run(&mut phase, 4_000, |on| alone(0.9)(on) * noise.factor());
        let back = |pair: &[Configuration]| pair[0] == on("1x1") && pair[1] == on("2x1");
        ran.windows(2).position(back).unwrap_or(ran.len())
    };
    let first = |switch_back_cost| {
        (0..100).map(|seed| first_return(switch_back_cost, seed)).collect::<Vec<_>>()
    };
    let within = |of: &[usize], executions| of.iter().filter(|&&at| at < executions).count();
    assert!(within(&first(0.0), 20) >= 30, "a search comes back where that costs nothing");
    let dear = first(10.0);
    assert_eq!((within(&dear, 2_100), within(&dear, 2_400)), (0, dear.len()), "{dear:?}");
}
