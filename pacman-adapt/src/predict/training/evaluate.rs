//! Evaluates predictors: leaves out one program, and follows the predictor to its decision.

use super::super::{
    BestSeen, Configuration, CrossValidation, Forecast, HillClimb, Predictor, Sample, Step,
};
use super::dataset::{Dataset, LEAST, Program, bad};
use super::fit::quantile;
use super::{LinearOptions, MixtureOptions, RidgeOptions, linear, mixture, ridge};
use pacman_events::Result;

/// A predictor and the options of its training.
#[derive(Clone, Debug)]
pub enum Contender {
    /// The linear model of the 2006 paper.
    Linear(LinearOptions),
    /// Mixtures of known programs.
    Mixture(MixtureOptions),
    /// Always all contexts.
    None,
    /// Ridge regression.
    Ridge(RidgeOptions),
    /// Hill climbing.
    Search,
}

impl Contender {
    /// The name in lower case.
    pub fn name(&self) -> &'static str {
        match self {
            Contender::Linear(_) => "linear",
            Contender::Mixture(_) => "mixture",
            Contender::None => "none",
            Contender::Ridge(_) => "ridge",
            Contender::Search => "search",
        }
    }

    /// Whether it predicts times at other configurations.
    pub fn predicts(&self) -> bool {
        matches!(self, Contender::Linear(_) | Contender::Mixture(_) | Contender::Ridge(_))
    }

    fn train(&self, data: &Dataset) -> Result<Box<dyn Predictor>> {
        let candidates = || data.configurations().to_vec();
        Ok(match self {
            Contender::Linear(options) => Box::new(linear(data, options)?),
            Contender::Mixture(options) => Box::new(mixture(data, *options)?),
            Contender::None => Box::new(BestSeen::new(candidates())?),
            Contender::Ridge(options) => Box::new(ridge(data, options)?),
            Contender::Search => Box::new(HillClimb::new(candidates())?),
        })
    }
}

/// The result of leaving out each program, for one predictor on one machine.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// A score for each program, in the data's order.
    pub scores: Vec<Score>,
}

/// The result for one left-out program.
#[derive(Clone, Debug)]
pub struct Score {
    /// The program.
    pub program: String,
    /// A time for each configuration, before verification.
    pub times: Vec<Baseline>,
    /// Executions until the decision.
    pub samples: usize,
    /// Total seconds of those executions, in executions at the best configuration.
    pub spent: f64,
    /// The chosen configuration.
    pub decision: Configuration,
    /// The best configuration.
    pub best: Configuration,
    /// The time at the decision over the time at the best configuration, less 1.
    pub regret: f64,
    /// Mean relative error of the times that were not sampled; `None` if the predictor predicts no
    /// times.
    pub error: Option<f64>,
}

/// A forecast and the measured time.
#[derive(Clone, Copy, Debug)]
pub struct Baseline {
    /// The configuration.
    pub configuration: Configuration,
    /// Measured seconds.
    pub measured: f64,
    /// The forecast before verification; `None` if the model had no prediction.
    pub forecast: Option<Forecast>,
}

/// Leaves out each program in turn, and calls `progress` after each.
///
/// A program's phases resemble each other. With at least four programs, all phases of a program are
/// left out together.
///
/// # Errors
/// As the errors of training.
pub fn evaluate(
    data: &Dataset,
    contender: &Contender,
    progress: &mut dyn FnMut(),
) -> Result<Evaluation> {
    let programs = data.programs();
    let mut scores = Vec::new();
    for (index, program) in programs.iter().enumerate() {
        let predictor = contender.train(&data.without(index, LEAST - 1))?;
        let mut score = follow(&*predictor, program)?;
        if contender.predicts() {
            score.error = mean(score.times.iter().filter_map(Baseline::error));
        }
        scores.push(score);
        progress();
    }
    let mut evaluation = Evaluation { scores };
    if let Contender::Mixture(_) | Contender::Ridge(_) = contender {
        evaluation.calibrate();
    }
    Ok(evaluation)
}

/// Follows the predictor to its decision on a program with known times.
fn follow(predictor: &dyn Predictor, truth: &Program) -> Result<Score> {
    let mut samples: Vec<Sample> = Vec::new();
    let mut times = None;
    let decision = loop {
        let step = predictor.step(&samples)?;
        if times.is_none() && !matches!(step, Step::Sample { .. }) {
            times = Some(predictor.forecast(&samples)?);
        }
        match step {
            Step::Sample { configuration, events, .. } => {
                samples.push(execution(truth, configuration, &events)?);
            }
            Step::Verify { configuration, .. } => {
                samples.push(execution(truth, configuration, &[])?);
            }
            Step::Decide { configuration, .. } => break configuration,
        }
    };
    let forecasts = times.unwrap_or_default();
    let weigh = |sample: &Sample| {
        let configuration = sample.configuration();
        let forecast = forecasts.iter().find(|one| one.configuration == configuration).copied();
        Baseline { configuration, measured: sample.seconds(), forecast }
    };
    let least = |a: &&Sample, b: &&Sample| a.seconds().total_cmp(&b.seconds());
    let best = truth.samples.iter().min_by(least).ok_or_else(|| nowhere(truth))?;
    let decided = at(truth, decision)?;
    Ok(Score {
        program: truth.name.clone(),
        times: truth.samples.iter().map(weigh).collect(),
        samples: samples.len(),
        spent: samples.iter().map(Sample::seconds).sum::<f64>() / best.seconds(),
        decision,
        best: best.configuration(),
        regret: decided.seconds() / best.seconds() - 1.0,
        error: None,
    })
}

/// An execution that counts only `events`.
fn execution(truth: &Program, on: Configuration, events: &[String]) -> Result<Sample> {
    let known = at(truth, on)?;
    let mut sample = Sample::new(on, known.seconds())?;
    for event in events {
        let count = known.count(event).ok_or_else(|| {
            bad(format!("{} at {on} has no count of {event}, which the model needs", truth.name))
        })?;
        sample = sample.with(event.as_str(), count)?;
    }
    Ok(sample)
}

fn at(truth: &Program, on: Configuration) -> Result<&Sample> {
    truth.samples.iter().find(|sample| sample.configuration() == on).ok_or_else(|| nowhere(truth))
}

#[cold]
fn nowhere(truth: &Program) -> crate::Error {
    bad(format!("{} was not measured at a configuration that was asked for", truth.name))
}

impl Baseline {
    /// |predicted − measured| / measured; 1 without a prediction, `None` if it was sampled.
    pub fn error(&self) -> Option<f64> {
        match self.forecast {
            Some(forecast) if forecast.measured => None,
            Some(forecast) => Some((forecast.seconds / self.measured - 1.0).abs()),
            None => Some(1.0),
        }
    }

    /// Whether the interval contains the measured time; `None` if it was sampled.
    pub fn coverage(&self) -> Option<bool> {
        match self.forecast {
            Some(forecast) if forecast.measured => None,
            Some(forecast) => Some((forecast.low..=forecast.high).contains(&self.measured)),
            None => Some(false),
        }
    }
}

impl Evaluation {
    /// 1 less the mean over programs of [`Score::error`](Score#structfield.error).
    pub fn accuracy(&self) -> Option<f64> {
        self.errors().map(|errors| 1.0 - errors.iter().sum::<f64>() / errors.len() as f64)
    }

    /// The accuracy for the worst program.
    pub fn worst_accuracy(&self) -> Option<f64> {
        self.errors().map(|errors| 1.0 - errors.iter().copied().fold(0.0, f64::max))
    }

    /// A program's share of the total error.
    pub fn share(&self, score: &Score) -> Option<f64> {
        let sum: f64 = self.errors()?.iter().sum();
        let error = score.error?;
        (sum > 0.0).then_some(error / sum)
    }

    /// The part of predicted times with the measured time in their 90 % interval.
    pub fn coverage(&self) -> Option<f64> {
        self.errors()?;
        let coverage =
            self.scores.iter().flat_map(|score| &score.times).filter_map(Baseline::coverage);
        mean(coverage.map(|coverage| if coverage { 1.0 } else { 0.0 }))
    }

    /// Mean regret over programs.
    pub fn regret(&self) -> f64 {
        self.mean(|score| score.regret)
    }

    /// Regret of the worst program.
    pub fn worst_regret(&self) -> f64 {
        self.scores.iter().map(|score| score.regret).fold(0.0, f64::max)
    }

    /// Mean executions to a decision.
    pub fn samples(&self) -> f64 {
        self.mean(|score| score.samples as f64)
    }

    /// Mean time to a decision, in executions at the best configuration.
    pub fn spent(&self) -> f64 {
        self.mean(|score| score.spent)
    }

    /// The summary that a model's file keeps; `None` for predictors that predict no times.
    pub fn summary(&self) -> Option<CrossValidation> {
        Some(CrossValidation {
            accuracy: self.accuracy()?,
            worst_accuracy: self.worst_accuracy()?,
            regret: self.regret(),
            worst_regret: self.worst_regret(),
            samples: self.samples(),
            coverage: self.coverage()?,
        })
    }

    /// The factor on interval widths after which 90 % of these times are in their intervals.
    ///
    /// A model's own residuals are too small, because the samples were chosen to minimise them.
    pub fn calibration(&self) -> f64 {
        calibration(self.scores.iter())
    }

    /// Widens each program's intervals by the calibration factor of the other programs.
    fn calibrate(&mut self) {
        let others = |out: usize| {
            let rest = self.scores.iter().enumerate().filter(move |(index, _)| *index != out);
            calibration(rest.map(|(_, score)| score))
        };
        let factors: Vec<f64> = (0..self.scores.len()).map(others).collect();
        for (score, factor) in self.scores.iter_mut().zip(factors) {
            for forecast in score.times.iter_mut().filter_map(|one| one.forecast.as_mut()) {
                forecast.widen(factor);
            }
        }
    }

    fn errors(&self) -> Option<Vec<f64>> {
        self.scores.iter().map(|score| score.error).collect()
    }

    fn mean(&self, of: impl Fn(&Score) -> f64) -> f64 {
        mean(self.scores.iter().map(of)).unwrap_or(0.0)
    }
}

/// The 90 % quantile of the errors of forecasts, in half-widths of their intervals.
fn calibration<'a>(scores: impl Iterator<Item = &'a Score>) -> f64 {
    let times = scores.flat_map(|score| &score.times);
    let mut ratios: Vec<f64> =
        times.filter_map(|one| one.forecast?.distance(one.measured)).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    quantile(&ratios).unwrap_or(1.0)
}

impl Forecast {
    /// The error in half-widths of the interval, in ln seconds.
    fn distance(&self, truth: f64) -> Option<f64> {
        let half = (self.high / self.seconds).ln();
        (!self.measured && half > 0.0).then(|| (truth / self.seconds).ln().abs() / half)
    }

    fn widen(&mut self, factor: f64) {
        self.low = self.seconds * (self.low / self.seconds).powf(factor);
        self.high = self.seconds * (self.high / self.seconds).powf(factor);
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}
