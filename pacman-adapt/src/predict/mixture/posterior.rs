//! The expectation after the samples.

use super::Guess;
use super::covariance::Square;

/// ln of time over the reference's, by configuration: a mixture of normal distributions.
pub(super) struct Posterior<'a> {
    pub(super) means: Vec<f64>,
    variances: Vec<f64>,
    cases: Vec<Case<'a>>,
}

/// The posterior under one amount of unexplained variation.
struct Case<'a> {
    unexplained: &'a Square,
    /// The probability of this case.
    weight: f64,
    /// The regression of each column on the whitened samples.
    gains: Vec<Vec<f64>>,
    /// Guesses with their weights, which sum to the case's weight, adjusted to the samples.
    likely: Vec<(f64, Vec<f64>)>,
}

/// The distribution before any sample.
pub(super) struct Prior<'a> {
    /// The guesses, with equal probability.
    pub(super) guesses: &'a [Guess],
    /// The amounts of unexplained variation, each with its share of the programs.
    pub(super) unexplained: &'a [(f64, Square)],
    /// The standard deviation of an execution's ln time.
    pub(super) noise: f64,
}

/// Smaller terms do not change sums near 1.
const NEGLIGIBLE: f64 = 1e-9;

/// A case, with each guess's residuals of the whitened samples, and the logarithm of the joint
/// likelihood of case and guess.
struct ProgramEvidence<'a> {
    case: Case<'a>,
    misses: Vec<Vec<f64>>,
    logs: Vec<f64>,
}

impl<'a> Prior<'a> {
    /// The posterior after `samples`: columns other than the reference's, and ln of time over the
    /// reference's time.
    ///
    /// The reference's execution has noise too, and all ratios share it.
    ///
    /// Each guess in each case is a Gaussian process with that mean. Its weight is the likelihood
    /// of the samples under it (Rasmussen and Williams, "Gaussian Processes for Machine Learning",
    /// 2006, sections 2.2 and 5.2). So a program that no guess explains counts as one of those with
    /// much unexplained variation. The result is the mixture's mean and covariance; `None` if the
    /// numbers cannot be computed with.
    pub(super) fn after(&self, samples: &[(usize, f64)]) -> Option<Posterior<'a>> {
        let width = self.unexplained.first()?.1.width();
        let all: Option<Vec<ProgramEvidence<'a>>> =
            self.unexplained.iter().map(|one| self.weigh(one, samples)).collect();
        let all = all?;
        let logs = || all.iter().flat_map(|weighed| weighed.logs.iter().copied());
        let most = logs().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logs().map(|log| (log - most).exp()).sum();

        let mut means = vec![0.0; width];
        let mut cases = Vec::new();
        for ProgramEvidence { mut case, misses, logs } in all {
            for ((guess, miss), log) in self.guesses.iter().zip(&misses).zip(logs) {
                let weight = (log - most).exp() / sum;
                if weight < NEGLIGIBLE {
                    continue;
                }
                let bent = |(log, gain): (&f64, &Vec<f64>)| log + dot(gain, miss);
                let bent: Vec<f64> = guess.logs.iter().zip(&case.gains).map(bent).collect();
                means.iter_mut().zip(&bent).for_each(|(mean, value)| *mean += weight * value);
                case.weight += weight;
                case.likely.push((weight, bent));
            }
            cases.push(case);
        }
        let mut posterior = Posterior { means, variances: Vec::new(), cases };
        let variance = |column| posterior.covariance(column, column).max(0.0);
        posterior.variances = (0..width).map(variance).collect();
        posterior.means.iter().all(|mean| mean.is_finite()).then_some(posterior)
    }

    /// One case; `None` if its samples cannot be distinguished.
    fn weigh(
        &self,
        (share, unexplained): &'a (f64, Square),
        samples: &[(usize, f64)],
    ) -> Option<ProgramEvidence<'a>> {
        let root = Square::from_fn(samples.len(), |row, column| {
            let own = if row == column { 1.0 } else { 0.0 };
            let shared = unexplained.at(samples[row].0, samples[column].0);
            shared + self.noise * self.noise * (own + 1.0)
        })
        .root()?;
        let gains = (0..unexplained.width())
            .map(|column| {
                let with = samples.iter().map(|&(at, _)| unexplained.at(column, at));
                let mut gain: Vec<f64> = with.collect();
                root.whiten(&mut gain);
                gain
            })
            .collect();
        let miss = |guess: &Guess| {
            let mut miss: Vec<f64> =
                samples.iter().map(|&(at, log)| log - guess.logs[at]).collect();
            root.whiten(&mut miss);
            miss
        };
        let misses: Vec<Vec<f64>> = self.guesses.iter().map(miss).collect();
        let before = share.ln() - root.log();
        let logs = misses.iter().map(|miss| before - dot(miss, miss) / 2.0).collect();
        let case = Case { unexplained, weight: 0.0, gains, likely: Vec::new() };
        Some(ProgramEvidence { case, misses, logs })
    }
}

impl Case<'_> {
    /// The unexplained covariance after the samples.
    fn covariance(&self, row: usize, column: usize) -> f64 {
        self.unexplained.at(row, column) - dot(&self.gains[row], &self.gains[column])
    }

    /// [`Posterior::improvement`], weighted by the case's probability.
    fn improvement(&self, column: usize, best: f64) -> f64 {
        let spread = self.covariance(column, column).max(0.0).sqrt();
        let each =
            |(weight, bent): &(f64, Vec<f64>)| weight * improvement(best - bent[column], spread);
        self.likely.iter().map(each).sum()
    }
}

impl Posterior<'_> {
    /// A sum over all likely guesses. It is computed on demand, because all pairs of columns take
    /// long.
    fn covariance(&self, row: usize, column: usize) -> f64 {
        let between = |(weight, bent): &(f64, Vec<f64>)| {
            weight * (bent[row] - self.means[row]) * (bent[column] - self.means[column])
        };
        let of = |case: &Case<'_>| {
            case.weight * case.covariance(row, column)
                + case.likely.iter().map(between).sum::<f64>()
        };
        self.cases.iter().map(of).sum()
    }

    /// The standard deviation of ln time at a column, without noise.
    pub(super) fn spread(&self, column: usize) -> f64 {
        self.variances[column].sqrt()
    }

    /// The expected fall of ln time below `best` if the column is the better one.
    pub(super) fn improvement(&self, column: usize, best: f64) -> f64 {
        self.cases.iter().map(|case| case.improvement(column, best)).sum()
    }

    /// The expected reduction of the spreads by a sample at the column, averaged over all columns.
    pub(super) fn narrowing(&self, column: usize, noise: f64) -> f64 {
        // The variance of a ratio of two executions.
        let variance = self.variances[column] + 2.0 * noise * noise;
        if variance <= 0.0 {
            return 0.0;
        }
        let narrower = |(other, before): (usize, &f64)| {
            let shared = self.covariance(other, column);
            before.sqrt() - (before - shared * shared / variance).max(0.0).sqrt()
        };
        let sum: f64 = self.variances.iter().enumerate().map(narrower).sum();
        sum / self.variances.len() as f64
    }
}

/// The expected improvement: the mean of a normal distribution's part above 0 (Jones, Schonlau and
/// Welch, Journal of Global Optimization 13, 1998, section 4.1).
fn improvement(mean: f64, spread: f64) -> f64 {
    if spread <= 0.0 {
        return mean.max(0.0);
    }
    let z = mean / spread;
    let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let probability = libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2) / 2.0;
    mean * probability + spread * density
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A single case.
    fn square(width: usize, cells: &[f64]) -> [(f64, Square); 1] {
        [(1.0, Square::from_fn(width, |row, column| cells[row * width + column]))]
    }

    fn guesses(logs: &[[f64; 3]]) -> Vec<Guess> {
        let guess =
            |(index, logs): (usize, &[f64; 3])| Guess { logs: logs.to_vec(), parts: [index; 2] };
        logs.iter().enumerate().map(guess).collect()
    }

    /// One guess and independent residuals: the results can be computed by hand.
    #[test]
    fn a_sample_pulls_as_much_as_it_is_surer_than_the_prior() {
        let guesses = guesses(&[[1.0, 0.5, 0.0]]);
        let unexplained = square(3, &[0.06, 0.03, 0.0, 0.03, 0.04, 0.0, 0.0, 0.0, 0.0]);
        let prior = Prior { guesses: &guesses, unexplained: &unexplained, noise: 0.1 };
        let before = prior.after(&[]).unwrap();
        assert_eq!(before.means, guesses[0].logs);
        assert_eq!(before.spread(1), 0.2);
        // The sample's variance is 0.04 + 0.02.
        let after = prior.after(&[(1, 0.8)]).unwrap();
        assert!((after.means[1] - (0.5 + 0.3 * 0.04 / 0.06)).abs() < 1e-12);
        assert!((after.means[0] - (1.0 + 0.3 * 0.03 / 0.06)).abs() < 1e-12);
        assert!((after.spread(0).powi(2) - (0.06 - 0.03 * 0.03 / 0.06)).abs() < 1e-12);
        // The expectation of the spread.
        let narrower = [0.06f64.sqrt() - after.spread(0), 0.2 - after.spread(1), 0.0];
        let mean = narrower.iter().sum::<f64>() / 3.0;
        assert!((before.narrowing(1, 0.1) - mean).abs() < 1e-12);
    }

    #[test]
    fn the_guess_that_fits_counts() {
        let guesses = guesses(&[[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]]);
        let unexplained = square(3, &[0.01, 0.0, 0.0, 0.0, 0.01, 0.0, 0.0, 0.0, 0.0]);
        let prior = Prior { guesses: &guesses, unexplained: &unexplained, noise: 0.01 };
        let before = prior.after(&[]).unwrap();
        assert_eq!(before.means[0], 0.0);
        assert!((before.spread(0) - 1.01f64.sqrt()).abs() < 1e-12);
        let after = prior.after(&[(0, -0.9)]).unwrap();
        assert!((after.means[1] + 1.0).abs() < 1e-9);
        assert!((after.spread(1) - 0.1).abs() < 1e-9);
    }

    /// Two cases of one guess, independent residuals and no noise: computed by hand.
    #[test]
    fn a_sample_that_is_far_off_says_that_more_is_unexplained() {
        let guesses = guesses(&[[1.0, 0.5, 0.0]]);
        let diagonal = |variance: f64| {
            Square::from_fn(3, |row, column| if row == column && row < 2 { variance } else { 0.0 })
        };
        let unexplained = [(0.75, diagonal(0.01)), (0.25, diagonal(0.16))];
        let prior = Prior { guesses: &guesses, unexplained: &unexplained, noise: 0.0 };
        let mixed = |narrow: f64| (0.01 * narrow + 0.16 * (1.0 - narrow)).sqrt();
        assert!((prior.after(&[]).unwrap().spread(0) - mixed(0.75)).abs() < 1e-12);
        for miss in [0.0f64, 0.1, 0.3, 0.6] {
            let likely = |share: f64, spread: f64| {
                share / spread * (-miss * miss / (2.0 * spread * spread)).exp()
            };
            let (narrow, wide) = (likely(0.75, 0.1), likely(0.25, 0.4));
            let after = prior.after(&[(1, 0.5 + miss)]).unwrap();
            assert!((after.spread(0) - mixed(narrow / (narrow + wide))).abs() < 1e-9, "{miss}");
            assert!((after.means[0] - 1.0).abs() < 1e-12 && after.spread(1) < 1e-6);
            let gain =
                (narrow * improvement(0.2, 0.1) + wide * improvement(0.2, 0.4)) / (narrow + wide);
            assert!((after.improvement(0, 1.2) - gain).abs() < 1e-9, "{miss}");
        }
    }

    /// One guess or the other is likely, and nothing between them.
    #[test]
    fn improvement_is_that_of_each_guess_by_itself() {
        let guesses = guesses(&[[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]]);
        let unexplained = square(3, &[0.01, 0.0, 0.0, 0.0, 0.01, 0.0, 0.0, 0.0, 0.0]);
        let before = Prior { guesses: &guesses, unexplained: &unexplained, noise: 0.01 };
        let found = before.after(&[]).unwrap().improvement(0, 0.5);
        let halves = (improvement(-0.5, 0.1) + improvement(1.5, 0.1)) / 2.0;
        assert!((found - halves).abs() < 1e-12, "{found} {halves}");
    }

    /// E max(0, X) against a sum over X's density.
    #[test]
    fn improvement_is_what_a_sum_over_the_density_gives() {
        for (mean, spread) in [(0.0, 1.0), (-0.3, 0.1), (0.2, 0.05), (-2.0, 0.5)] {
            let steps = 20_000;
            let sum: f64 = (0..steps)
                .map(|step| {
                    let z = (f64::from(step) + 0.5) / f64::from(steps) * 20.0 - 10.0;
                    let density = (-z * z / 2.0f64).exp() / std::f64::consts::TAU.sqrt();
                    (mean + z * spread).max(0.0) * density * 20.0 / f64::from(steps)
                })
                .sum();
            let found = improvement(mean, spread);
            assert!((found - sum).abs() < 1e-6 * spread, "{found} {sum}");
        }
        assert_eq!((improvement(0.25, 0.0), improvement(-0.25, 0.0)), (0.25, 0.0));
    }
}
