//! Checks that a predictor fits a machine, a limit of threads and an objective.

use super::candidates::Candidates;
use super::objective::Objective;
use super::places::places;
use crate::predict::{Configuration, Predictor, without_counts};
use pacman_events::{Error, ErrorKind, Result};
use pacman_topology::Placement;
use pacman_topology::Topology;

/// The candidates of `predictor` on this machine, or an error that says why it does not fit.
pub(super) fn fitting(
    predictor: &dyn Predictor,
    topology: &Topology,
    all: &Candidates,
    objective: &Objective,
) -> Result<Candidates> {
    for &on in predictor.configurations() {
        places(topology, on, &Placement::Compact).map_err(|error| {
            let why = format!("the predictor knows {on}, which this machine does not have: ");
            Error::new(ErrorKind::NoSuchPlace, why + &error.to_string())
        })?;
    }
    if predictor.needs_times() && !matches!(objective, Objective::Time) {
        let why = format!(
            "cannot adapt for {objective} with this predictor: it predicts times; adapt for time, \
             or leave the predictor out"
        );
        return Err(Error::new(ErrorKind::InvalidInput, why));
    }
    without_counts(&predictor.needs_counts())?;
    let candidates = among(predictor, topology, all)?;
    match predictor.reference() {
        Some(reference) if reference != candidates.default() => {
            Err(unknown_default(candidates.default(), reference))
        }
        _ => Ok(candidates),
    }
}

/// The predictor's configurations that fit the machine and the limit, and the default.
pub(super) fn among(
    predictor: &dyn Predictor,
    topology: &Topology,
    all: &Candidates,
) -> Result<Candidates> {
    let fits = |on: &&Configuration| {
        on.threads() <= all.default().threads()
            && places(topology, **on, &Placement::Compact).is_ok()
    };
    let mut known: Vec<Configuration> =
        predictor.configurations().iter().filter(fits).copied().collect();
    let of_default = |on: &Configuration| on.threads() == all.default().threads();
    let widest = known.iter().copied().find(|&on| on == all.default());
    let widest = widest.or(known.iter().copied().filter(of_default).max());
    known.extend(widest.is_none().then_some(all.default()));
    Candidates::new(known, widest.unwrap_or(all.default()))
}

#[cold]
fn unknown_default(default: Configuration, reference: Configuration) -> Error {
    let why = format!(
        "cannot adapt within {} threads with this predictor: it predicts from {reference}; set \
         max_threads to {}, or train a model on runs with {} threads at most",
        default.threads(),
        reference.threads(),
        default.threads()
    );
    Error::new(ErrorKind::InvalidInput, why)
}
