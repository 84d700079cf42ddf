//! Training of [`Mixture`].

use super::super::mixture::{MOST_SAMPLES, Parts, Square, guesses, unexplained};
use super::super::verify::Rule;
use super::super::{Configuration, Mixture};
use super::dataset::{Dataset, bad};
use crate::error::Result;

/// What a mixture model is made of; all else follows from the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixtureOptions {
    /// Configurations that are sampled before anything is recommended, 1 to 16.
    pub samples: usize,
    /// Whether all samples have at least half of the reference's threads: for an adapter, which
    /// bounds what a sample may lose by the threads that it leaves out.
    pub wide: bool,
}

impl Default for MixtureOptions {
    /// Three samples, anywhere.
    fn default() -> MixtureOptions {
        MixtureOptions { samples: 3, wide: false }
    }
}

/// How much mixtures may leave, and how much executions may differ, as standard deviations of
/// ln time: steps of about 2, from what is hardly seen to what makes mixtures useless.
const UNEXPLAINED: [f64; 5] = [0.02, 0.05, 0.1, 0.2, 0.4];
const NOISE: [f64; 3] = [0.005, 0.01, 0.02];

/// Half of a normal distribution's 90 % interval, in spreads.
const REACH: f64 = 1.645;

/// At most so many programs, spread evenly, say how much that is.
const ASKED: usize = 64;

/// Makes a mixture model of programs' times.
///
/// What mixtures leave and what executions differ by are those of the values tried that make the
/// programs most likely, each among mixtures of the others.
///
/// ```
/// use pacman_core::predict::training::{Dataset, MixtureOptions, Row, mixture};
/// use pacman_core::predict::{Configuration, Predictor, Sample, Step};
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
/// assert!(seconds(0.9, decision) < 1.02 * seconds(0.9, "3".parse()?) && samples.len() <= 4);
/// # Ok::<(), pacman_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) for other numbers of samples, and
/// for times too far apart to compute with.
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
        reach: REACH,
        samples: options.samples,
        least: if options.wide { all.div_ceil(2) } else { 1 },
        rule: Rule::default(),
    };
    Mixture::try_from(parts).map_err(|_| match options.samples {
        1..=MOST_SAMPLES => hopeless(data),
        other => {
            bad(format!("a mixture model of {other} samples: 1 to {MOST_SAMPLES} are possible"))
        }
    })
}

/// The values under which each program is likeliest among mixtures of the others.
fn likeliest(on: &[Configuration], shapes: &[Vec<f64>]) -> Option<(f64, f64)> {
    let ratios = on.len() - 1;
    let guesses = guesses(on, shapes);
    let pattern = unexplained(on);
    let asked: Vec<usize> = (0..shapes.len()).step_by(shapes.len().div_ceil(ASKED)).collect();
    let mut best: Option<(f64, (f64, f64))> = None;
    for unexplained in UNEXPLAINED {
        for noise in NOISE {
            let Some(root) = covariance(&pattern, unexplained, noise).root() else { continue };
            let white = |logs: &[f64]| {
                let mut white = logs[..ratios].to_vec();
                root.whiten(&mut white);
                white
            };
            let known: Vec<Vec<f64>> = guesses.iter().map(|guess| white(&guess.logs)).collect();
            let evidence = |&out: &usize| {
                let own = white(&shapes[out]);
                let others =
                    guesses.iter().zip(&known).filter(|(guess, _)| !guess.parts.contains(&out));
                let distance = |other: &[f64]| {
                    own.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
                };
                let logs: Vec<f64> = others.map(|(_, other)| -distance(other) / 2.0).collect();
                mean_of_exponentials(&logs) - root.log()
            };
            let sum: f64 = asked.iter().map(evidence).sum();
            if sum.is_finite() && best.is_none_or(|(most, _)| sum > most) {
                best = Some((sum, (unexplained, noise)));
            }
        }
    }
    best.map(|(_, values)| values)
}

/// Of all measured ratios: those to the reference share its noise.
fn covariance(pattern: &Square, unexplained: f64, noise: f64) -> Square {
    let (unexplained, noise) = (unexplained * unexplained, noise * noise);
    Square::from_fn(pattern.width() - 1, |row, column| {
        let own = if row == column { 1.0 } else { 0.0 };
        unexplained * pattern.at(row, column) + noise * (own + 1.0)
    })
}

/// The logarithm of the mean of what `logs` are the logarithms of.
fn mean_of_exponentials(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| (log - most).exp()).sum();
    most + (sum / logs.len() as f64).ln()
}

#[cold]
fn hopeless(data: &Dataset) -> crate::Error {
    bad(format!("{}: times are too far apart for a mixture model", data.machine()))
}
