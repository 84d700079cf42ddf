//! Selects samples, features and penalty by leave-one-out cross-validation.

use nalgebra::DMatrix;

use super::super::ridge::line;
use super::super::verify::Rule;
use super::super::{Configuration, Feature, Target};
use super::dataset::Dataset;
use super::fit::{Fit, Standardised};
use pacman_events::Result;

/// The training programs as matrices of natural logarithms.
pub(super) struct Problem {
    pub(super) configurations: Vec<Configuration>,
    /// ln of the cost over the reference's: a row per program, a column per configuration.
    costs: DMatrix<f64>,
    /// The features of each program's events at the reference.
    pub(super) events: Vec<Feature>,
    rates: DMatrix<f64>,
    rule: Rule,
    aim: Aim,
}

/// The quality that the selection optimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// The error of times and the regret of decisions, with equal weight.
    Times,
    /// The regret of decisions; the error of times decides between equal ones.
    Decisions,
}

impl Aim {
    fn loss(self, error: f64, regret: f64) -> f64 {
        match self {
            Aim::Times => error + regret,
            Aim::Decisions => regret + 0.01 * error,
        }
    }
}

/// The best features and penalty for a set of samples, with their loss.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// Columns, the reference first.
    pub(super) samples: Vec<usize>,
    pub(super) with_events: bool,
    pub(super) penalty: f64,
    pub(super) loss: f64,
}

/// The penalties to try, in programs, in steps of half a decade.
const PENALTIES: [f64; 8] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0];

/// The most configurations that may be samples; of more, evenly spread ones are tried.
const CANDIDATES: usize = 32;

impl Problem {
    pub(super) fn new(
        data: &Dataset,
        target: Target,
        events: &[Feature],
        rule: Rule,
        aim: Aim,
    ) -> Result<Problem> {
        use super::super::sample::Measured;
        let configurations = data.configurations().to_vec();
        let reference = configurations[configurations.len() - 1];
        let mut costs = DMatrix::zeros(data.programs().len(), configurations.len());
        let mut rates = DMatrix::zeros(data.programs().len(), events.len());
        for (row, program) in data.programs().iter().enumerate() {
            let measured = Measured::new(&program.samples, &configurations)
                .map_err(|error| about(&program.name, &error))?;
            let value = |feature: &Feature| {
                feature
                    .value(&measured, reference, target)
                    .map_err(|error| about(&program.name, &error))
            };
            for (column, &on) in configurations.iter().enumerate() {
                costs[(row, column)] = value(&Feature::Ratio(on))?;
            }
            for (column, event) in events.iter().enumerate() {
                rates[(row, column)] = value(event)?;
            }
        }
        Ok(Problem { configurations, costs, events: events.to_vec(), rates, rule, aim })
    }

    /// The best set of `count` samples, or of fewer if there are fewer.
    ///
    /// It has the reference, and other configurations with at least `threads` threads.
    pub(super) fn best_set(&self, count: usize, threads: u32) -> Option<Choice> {
        let reference = self.configurations.len() - 1;
        let mut candidates = self.candidates();
        candidates.retain(|&column| self.configurations[column].threads() >= threads);
        let mut best: Option<Choice> = None;
        for others in subsets(&candidates, (count - 1).min(candidates.len())) {
            let mut samples = vec![reference];
            samples.extend(others.iter().rev());
            if let Some(choice) = self.best_for(&samples) {
                if best.as_ref().is_none_or(|best| choice.loss < best.loss) {
                    best = Some(choice);
                }
            }
        }
        best
    }

    /// The best features and penalty for a set of samples.
    pub(super) fn best_for(&self, samples: &[usize]) -> Option<Choice> {
        let responses = self.deviations(samples);
        let mut best: Option<Choice> = None;
        for with_events in [false, true] {
            if with_events && self.events.is_empty() {
                continue;
            }
            let features = Standardised::new(self.features(samples, with_events)).values;
            for penalty in PENALTIES {
                let Some(fit) = Fit::new(&features, &responses, penalty) else { continue };
                let loss = self.loss(samples, &fit.left_out);
                if best.as_ref().is_none_or(|best| loss < best.loss) {
                    best = Some(Choice { samples: samples.to_vec(), with_events, penalty, loss });
                }
            }
        }
        best
    }

    /// A column for each feature, before standardisation.
    pub(super) fn features(&self, samples: &[usize], with_events: bool) -> DMatrix<f64> {
        let rates = if with_events { self.rates.ncols() } else { 0 };
        let ratios = samples.len() - 1;
        DMatrix::from_fn(self.costs.nrows(), ratios + rates, |row, column| {
            if column < ratios {
                self.costs[(row, samples[column + 1])]
            } else {
                self.rates[(row, column - ratios)]
            }
        })
    }

    /// The names of [`features`](Problem::features)' columns.
    pub(super) fn names(&self, samples: &[usize], with_events: bool) -> Vec<Feature> {
        let ratios = samples[1..].iter().map(|&sample| Feature::Ratio(self.configurations[sample]));
        ratios.chain(self.events.iter().filter(|_| with_events).cloned()).collect()
    }

    /// The deviation of log costs from the straight line between samples; 0 at the samples.
    pub(super) fn deviations(&self, samples: &[usize]) -> DMatrix<f64> {
        let mut deviations = self.costs.clone();
        for (row, mut values) in deviations.row_iter_mut().enumerate() {
            let point = |&sample: &usize| {
                let threads = f64::from(self.configurations[sample].threads());
                (threads.ln(), self.costs[(row, sample)])
            };
            let mut points: Vec<(f64, f64)> = samples.iter().map(point).collect();
            points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            for (value, &on) in values.iter_mut().zip(&self.configurations) {
                *value -= line(&points, on);
            }
            for &sample in samples {
                values[sample] = 0.0;
            }
        }
        deviations
    }

    /// The loss for the aim, from errors and regrets of left-out programs.
    ///
    /// The error is the mean relative error of times; the regret is the one after verification.
    fn loss(&self, samples: &[usize], left_out: &DMatrix<f64>) -> f64 {
        let columns = self.configurations.len();
        let others: Vec<usize> = (0..columns).filter(|column| !samples.contains(column)).collect();
        let (mut error, mut regret) = (0.0, 0.0);
        for row in 0..self.costs.nrows() {
            let cost = |column: usize| self.costs[(row, column)].exp();
            let predicted =
                |column: usize| (self.costs[(row, column)] - left_out[(row, column)]).exp();
            let least = |columns: &[usize]| {
                columns.iter().map(|&column| cost(column)).fold(f64::INFINITY, f64::min)
            };
            if !others.is_empty() {
                let relative = |&column: &usize| (predicted(column) / cost(column) - 1.0).abs();
                error += others.iter().map(relative).sum::<f64>() / others.len() as f64;
            }
            let mut decided = least(samples);
            let promising = others.iter().min_by(|&&a, &&b| predicted(a).total_cmp(&predicted(b)));
            if let Some(&promising) = promising {
                if self.rule.pays(predicted(promising), decided) {
                    decided = decided.min(cost(promising));
                }
            }
            regret += decided / least(samples).min(least(&others)) - 1.0;
        }
        self.aim.loss(error, regret) / self.costs.nrows() as f64
    }

    /// Columns that may be samples in addition to the reference.
    fn candidates(&self) -> Vec<usize> {
        let count = self.configurations.len() - 1;
        if count <= CANDIDATES {
            return (0..count).collect();
        }
        let last = (CANDIDATES - 1) as f64;
        let mut part: Vec<usize> = (0..CANDIDATES)
            .map(|index| (index as f64 / last * (count - 1) as f64).round() as usize)
            .collect();
        part.dedup();
        part
    }
}

/// All subsets with `size` items, each in the order of `items`.
fn subsets(items: &[usize], size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, &item) in items.iter().enumerate() {
        for mut rest in subsets(&items[index + 1..], size - 1) {
            rest.insert(0, item);
            all.push(rest);
        }
    }
    all
}

#[cold]
pub(super) fn about(program: &str, error: &crate::Error) -> crate::Error {
    crate::Error::new(error.kind(), format!("{program}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::subsets;

    #[test]
    fn subsets_are_all_and_once() {
        assert_eq!(subsets(&[1, 2, 3], 2), [[1, 2], [1, 3], [2, 3]]);
        assert_eq!(subsets(&[1, 2], 0), [[0; 0]]);
        assert!(subsets(&[1], 2).is_empty());
        assert_eq!(subsets(&(0..7).collect::<Vec<_>>(), 3).len(), 35);
    }
}
