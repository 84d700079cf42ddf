//! Training of [`Mixture`].

use super::super::mixture::{MOST_SAMPLES, Parts, Square, Unexplained, guesses, unexplained};
use super::super::verify::Rule;
use super::super::{Configuration, Mixture};
use super::dataset::{Dataset, bad};
use pacman_events::Result;

/// The options of a mixture model; all else follows from the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixtureOptions {
    /// The number of configurations to sample before the first recommendation, 1 to 16.
    pub samples: usize,
    /// Whether all samples have at least half of the reference's threads. This is for an adapter,
    /// which limits the loss of a sample by the number of threads that it leaves out.
    pub wide: bool,
}

impl Default for MixtureOptions {
    /// Three samples without further limits.
    fn default() -> MixtureOptions {
        MixtureOptions { samples: 3, wide: false }
    }
}

/// The gain below which no configuration is verified after the samples. On 96 synthetic machines a
/// bound below 0.9 % took more than 3.5 executions on average, and a higher one left more regret.
const RULE: Rule = Rule { worth: 0.009, executions: 3 };

/// Standard deviations of ln time to try, for the residual of mixtures.
///
/// The steps are about 2. The least is hardly noticeable, and the most makes mixtures useless.
const UNEXPLAINED: [f64; 5] = [0.02, 0.05, 0.1, 0.2, 0.4];
/// Standard deviations of ln time to try, for the noise of executions.
const NOISE: [f64; 3] = [0.005, 0.01, 0.02];

/// Half of a normal distribution's 90 % interval, in spreads.
const HALF_WIDTH: f64 = 1.645;

/// The most programs, spread evenly, that training uses to choose these deviations.
const ASKED: usize = 64;

/// Makes a mixture model of programs' times.
///
/// Training tries values for the unexplained variation, its shares of programs and the noise. It
/// chooses the values with the highest likelihood of the programs, each as a mixture of the others.
///
/// ```
/// use pacman_adapt::predict::training::{Dataset, MixtureOptions, Row, mixture};
/// use pacman_adapt::predict::{Configuration, Predictor, Sample, Step};
///
/// // Computing, and memory that serves three threads: other shares in each program.
/// let seconds = |memory: f64, on: Configuration| {
///     let threads = f64::from(on.threads());
///     (1.0 - memory) / threads + memory / threads.min(3.0) + 0.01 * memory * threads
/// };
/// let mut rows = Vec::new();
/// for program in 0..6u32 {
///     for threads in 1..=8 {
///         let on = Configuration::new(threads)?;
///         let sample = Sample::new(on, seconds(f64::from(program) / 5.0, on))?;
///         let (machine, program) = ("m".into(), program.to_string());
///         rows.push(Row { line: 0, machine, program, phase: None, run: None, sample });
///     }
/// }
/// let model = mixture(&Dataset::of("m", &rows, None)?, MixtureOptions::default())?;
///
/// let mut samples = Vec::new();
/// let decision = loop {
///     match model.step(&samples)? {
///         Step::Decide { configuration, .. } => break configuration,
///         Step::Sample { configuration, .. } | Step::Verify { configuration, .. } => {
///             samples.push(Sample::new(configuration, seconds(0.9, configuration))?);
///         }
///     }
/// };
/// // Its best is 3 threads.
/// assert!(seconds(0.9, decision) < 1.02 * seconds(0.9, "3".parse()?) && samples.len() <= 6);
/// # Ok::<(), pacman_adapt::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) for other numbers of samples, and if
/// the times differ too much to compute with.
pub fn mixture(data: &Dataset, options: MixtureOptions) -> Result<Mixture> {
    let configurations = data.configurations();
    let shapes: Vec<Vec<f64>> = data
        .programs()
        .iter()
        .map(|program| {
            let last = program.samples[configurations.len() - 1].seconds();
            program.samples.iter().map(|sample| (sample.seconds() / last).ln()).collect()
        })
        .collect();
    let (unexplained, noise) = likeliest(configurations, &shapes).ok_or_else(|| hopeless(data))?;
    let all = configurations[configurations.len() - 1].threads();
    let parts = Parts {
        configurations: configurations.to_vec(),
        shapes,
        unexplained,
        noise,
        half_width: HALF_WIDTH,
        samples: options.samples,
        least: if options.wide { all.div_ceil(2) } else { 1 },
        rule: RULE,
    };
    Mixture::try_from(parts).map_err(|_| match options.samples {
        1..=MOST_SAMPLES => hopeless(data),
        other => {
            bad(format!("a mixture model of {other} samples: 1 to {MOST_SAMPLES} are possible"))
        }
    })
}

/// The values with the highest likelihood of each program among mixtures of the others.
fn likeliest(on: &[Configuration], shapes: &[Vec<f64>]) -> Option<(Vec<Unexplained>, f64)> {
    let ratios = on.len() - 1;
    let guesses = guesses(on, shapes);
    let pattern = unexplained(on);
    let asked: Vec<usize> = (0..shapes.len()).step_by(shapes.len().div_ceil(ASKED)).collect();
    let evidence = |spread: f64, noise: f64| -> Option<Vec<f64>> {
        let root = covariance(&pattern, spread, noise).root()?;
        let white = |logs: &[f64]| {
            let mut white = logs[..ratios].to_vec();
            root.whiten(&mut white);
            white
        };
        let known: Vec<Vec<f64>> = guesses.iter().map(|guess| white(&guess.logs)).collect();
        let of = |&out: &usize| {
            let own = white(&shapes[out]);
            let others =
                guesses.iter().zip(&known).filter(|(guess, _)| !guess.parts.contains(&out));
            let distance =
                |other: &[f64]| own.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            let logs: Vec<f64> = others.map(|(_, other)| -distance(other) / 2.0).collect();
            mean_of_exponentials(&logs) - root.log()
        };
        let logs: Vec<f64> = asked.iter().map(of).collect();
        logs.iter().all(|log| log.is_finite()).then_some(logs)
    };
    let mut best: Option<(f64, (Vec<Unexplained>, f64))> = None;
    for noise in NOISE {
        let tried =
            UNEXPLAINED.iter().filter_map(|&spread| Some((spread, evidence(spread, noise)?)));
        let (spreads, logs): (Vec<f64>, Vec<Vec<f64>>) = tried.unzip();
        let (shares, log) = shares(&logs);
        if !logs.is_empty() && best.as_ref().is_none_or(|(most, _)| log > *most) {
            let each = |(spread, share)| Unexplained { spread, share };
            best = Some((log, (spreads.into_iter().zip(shares).map(each).collect(), noise)));
        }
    }
    best.map(|(_, values)| values)
}

/// A share has converged when it changes by less than this.
const SETTLED: f64 = 1e-6;

/// Each case's share of the programs, from the logarithms of each program's likelihoods. The second
/// value is the likelihood of all programs with these shares.
///
/// Expectation maximisation (Dempster, Laird and Rubin, Journal of the Royal Statistical Society B
/// 39, 1977, section 4.3). One additional program is divided among all cases, because a few
/// programs do not prove that a case never occurs.
fn shares(logs: &[Vec<f64>]) -> (Vec<f64>, f64) {
    const MOST_STEPS: usize = 1000;
    let programs = logs.first().map_or(0, Vec::len);
    let even = 1.0 / logs.len() as f64;
    let mut shares = vec![even; logs.len()];
    let mut all = 0.0;
    for _ in 0..MOST_STEPS {
        let mut counts = vec![even; logs.len()];
        all = 0.0;
        for program in 0..programs {
            let of = |(share, case): (&f64, &Vec<f64>)| share.ln() + case[program];
            let each: Vec<f64> = shares.iter().zip(logs).map(of).collect();
            let log = mean_of_exponentials(&each) + (each.len() as f64).ln();
            all += log;
            counts.iter_mut().zip(each).for_each(|(count, one)| *count += (one - log).exp());
        }
        let next: Vec<f64> = counts.iter().map(|count| count / (programs as f64 + 1.0)).collect();
        let moved = shares.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        shares = next;
        if moved < SETTLED {
            break;
        }
    }
    (shares, all)
}

/// The covariance of all measured ratios. The noise of the reference is common to them.
fn covariance(pattern: &Square, unexplained: f64, noise: f64) -> Square {
    let (unexplained, noise) = (unexplained * unexplained, noise * noise);
    Square::from_fn(pattern.width() - 1, |row, column| {
        let own = if row == column { 1.0 } else { 0.0 };
        unexplained * pattern.at(row, column) + noise * (own + 1.0)
    })
}

/// The logarithm of the mean of the numbers whose logarithms are `logs`.
fn mean_of_exponentials(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| (log - most).exp()).sum();
    most + (sum / logs.len() as f64).ln()
}

#[cold]
fn hopeless(data: &Dataset) -> crate::Error {
    bad(format!("{}: times are too far apart for a mixture model", data.machine()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_as_many_as_each_case_makes_likely() {
        // Three programs that only the one case explains, one that only the other does.
        let sure = [vec![0.0, 0.0, 0.0, -80.0], vec![-80.0, -80.0, -80.0, 0.0]];
        let (shares, log) = shares(&sure);
        assert!((shares[0] - 3.5 / 5.0).abs() < 1e-9 && (shares[1] - 1.5 / 5.0).abs() < 1e-9);
        let expected = 3.0 * 0.7f64.ln() + 0.3f64.ln();
        assert!((log - expected).abs() < 1e-9, "{log} {expected}");
    }

    /// The maximum itself, against a search over all shares in steps of a thousandth.
    #[test]
    fn shares_settle_where_the_programs_are_likeliest() {
        let logs = [vec![-1.0, 0.3, -2.0, 0.1, -0.5], vec![0.2, -0.4, -1.0, -0.8, 0.4]];
        let (found, _) = shares(&logs);
        let likely = |share: f64| {
            let of = |program: usize| {
                (share * logs[0][program].exp() + (1.0 - share) * logs[1][program].exp()).ln()
            };
            // The program that is divided among the cases.
            (0..5).map(of).sum::<f64>() + share.ln() / 2.0 + (1.0 - share).ln() / 2.0
        };
        let best = (1..1000)
            .map(|at| f64::from(at) / 1e3)
            .max_by(|a, b| likely(*a).total_cmp(&likely(*b)));
        assert!((found[0] - best.unwrap()).abs() < 2e-3, "{found:?} {best:?}");
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
