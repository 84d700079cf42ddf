//! A trained model that chooses samples in place of the search.

use std::path::Path;
use std::sync::Arc;

use pacman_adapt::predict::{Configuration, Model, Predictor, machine_name};
use pacman_adapt::{Candidates, Objective};
use pacman_core::Topology;

use crate::notes;

/// Loads the model in `path` for this machine. If it cannot be used, regions are searched, and a note has
/// the reason.
pub(super) fn load(
    path: &Path,
    topology: &Topology,
    objective: &Objective,
) -> Option<Arc<dyn Predictor>> {
    let refused = |why: String| notes::note(format!("searching without the model: {why}"));
    if !matches!(objective, Objective::Time) {
        refused(format!("it predicts times, but the objective is {objective}"));
        return None;
    }
    let model = Model::from_file(path).and_then(|model| model.adapting(&machine_name(topology)));
    model.map_err(|error| refused(error.to_string())).ok()
}

/// The configurations of `predictor` that a team may have. A configuration that is only a number of
/// threads, as `run --record` writes it, fits any team of that size. One without nodes fits any nodes.
///
/// # Errors
/// The reason why the predictor does not know teams of that default size.
pub(super) fn among(predictor: &dyn Predictor, all: &Candidates) -> Result<Candidates, String> {
    let default = all.default();
    let fits = |on: &&Configuration| {
        let on_any_nodes = |other: &Configuration| other.wherever() == **on;
        let is_there = all.all().contains(on) || all.all().iter().any(on_any_nodes);
        is_there || (on.cores().is_none() && on.threads() <= default.threads())
    };
    let known: Vec<Configuration> =
        predictor.configurations().iter().filter(fits).copied().collect();
    let of_default = |on: &Configuration| on.threads() == default.threads();
    let widest = known.iter().copied().find(|&on| on == default);
    let widest = widest.or(known.iter().copied().filter(of_default).max());
    let Some(widest) = widest else {
        let threads = default.threads();
        return Err(match default.cores() {
            Some(_) => format!("it has no configuration {default}, nor {threads} threads"),
            None => format!("it has no configuration of {threads} threads, wherever they run"),
        });
    };
    match predictor.reference() {
        Some(reference) if reference != widest => Err(format!("it predicts from {reference}")),
        _ => Candidates::new(known, widest).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use pacman_adapt::predict::BestSeen;

    use super::*;

    fn on(texts: &[&str]) -> Vec<Configuration> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn candidates_are_the_configurations_that_fit_the_team() {
        let machine = Topology::synthetic("4 cores, 2 threads").unwrap();
        let with = |known: &[&str], team| {
            let predictor = BestSeen::new(on(known)).unwrap();
            let all = Candidates::for_team(&machine, team, None).unwrap();
            among(&predictor, &all).map(|known| (known.all().to_vec(), known.default()))
        };
        // By cores and contexts, and by threads only.
        let shaped = ["1x1", "4x1", "4x2"];
        assert_eq!(with(&shaped, 8), Ok((on(&shaped), on(&["4x2"])[0])));
        let plain = ["1", "2", "8"];
        assert_eq!(with(&plain, 8), Ok((on(&plain), on(&["8"])[0])));
        // More threads than contexts.
        let crowd = ["2", "8", "16"];
        assert_eq!(with(&crowd, 16), Ok((on(&crowd), on(&["16"])[0])));
        // A size that it does not know.
        let why = "it has no configuration 2x2, nor 4 threads".to_owned();
        assert_eq!(with(&plain, 4), Err(why));
        // Teams that the user binds offer no choice of cores.
        let bound = Candidates::for_team(&machine, 8, None).unwrap().by_threads().unwrap();
        let shaped = BestSeen::new(on(&shaped)).unwrap();
        let why = "it has no configuration of 8 threads, wherever they run".to_owned();
        assert_eq!(among(&shaped, &bound).map(drop), Err(why));
    }
}
