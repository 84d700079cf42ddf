//! Training of [`Ridge`].

use super::super::feature::{CYCLES, INSTRUCTIONS};
use super::super::ridge::{ResidualModel, Stage, Standard};
use super::super::verify::Rule;
use super::super::{Configuration, Feature, Ridge, Target};
use super::dataset::{Dataset, bad};
use super::fit::{Fit, Standardised};
use super::selection::{Aim, Choice, Problem};
use crate::error::Result;

/// The options of a ridge model; cross-validation chooses all else.
#[derive(Clone, Debug)]
pub struct RidgeOptions {
    /// The target of the prediction.
    pub target: Target,
    /// Where samples are taken.
    pub plan: Plan,
    /// Events whose rates may become features; `None` is all that there are.
    pub events: Option<Vec<String>>,
    /// In which form.
    pub terms: Terms,
}

/// The transformation of the events' counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Terms {
    /// The logarithm of each event's count per instruction: few terms for few programs.
    Logarithms,
    /// Each event's rate, and the products of any two: for many more programs than terms, as the
    /// regression's intervals are no better than the programs left out of it.
    Products,
}

/// Where samples are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// At so many configurations, 1 to 3, of training's choice; fewer where there are fewer to
    /// choose from.
    Count(usize),
    /// The same for an adapter: among configurations with at least half of the reference's
    /// threads, because it bounds what a sample may lose by the threads that it leaves out, and
    /// can soon pay for these; and for the sake of decisions rather than of times.
    Wide(usize),
    /// At these, 1 to 3, all contexts among them.
    At(Vec<Configuration>),
}

impl Default for RidgeOptions {
    /// Times, from three samples of training's choice.
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
/// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the plan does not suit the
/// data or the data lacks counts that were asked for.
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
    // Each earlier stage leaves out the later sample that it misses least.
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

/// The samples in the order in which the stages need them.
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

/// Event rates that may help: none where instructions were not counted.
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

/// How many samples are taken when so many are asked for: a model has something to predict.
fn checked(data: &Dataset, count: usize) -> Result<usize> {
    if (1..=MOST).contains(&count) {
        return Ok(count.min(data.configurations().len() - 1));
    }
    let machine = data.machine();
    Err(bad(format!("{machine}: {count} samples: 1 to {MOST} can be taken")))
}

/// The plan's columns, the reference first.
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

/// More samples than that are a search.
const MOST: usize = 3;
