//! Findings about a stay elsewhere when the account has it and the medians have not.

use pacman_adapt::predict::Configuration;
use pacman_adapt::{Controller, Rules, State};

use super::{controller, on, run};

/// Eight cores cost more than two.
fn saturated(on: Configuration) -> f64 {
    1.0 / f64::from(on.threads().min(2)) + 0.05 * f64::from(on.threads())
}

/// How much more than at the default the phase has taken in all, as a part of it, after each of
/// `executions`; `seconds` returns the true time by execution.
fn excesses(
    phase: &mut Controller,
    executions: u64,
    mut seconds: impl FnMut(u64, Configuration) -> f64,
) -> Vec<f64> {
    let default = phase.candidates().default();
    let (mut total, mut at_default) = (0.0, 0.0);
    let mut one = |number| {
        let on = phase.next();
        let took = seconds(number, on);
        phase.finished(on, took, took).expect("a valid execution");
        total += took;
        at_default += if on == default { took } else { seconds(number, default) };
        total / at_default - 1.0
    };
    (1..=executions).map(&mut one).collect()
}

#[test]
fn what_is_cheap_most_of_the_time_and_dear_now_and_then_is_left() {
    for every in [4, 7, 20] {
        let mut phase = controller("8 cores", Rules::default());
        // One execution in a few has its threads share a context for a time slice. The search
        // has none of these.
        let truth = |number: u64, on: Configuration| match on.threads() {
            8 => 0.9,
            _ if number > 400 && number % every == 0 => 20.0,
            _ => saturated(on),
        };
        let all = excesses(&mut phase, 20_000, truth);
        assert!(all[399] < -0.2, "two threads were found: {}", all[399]);
        // The gain is lost again, and two slices beyond the bound: the first may be an accident.
        let most = all[400..].iter().copied().fold(0.0, f64::max);
        assert!(most < 0.01 + 2.0 * 20.0 / (0.9 * 400.0), "every {every}: {most}");
        assert!(all[19_999] <= 0.01, "every {every}: {}: {}", all[19_999], phase.why());
        assert_eq!(phase.next().threads(), 8, "every {every}: {}", phase.why());
        assert!(phase.why().contains("on average"), "every {every}: {}", phase.why());
    }
}

#[test]
fn what_stays_better_on_a_slower_machine_is_kept() {
    // Everything takes twice as long from then on. Against the default as it was measured that is a
    // loss, of more than the account has.
    let truth = |number: u64, on: Configuration| {
        let slower = if number > 130 { 2.0 } else { 1.0 };
        slower * if on.threads() == 1 { 0.96 } else { 1.0 }
    };
    let mut phase = controller("2 cores", Rules::default());
    let before = excesses(&mut phase, 130, truth);
    assert_eq!(phase.next(), on("1x1"), "{}", phase.why());
    let after = excesses(&mut phase, 500, |number, on| truth(130 + number, on));
    assert_eq!(phase.next(), on("1x1"), "{}", phase.why());
    // Half of what six executions seemed to lose is taken back: never more than was lost.
    let truly = before[129] * 130.0 + after[499] * 1000.0;
    let lost = phase.account().lost();
    assert!((truly..truly + 4.0).contains(&lost), "{lost}, in truth {truly}");
}

/// One of two threads gains a little, if it costs nothing elsewhere.
fn gains(on: Configuration) -> f64 {
    if on.threads() == 1 { 0.9 } else { 1.0 }
}

/// Runs it, and charges each execution on one thread with `cost`.
fn charged(phase: &mut Controller, executions: u64, cost: f64, recurring: bool) -> u64 {
    let mut reduced = 0;
    for _ in 0..executions {
        let runs = phase.next();
        phase.finished(runs, gains(runs), gains(runs)).expect("a valid execution");
        if runs.threads() == 1 {
            phase.defer_cost(runs, cost, recurring);
            reduced += 1;
        }
    }
    reduced
}

#[test]
fn what_it_costs_elsewhere_is_lost_and_counts_against_it() {
    let mut free = controller("2 cores", Rules::default());
    charged(&mut free, 400, 0.0, true);
    assert_eq!((free.next(), free.state()), (on("1x1"), State::Holding), "{}", free.why());

    let mut dear = controller("2 cores", Rules::default());
    let reduced = charged(&mut dear, 400, 0.3, true);
    assert_eq!(dear.next(), on("2x1"), "{}", dear.why());
    assert!((1..10).contains(&reduced), "{reduced}");

    // The cost of a change of its own is lost, and says nothing of what follows it.
    let mut once = controller("2 cores", Rules::default());
    run(&mut once, 400, gains);
    let before = once.account().lost();
    once.defer_cost(on("1x1"), 0.5, false);
    assert!((once.account().lost() - before - 0.5).abs() < 1e-12);
    run(&mut once, 20, gains);
    assert_eq!(once.next(), on("1x1"), "{}", once.why());
    // However much: it is owed, and what runs is still the better one.
    once.defer_cost(on("1x1"), 50.0, false);
    let ran = run(&mut once, 20, gains);
    assert!(ran.iter().all(|&ran| ran == on("1x1")), "{}", once.why());
}

#[test]
fn charges_that_are_none_change_nothing() {
    let mut phase = controller("2 cores", Rules::default());
    run(&mut phase, 400, gains);
    let (before, why) = (*phase.account(), phase.why());
    for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        phase.defer_cost(on("1x1"), cost, true);
    }
    phase.defer_cost(on("2x1"), 1.0, true);
    phase.defer_cost(on("99x1"), 1.0, true);
    assert_eq!((*phase.account(), phase.why()), (before, why));
}

#[test]
fn executions_reported_together_count_as_if_one_after_the_other() {
    let truth = |number: usize, on: Configuration| {
        saturated(on) * (1.0 + 0.02 * ((number * 7 % 11) as f64 / 11.0 - 0.5))
    };
    let mut each = controller("8 cores", Rules::default());
    let mut together = controller("8 cores", Rules::default());
    for number in 0..200 {
        for phase in [&mut each, &mut together] {
            let runs = phase.next();
            phase.finished(runs, truth(number, runs), truth(number, runs)).expect("valid");
        }
    }
    assert_eq!((each.state(), each.next()), (State::Holding, on("2x1")));
    // Until a check is due: then the one is there at the first execution after that.
    let usual = each.drift_limit().expect("it is held");
    let runs = each.next();
    for first in [200, 203, 204, 209] {
        let seconds: Vec<f64> = (first..first + 5).map(|number| truth(number, runs)).collect();
        assert!(seconds.iter().all(|&seconds| seconds < usual), "{seconds:?} {usual}");
        for &seconds in &seconds {
            each.finished(runs, seconds, seconds).expect("valid");
        }
        together.finished_together(runs, &seconds).expect("valid");
        assert_eq!(each.level(runs), together.level(runs));
        let [one, other] = [&each, &together].map(|phase| *phase.account());
        assert_eq!(one.executions(), other.executions());
        assert!((one.lost() - other.lost()).abs() < 1e-9);
        assert!((one.baseline() - other.baseline()).abs() < 1e-9);
        assert_eq!(
            (each.state(), each.reduced_executions()),
            (together.state(), together.reduced_executions())
        );
    }
    // A drift is one to either.
    together.finished_together(runs, &[9.0; 5]).expect("valid");
    assert_ne!(together.state(), State::Holding, "{}", together.why());
}

#[test]
fn together_without_a_hold_or_with_nonsense_is_one_by_one() {
    let mut phase = controller("8 cores", Rules::default());
    assert_eq!(phase.drift_limit(), None, "nothing is held");
    phase.finished_together(on("8x1"), &[1.0, 1.0]).expect("valid");
    assert_eq!(phase.account().executions(), 2);
    run(&mut phase, 300, saturated);
    let (before, runs) = (phase.account().executions(), phase.next());
    phase.finished_together(runs, &[]).expect("nothing");
    let error = phase.finished_together(runs, &[0.6, f64::NAN, 0.6]).unwrap_err();
    assert_eq!(error.kind(), pacman_adapt::ErrorKind::InvalidInput);
    assert_eq!(phase.account().executions(), before + 2, "the others count");
    let error = phase.finished_together(on("99x1"), &[1.0]).unwrap_err();
    assert_eq!(error.kind(), pacman_adapt::ErrorKind::NoSuchPlace);
}
