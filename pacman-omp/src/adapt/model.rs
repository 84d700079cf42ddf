//! A trained model that says what to sample, instead of a search.

use std::path::Path;
use std::sync::Arc;

use pacman_core::adapt::{Candidates, Objective};
use pacman_core::predict::{Configuration, Model, Predictor, machine_name};
use pacman_core::{Result, Topology};

use crate::process;

/// The model in `path` for this machine. One that cannot be used leaves regions to the search, and
/// the recording says why.
pub(super) fn load(
    path: &Path,
    topology: &Topology,
    objective: &Objective,
) -> Option<Arc<dyn Predictor>> {
    let refused = |why: String| process::note(format!("searching without the model: {why}"));
    if !matches!(objective, Objective::Time) {
        refused(format!("it predicts times, and {objective} is to become less"));
        return None;
    }
    let model = Model::from_file(path).and_then(|model| model.adapting(&machine_name(topology)));
    model.map_err(|error| refused(error.to_string())).ok()
}

/// What there is to choose from with `predictor`: those of its configurations that a team may have.
/// `None` where it does not know the team's default, from which it would predict.
pub(super) fn among(predictor: &dyn Predictor, all: &Candidates) -> Option<Result<Candidates>> {
    let default = all.default();
    let fits = |on: &&Configuration| all.all().contains(on);
    let known: Vec<Configuration> =
        predictor.configurations().iter().filter(fits).copied().collect();
    known.contains(&default).then(|| Candidates::new(known, default))
}
