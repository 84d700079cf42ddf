//! How much of a difference is noise.
//!
//! - Several reports a side: the ratio of the medians. The 95 % interval is the wider of two at each end: a
//!   percentile bootstrap over the reports, and Student's t on logarithms of the times. With few reports
//!   the bootstrap is too narrow, because it only knows times that occurred: equal sides of two differed in a third
//!   of the comparisons (docs/measurements.md). Student's t trusts the variance where one report is far off.
//! - One report a side: the ratio of the times, with a 95 % interval from the spread of the executions.
//!   A report has the shortest, the longest and the mean execution. The variance of values in [a, b] with
//!   mean m is at most (b − m)(m − a) (Bhatia and Davis, American Mathematical Monthly 107, 2000), so the
//!   interval is never too narrow for independent executions.

use crate::median;

/// A region's time in one report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    /// The sum of the executions.
    pub(super) seconds: f64,
    pub(super) executions: u64,
    pub(super) shortest: f64,
    pub(super) longest: f64,
}

/// After over before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ratio {
    pub(super) value: f64,
    /// The 95 % interval; `None` if the noise is not known.
    pub(super) interval: Option<(f64, f64)>,
}

/// The meaning of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Faster by more than the threshold, beyond noise.
    Faster,
    /// Slower by more than the threshold, beyond noise.
    Slower,
    /// Within the threshold, beyond noise.
    Same,
    /// The noise hides it, or is not known.
    Unclear,
}

impl Verdict {
    pub(super) fn word(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "same",
            Verdict::Unclear => "unclear",
        }
    }
}

impl Ratio {
    /// `None` without time on either side.
    pub(super) fn of(before: &[Spread], after: &[Spread]) -> Option<Ratio> {
        let seconds = |side: &[Spread]| side.iter().map(|one| one.seconds).collect::<Vec<_>>();
        match (before, after) {
            ([before], [after]) if before.seconds > 0.0 && after.seconds > 0.0 => {
                let value = after.seconds / before.seconds;
                let error = before.error().zip(after.error());
                let interval = error.map(|(one, other)| {
                    let width = (Z * one.hypot(other)).exp();
                    (value / width, value * width)
                });
                Some(Ratio { value, interval })
            }
            _ => Ratio::of_runs(&seconds(before), &seconds(after)),
        }
    }

    /// Of whole runs. One run a side has no known noise.
    pub(super) fn of_runs(before: &[f64], after: &[f64]) -> Option<Ratio> {
        let [before_s, after_s] = [before, after].map(|side| median::of(side.iter().copied()));
        let [before_s, after_s] = [before_s?, after_s?];
        if before_s <= 0.0 || after_s <= 0.0 {
            return None;
        }
        let value = after_s / before_s;
        let interval = (before.len() > 1 && after.len() > 1).then(|| {
            let (low, high) = bootstrap(before, after);
            let width = student(before, after).exp();
            (low.min(value / width), high.max(value * width))
        });
        Some(Ratio { value, interval })
    }

    /// `threshold` is a part of 1.
    pub(super) fn verdict(self, threshold: f64) -> Verdict {
        let most = 1.0 + threshold;
        match self.interval {
            Some((low, _)) if low > most => Verdict::Slower,
            Some((_, high)) if high < 1.0 / most => Verdict::Faster,
            Some((low, high)) if low >= 1.0 / most && high <= most => Verdict::Same,
            _ => Verdict::Unclear,
        }
    }
}

impl Spread {
    /// The standard error of the mean execution over the mean; `None` for one execution.
    fn error(self) -> Option<f64> {
        let count = self.executions as f64;
        let mean = self.seconds / count;
        let variance = ((self.longest - mean) * (mean - self.shortest)).max(0.0);
        (self.executions > 1 && mean > 0.0).then(|| (variance / count).sqrt() / mean)
    }
}

/// The 95 % interval of the ratio of medians.
fn bootstrap(before: &[f64], after: &[f64]) -> (f64, f64) {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut ratios: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let [before, after] = [before, after].map(|side| {
                let drawn = side.iter().map(|_| side[numbers.below(side.len())]);
                median::of(drawn).unwrap_or(f64::NAN)
            });
            after / before
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let at = |part: f64| ratios[((RESAMPLES - 1) as f64 * part).round() as usize];
    (at(0.025), at(0.975))
}

/// Half of the 95 % interval of the difference of mean logarithms, by Welch's variant of Student's t; 0 if a time
/// has no logarithm.
fn student(before: &[f64], after: &[f64]) -> f64 {
    // The variance of the mean, and that over the degrees of freedom of its estimate.
    let [(before, before_part), (after, after_part)] = [before, after].map(|side| {
        let count = side.len() as f64;
        let mean = side.iter().map(|seconds| seconds.ln()).sum::<f64>() / count;
        let squares = side.iter().map(|seconds| (seconds.ln() - mean).powi(2)).sum::<f64>();
        let variance = squares / (count - 1.0) / count;
        (variance, variance.powi(2) / (count - 1.0))
    });
    let variance = before + after;
    let freedom = variance.powi(2) / (before_part + after_part);
    if variance > 0.0 && variance.is_finite() {
        student_quantile(freedom) * variance.sqrt()
    } else {
        0.0
    }
}

/// Student's distribution has 95 % within this.
fn student_quantile(freedom: f64) -> f64 {
    let few = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];
    // Fewer degrees of freedom are wider.
    match few.get((freedom.max(1.0) as usize) - 1) {
        Some(quantile) => *quantile,
        // Abramowitz and Stegun, 26.7.5.
        None => {
            let first = (Z.powi(3) + Z) / 4.0;
            let second = (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / 96.0;
            Z + first / freedom + second / freedom.powi(2)
        }
    }
}

/// Numbers by xorshift, the same in every comparison, so that a comparison can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

const RESAMPLES: usize = 2000;
/// The standard normal distribution has 95 % within this.
const Z: f64 = 1.96;

#[cfg(test)]
mod tests {
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
}
