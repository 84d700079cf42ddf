//! Search without a model.

use super::Configuration;
use super::lattice::Lattice;
use super::sample::{Measured, Sample};
use super::step::{self, Forecast, Predictor, Step};
use pacman_events::Result;

/// Hill climbing from all contexts, with strides that halve.
///
/// The search compares the best configuration so far with its neighbours at a stride of half the
/// lattice. A quicker neighbour becomes the new centre. If no neighbour is quicker, the stride
/// halves, down to 1. With 24 thread counts this takes about 8 executions. It finds the optimum
/// of a curve with one minimum, and a good configuration of most other curves.
///
/// The example of [the module](super) runs one.
#[derive(Clone, Debug)]
pub struct HillClimb {
    lattice: Lattice,
}

impl HillClimb {
    /// A search among these candidates.
    ///
    /// # Errors
    /// [`Empty`](crate::ErrorKind::Empty) if the list is empty.
    pub fn new(configurations: Vec<Configuration>) -> Result<HillClimb> {
        Ok(HillClimb { lattice: Lattice::new(configurations)? })
    }
}

impl Predictor for HillClimb {
    fn configurations(&self) -> &[Configuration] {
        self.lattice.configurations()
    }

    fn step(&self, samples: &[Sample]) -> Result<Step> {
        let measured = Measured::new(samples, self.configurations())?;
        let sample = |configuration, why| Step::Sample { configuration, events: Vec::new(), why };
        let reference = self.lattice.reference();
        let Some(start) = measured.at(reference) else {
            return Ok(sample(reference, "the search starts with all contexts".into()));
        };
        // Replays the climb up to the first missing execution. Only the climb's own moves count,
        // so that samples taken for other reasons cannot make it repeat itself.
        let mut best = start;
        let mut stride = (self.lattice.width() / 2).max(1);
        loop {
            let centre = best;
            let mut around = self.lattice.along(centre.configuration(), stride);
            around.extend(self.lattice.across(centre.configuration()));
            for neighbour in around {
                match measured.at(neighbour) {
                    Some(found) if found.seconds() < best.seconds() => best = found,
                    Some(_) => {}
                    None => {
                        let so_far = best.configuration();
                        return Ok(sample(
                            neighbour,
                            format!("a neighbour of {so_far}, the best so far"),
                        ));
                    }
                }
            }
            if best.configuration() == centre.configuration() {
                if stride == 1 {
                    break;
                }
                stride /= 2;
            }
        }
        // A sample from outside of the climb may still be better.
        let best = measured.best().unwrap_or(best);
        Ok(step::decide(best, format!("no neighbour is quicker; {} measured", measured.len())))
    }

    fn forecast(&self, samples: &[Sample]) -> Result<Vec<Forecast>> {
        Ok(step::only_measured(&Measured::new(samples, self.configurations())?))
    }
}
