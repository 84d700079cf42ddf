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

#[cfg(test)]
mod tests;

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
