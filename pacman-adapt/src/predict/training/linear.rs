//! Training of [`Linear`].

use nalgebra::DMatrix;

use super::super::feature::INSTRUCTIONS;
use super::super::linear::{Regression, rates};
use super::super::verify::Rule;
use super::super::{Linear, Target};
use super::dataset::{Dataset, bad};
use super::fit::{Fit, Standardised};
use super::selection::about;
use pacman_events::Result;

/// The options of a linear model.
#[derive(Clone, Debug)]
pub struct LinearOptions {
    /// The target of the prediction.
    pub target: Target,
    /// Events whose rates are features; `None` means all events.
    pub events: Option<Vec<String>>,
}

impl Default for LinearOptions {
    /// Predicts times from all events.
    fn default() -> LinearOptions {
        LinearOptions { target: Target::Time, events: None }
    }
}

/// Fits the paper's model: ordinary least squares without changes.
///
/// # Errors
/// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if instructions (and with target IPC
/// cycles) were not counted, or if there are too many events for the number of programs.
pub fn linear(data: &Dataset, options: &LinearOptions) -> Result<Linear> {
    let LinearOptions { target, events } = options;
    let events = data.choose_events(events.as_deref())?;
    for needed in target.events().iter().chain([&INSTRUCTIONS]) {
        if !data.has(needed) {
            let why = format!("{}: a linear model needs the count of {needed}", data.machine());
            return Err(bad(why));
        }
    }
    let programs = data.programs().len();
    let coefficients = events.len() + 2;
    // At least one program more than coefficients, or each residual is 0 and has no meaning.
    if programs <= coefficients {
        return Err(bad(format!(
            "{}: {programs} programs for {coefficients} coefficients; least squares needs more \
             programs or fewer events",
            data.machine()
        )));
    }
    let columns = data.configurations().len();
    let mut features = DMatrix::zeros(programs, events.len() + 1);
    let mut speeds = DMatrix::zeros(programs, columns);
    for (row, program) in data.programs().iter().enumerate() {
        let named = |error| about(&program.name, &error);
        let reference = &program.samples[columns - 1];
        let values = rates(reference, events.iter(), *target).map_err(named)?;
        for (column, value) in values.into_iter().enumerate() {
            features[(row, column)] = value;
        }
        for (column, sample) in program.samples.iter().enumerate() {
            speeds[(row, column)] = match target {
                Target::Ipc => target.work(sample).map_err(named)?,
                // The reference's work in that configuration's time. So the model predicts time,
                // even if waiting threads execute instructions.
                Target::Time => {
                    target.work(reference).map_err(named)? * reference.seconds() / sample.seconds()
                }
            };
        }
    }
    let features = Standardised::new(features);
    let fit = Fit::new(&features.values, &speeds, 0.0).ok_or_else(|| {
        bad(format!(
            "{}: the events' rates depend on each other; choose fewer events",
            data.machine()
        ))
    })?;
    let (spreads, half_width) = fit.spreads();
    let regression = |column: usize| Regression {
        configuration: data.configurations()[column],
        intercept: fit.intercepts[column],
        slopes: fit.slopes.column(column).iter().copied().collect(),
        spread: spreads[column],
    };
    // Two executions, as in the paper: half of the events in each.
    let event_sets = match events.split_at(events.len().div_ceil(2)) {
        (all, []) => vec![all.to_vec()],
        (first, second) => vec![first.to_vec(), second.to_vec()],
    };
    Ok(Linear {
        target: *target,
        configurations: data.configurations().to_vec(),
        event_sets,
        standards: features.moments.clone(),
        programs,
        inverse: fit.inverse_rows(),
        half_width,
        regressions: (0..columns - 1).map(regression).collect(),
        rule: Rule::default(),
    })
}
