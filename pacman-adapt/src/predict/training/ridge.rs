//! Training of [`Ridge`].

use super::super::feature::{CYCLES, INSTRUCTIONS};
use super::super::ridge::{ResidualModel, Stage, Standard};
use super::super::verify::Rule;
use super::super::{Configuration, Feature, Ridge, Target};
use super::dataset::{Dataset, bad};
use super::fit::{Fit, Standardised};
use super::selection::{Aim, Choice, Problem};
use pacman_events::Result;

/// The options of a ridge model; cross-validation chooses everything else.
#[derive(Clone, Debug)]
pub struct RidgeOptions {
    /// The target of the prediction.
    pub target: Target,
    /// The configurations to sample.
    pub plan: Plan,
    /// Events whose rates may become features; `None` means all events of the data.
    pub events: Option<Vec<String>>,
    /// The transformation of the counts.
    pub terms: Terms,
}

/// The transformation of the events' counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Terms {
    /// The logarithm of each event's count per instruction: few terms, for few programs.
    Logarithms,
    /// Each event's rate, and the product of any two rates.
    ///
    /// Use it only with many more programs than terms, because the regression's intervals come
    /// from left-out programs.
    Products,
}

/// The configurations to sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// This number of configurations, 1 to 3, which training chooses; fewer if the data has fewer.
    Count(usize),
    /// As `Count`, but for an adapter: all samples have at least half of the reference's threads.
    ///
    /// An adapter limits the loss of a sample by the number of threads that it leaves out, so it
    /// can soon pay for these samples. Training then optimises decisions rather than times.
    Wide(usize),
    /// These configurations, 1 to 3, with the one of all contexts among them.
    At(Vec<Configuration>),
}

impl Default for RidgeOptions {
    /// Predicts times from three samples that training chooses.
    fn default() -> RidgeOptions {
        RidgeOptions {
            target: Target::Time,
            plan: Plan::Count(3),
            events: None,
            terms: Terms::Logarithms,
        }
    }
}

/// Fits a ridge model.
///
/// # Errors
/// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the plan does not fit the
/// data, if the data lacks a requested event, or if the regression has no solution.
pub fn ridge(data: &Dataset, options: &RidgeOptions) -> Result<Ridge> {
    let rule = Rule::default();
    let events = features(data, options)?;
    let aim = if matches!(options.plan, Plan::Wide(_)) { Aim::Decisions } else { Aim::Times };
    let problem = Problem::new(data, options.target, &events, rule, aim)?;
    let last = match &options.plan {
        Plan::Count(count) => problem.best_set(checked(data, *count)?, 1),
        Plan::Wide(count) => {
            let all = problem.configurations.last().map_or(1, |reference| reference.threads());
            problem.best_set(checked(data, *count)?, all.div_ceil(2))
        }
        Plan::At(on) => problem.best_for(&columns(data, on)?),
    };
    let last = last.ok_or_else(|| hopeless(data))?;
    let mut stages = vec![last];
    // Each earlier stage drops the sample whose absence costs the least accuracy.
    while stages[0].samples.len() > 1 {
        let samples = &stages[0].samples;
        let fewer = (1..samples.len()).rev().filter_map(|out| {
            let mut rest = samples.clone();
            rest.remove(out);
            problem.best_for(&rest)
        });
        let fewer = fewer.min_by(|a, b| a.loss.total_cmp(&b.loss));
        stages.insert(0, fewer.ok_or_else(|| hopeless(data))?);
    }
    let order = order(&stages);
    let stages: Option<Vec<Stage>> = stages
        .iter()
        .map(|choice| {
            let samples = order[..choice.samples.len()].to_vec();
            stage(&problem, &Choice { samples, ..choice.clone() })
        })
        .collect();
    Ok(Ridge {
        target: options.target,
        configurations: problem.configurations.clone(),
        stages: stages.ok_or_else(|| hopeless(data))?,
        rule,
    })
}

/// All samples, in the order in which the stages need them.
fn order(stages: &[Choice]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    for sample in stages.iter().flat_map(|choice| &choice.samples) {
        if !order.contains(sample) {
            order.push(*sample);
        }
    }
    order
}

fn stage(problem: &Problem, choice: &Choice) -> Option<Stage> {
    let Choice { samples, with_events, penalty, .. } = choice;
    let features = Standardised::new(problem.features(samples, *with_events));
    let fit = Fit::new(&features.values, &problem.deviations(samples), *penalty)?;
    let (spreads, half_width) = fit.spreads();
    let names = problem.names(samples, *with_events).into_iter();
    let standard = |(feature, &(mean, scale))| Standard { feature, mean, scale };
    let residual_model = |column: usize| ResidualModel {
        configuration: problem.configurations[column],
        intercept: fit.intercepts[column],
        slopes: fit.slopes.column(column).iter().copied().collect(),
        spread: spreads[column],
    };
    let others = (0..problem.configurations.len()).filter(|column| !samples.contains(column));
    Some(Stage {
        samples: samples.iter().map(|&sample| problem.configurations[sample]).collect(),
        features: names.zip(&features.moments).map(standard).collect(),
        penalty: *penalty,
        programs: features.values.nrows(),
        inverse: fit.inverse_rows(),
        half_width,
        residual_models: others.map(residual_model).collect(),
    })
}

/// The event features to try; none if the data lacks instructions.
fn features(data: &Dataset, options: &RidgeOptions) -> Result<Vec<Feature>> {
    let events = data.choose_events(options.events.as_deref())?;
    let none = options.events.as_ref().is_some_and(Vec::is_empty);
    if none || !data.has(INSTRUCTIONS) {
        return Ok(Vec::new());
    }
    if options.terms == Terms::Logarithms {
        let mut features = vec![Feature::Speed];
        features.extend(events.into_iter().map(Feature::PerInstruction));
        return Ok(features);
    }
    let own = [INSTRUCTIONS, CYCLES].into_iter().filter(|event| data.has(event));
    let all: Vec<String> = own.map(str::to_owned).chain(events).collect();
    let mut features: Vec<Feature> = all.iter().cloned().map(Feature::Rate).collect();
    for (place, one) in all.iter().enumerate() {
        let products = all[place..].iter().map(|other| (one.clone(), other.clone()));
        features.extend(products.map(|(one, other)| Feature::Product(one, other)));
    }
    Ok(features)
}

/// The number of samples to take if `count` are requested.
///
/// It leaves at least one configuration that the model can predict.
fn checked(data: &Dataset, count: usize) -> Result<usize> {
    if (1..=MOST).contains(&count) {
        return Ok(count.min(data.configurations().len() - 1));
    }
    let machine = data.machine();
    Err(bad(format!("{machine}: {count} samples: 1 to {MOST} can be taken")))
}

/// The columns of the plan's configurations, the reference first.
fn columns(data: &Dataset, on: &[Configuration]) -> Result<Vec<usize>> {
    let known = data.configurations();
    let reference = known.len() - 1;
    let mut columns = vec![reference];
    for &sample in on {
        let Some(column) = known.iter().position(|&one| one == sample) else {
            return Err(bad(format!("{}: no program was measured at {sample}", data.machine())));
        };
        if column != reference && !columns.contains(&column) {
            columns.push(column);
        }
    }
    if !on.contains(&known[reference]) {
        return Err(bad(format!(
            "samples must include {}, all contexts: everything is relative to it",
            known[reference]
        )));
    }
    let most = checked(data, MOST)?;
    if columns.len() > most {
        return Err(bad(format!(
            "{}: {} samples: 1 to {most} can be taken of {} configurations",
            data.machine(),
            columns.len(),
            known.len()
        )));
    }
    Ok(columns)
}

#[cold]
fn hopeless(data: &Dataset) -> crate::Error {
    bad(format!(
        "{}: no regression on these programs has a solution; more programs are needed",
        data.machine()
    ))
}

/// The most samples of a plan; more would amount to a search.
const MOST: usize = 3;
