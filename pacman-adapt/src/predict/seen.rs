//! No prediction and no search.

use super::Configuration;
use super::lattice::Lattice;
use super::sample::{Measured, Sample};
use super::step::{self, Forecast, Predictor, Step};
use pacman_events::Result;

/// Measures all contexts, and stays with the best sample that it is given.
///
/// ```
/// use pacman_adapt::predict::{BestSeen, Predictor, Sample};
/// let seen = BestSeen::new(vec!["1".parse()?, "2".parse()?])?;
/// let samples = [Sample::new("2".parse()?, 1.0)?, Sample::new("1".parse()?, 0.9)?];
/// assert_eq!(seen.step(&samples)?.configuration(), "1".parse()?);
/// # Ok::<(), pacman_adapt::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BestSeen {
    lattice: Lattice,
}

impl BestSeen {
    /// Among these candidates.
    ///
    /// # Errors
    /// [`Empty`](crate::ErrorKind::Empty) without one.
    pub fn new(configurations: Vec<Configuration>) -> Result<BestSeen> {
        Ok(BestSeen { lattice: Lattice::new(configurations)? })
    }
}

impl Predictor for BestSeen {
    fn configurations(&self) -> &[Configuration] {
        self.lattice.configurations()
    }

    fn step(&self, samples: &[Sample]) -> Result<Step> {
        let measured = Measured::new(samples, self.configurations())?;
        Ok(match measured.best() {
            Some(best) => step::decide(best, format!("best of {} seen", measured.len())),
            None => Step::Sample {
                configuration: self.lattice.reference(),
                events: Vec::new(),
                why: "all contexts, as without adaptation".into(),
            },
        })
    }

    fn forecast(&self, samples: &[Sample]) -> Result<Vec<Forecast>> {
        Ok(step::only_measured(&Measured::new(samples, self.configurations())?))
    }
}
