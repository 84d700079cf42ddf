//! Tests of `noise`.

use proptest::prelude::*;

use super::*;

fn runs(seconds: &[f64]) -> Vec<Spread> {
    let one = |&seconds| Spread { seconds, executions: 1, shortest: seconds, longest: seconds };
    seconds.iter().map(one).collect()
}

#[test]
fn several_runs_a_side_decide_beyond_their_noise() {
    let before = runs(&[1.00, 1.02, 0.99, 1.01, 1.00]);
    let slower = Ratio::of(&before, &runs(&[1.20, 1.22, 1.19, 1.21, 1.2])).expect("times");
    assert!((slower.value - 1.2).abs() < 1e-9);
    assert_eq!(slower.verdict(0.05), Verdict::Slower);
    assert_eq!(slower.verdict(0.25), Verdict::Same);
    let noisy = Ratio::of(&before, &runs(&[0.9, 1.3, 0.8, 1.2, 1.1])).expect("times");
    assert_eq!(noisy.verdict(0.05), Verdict::Unclear);
    assert_eq!(Ratio::of(&before, &before).expect("times").verdict(0.05), Verdict::Same);
    let faster = Ratio::of(&before, &runs(&[0.5, 0.51, 0.49])).expect("times");
    assert_eq!(faster.verdict(0.05), Verdict::Faster);
}

#[test]
fn few_runs_a_side_have_the_intervals_of_student() {
    // Two runs of 1 and e: the mean logarithm is 1/2, its variance 1/4; two degrees of freedom.
    let (low, high) = Ratio::of_runs(&[1.0, 1f64.exp()], &[1.0, 1f64.exp()])
        .and_then(|ratio| ratio.interval)
        .expect("two runs a side");
    let width = (4.303 * 0.5f64.sqrt()).exp();
    assert!((high / width - 1.0).abs() < 1e-9 && (low * width - 1.0).abs() < 1e-9);
    for (freedom, quantile) in [(1.0, 12.706), (9.9, 2.262), (10.0, 2.228), (30.0, 2.042)] {
        assert!((student_quantile(freedom) - quantile).abs() < 0.004, "{freedom}");
    }
    // All times are the same, or one is 0.
    assert_eq!(student(&[2.0, 2.0], &[3.0, 3.0]), 0.0);
    assert_eq!(student(&[0.0, 2.0], &[3.0, 3.0]), 0.0);
}

#[test]
fn one_run_a_side_knows_the_noise_of_executions_only() {
    let even = Spread { seconds: 1.0, executions: 1000, shortest: 0.9e-3, longest: 1.2e-3 };
    let slower = Spread { seconds: 1.1, shortest: 1e-3, longest: 1.3e-3, ..even };
    let ratio = Ratio::of(&[even], &[slower]).expect("times");
    assert_eq!(ratio.verdict(0.05), Verdict::Slower);
    // One execution took most of the time: the mean says little.
    let burst = Spread { longest: 0.5, ..slower };
    assert_eq!(Ratio::of(&[even], &[burst]).expect("times").verdict(0.05), Verdict::Unclear);
    let once = runs(&[1.0])[0];
    let ratio = Ratio::of(&[once], &[Spread { seconds: 9.0, ..once }]).expect("times");
    assert_eq!((ratio.value, ratio.interval), (9.0, None));
    assert_eq!(ratio.verdict(0.05), Verdict::Unclear);
    assert_eq!(Ratio::of(&[once], &[Spread { seconds: 0.0, ..once }]), None);
}

proptest! {
    /// The bound on the variance holds for any executions, so the error is never too small.
    #[test]
    fn the_error_is_at_least_that_of_the_executions(
        times in prop::collection::vec(1e-6f64..1.0, 2..200)
    ) {
        let (sum, count) = (times.iter().sum::<f64>(), times.len() as f64);
        let mean = sum / count;
        let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / count;
        let spread = Spread {
            seconds: sum,
            executions: times.len() as u64,
            shortest: times.iter().copied().fold(f64::INFINITY, f64::min),
            longest: times.iter().copied().fold(0.0, f64::max),
        };
        let error = spread.error().expect("several executions");
        prop_assert!(error >= (variance / count).sqrt() / mean * (1.0 - 1e-9));
    }

    /// Swapping the sides inverts the verdict.
    #[test]
    fn the_sides_are_alike(
        one in prop::collection::vec(0.5f64..2.0, 1..6),
        other in prop::collection::vec(0.5f64..2.0, 1..6),
    ) {
        let there = Ratio::of_runs(&one, &other).expect("times");
        let back = Ratio::of_runs(&other, &one).expect("times");
        prop_assert!((there.value * back.value - 1.0).abs() < 1e-9);
        prop_assert_eq!(there.interval.is_some(), one.len() > 1 && other.len() > 1);
    }
}
