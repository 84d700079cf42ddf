//! The line of `why` agrees with the account and with itself.

use pacman_adapt::{Controller, Rules};

use super::{controller, on, run};

/// The number before `mark` in `line`.
fn figure(line: &str, mark: &str) -> f64 {
    let before = line.split(mark).next().expect("a line has a beginning");
    let word = before.rsplit(' ').next().unwrap_or_default();
    word.parse().unwrap_or_else(|_| panic!("no figure before {mark:?} in {line:?}"))
}

/// Percent by which all executions together took more than at the default, by the sentence.
fn said(phase: &Controller) -> f64 {
    let line = phase.why();
    let (more, less) = (line.contains(" % more than on "), line.contains(" % less than on "));
    let same = line.contains(" cost as much as on ");
    assert_eq!([more, less, same].iter().filter(|says| **says).count(), 1, "one verdict: {line}");
    if same {
        0.0
    } else if more {
        figure(&line, " % more than on ")
    } else {
        -figure(&line, " % less than on ")
    }
}

fn by_account(phase: &Controller) -> f64 {
    100.0 * phase.account().lost() / phase.account().baseline()
}

/// The cost of the latest execution and the cost of all of them are two sentences, which name their
/// subjects: a loss by the search is next to a choice that is cheaper now.
#[test]
fn a_cheaper_choice_after_an_expensive_search_is_two_sentences() {
    let mut phase = controller("2 cores", Rules::default());
    run(&mut phase, 400, |on| if on.threads() == 1 { 0.54 } else { 1.0 });
    assert_eq!(phase.next(), on("1x1"), "{}", phase.why());
    let gained = said(&phase);
    assert!((gained - by_account(&phase)).abs() < 0.05, "{gained}: {}", phase.why());
    assert!(gained < 0.0, "{}", phase.why());
    // Starting threads for it cost more than it has gained so far.
    let charged = 0.3 * phase.account().baseline() - phase.account().lost();
    phase.defer_cost(on("1x1"), charged, false);
    let line = phase.why();
    assert!(line.contains("; the latest cost 0.540 of one on 2x1"), "{line}");
    assert!((said(&phase) - 30.0).abs() < 0.05, "{line}");
    assert!(line.contains("; all 400 together cost 30.0 % more than on 2x1"), "{line}");
}

#[test]
fn the_sign_is_the_account_s_after_every_execution() {
    for seed in 1..20u32 {
        let mut phase = controller("4 cores", Rules::default());
        let mut draw = seed;
        for _ in 0..200 {
            draw = draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = 0.8 + f64::from(draw >> 16) / 163_840.0;
            run(&mut phase, 1, |on| noise * f64::from(on.threads()).powf(0.3));
            if phase.account().executions() > 0 {
                let (said, account) = (said(&phase), by_account(&phase));
                assert!((said - account).abs() < 0.06, "{said} is not {account}");
            }
        }
    }
}

/// A search that has just begun has nothing to compare.
#[test]
fn a_phase_without_executions_has_no_verdict_on_them() {
    let mut phase = controller("2 cores", Rules::default());
    assert!(!phase.why().contains("together"), "{}", phase.why());
    run(&mut phase, 1, |_| 1.0);
    assert!(phase.why().ends_with("; the one execution cost as much as on 2x1"), "{}", phase.why());
    run(&mut phase, 1, |_| 1.0);
    assert!(phase.why().contains("; all 2 together cost "), "{}", phase.why());
}
