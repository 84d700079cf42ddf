//! A reference for models of few phases: a prediction from the nearest of very many phases.
//!
//! Phases with the same counts have different times at other levels. Counts at one level do not separate
//! the amount of a thread's data from the cost of a miss. So no model can do much better than this.

use pacman_adapt::phases::{Kind, Noise, Random, SimPhase, SmtMachine};
use pacman_adapt::predict::{Configuration, Sample};
use pacman_adapt::{Error, ErrorKind, Result};

use super::{SPREAD, counted};

/// The phases whose mean decides.
const NEAREST: usize = 5;
const SEED: u64 = 0x6e65_6967_6862_6f75;

/// Phases with their features at the default, and their times at each level over the default's.
pub(super) struct Neighbours {
    phases: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Neighbours {
    pub(super) fn of(
        machine: SmtMachine,
        on: &[Configuration],
        phases: usize,
    ) -> Result<Neighbours> {
        let mut random = Random::new(SEED);
        let mut noise = Noise::new(!SEED, SPREAD);
        let phases = (0..phases).map(|_| {
            let phase = Kind::Any.draw(&mut random, machine);
            let default = *on.last().expect("a level");
            let features = features(&counted(&phase, default, &mut noise)?)?;
            Ok((features, ratios(&phase, on, default)))
        });
        Ok(Neighbours { phases: phases.collect::<Result<_>>()? })
    }

    /// The level with the least mean time of the nearest phases.
    pub(super) fn predict(&self, sample: &Sample) -> Result<usize> {
        let features = features(sample)?;
        let distance = |(other, ratios): &(Vec<f64>, Vec<f64>)| {
            let squares = features.iter().zip(other).map(|(a, b)| (a - b) * (a - b));
            (squares.sum::<f64>(), ratios.clone())
        };
        let mut all: Vec<(f64, Vec<f64>)> = self.phases.iter().map(distance).collect();
        let (nearest, ..) = all.select_nth_unstable_by(NEAREST, |a, b| a.0.total_cmp(&b.0));
        let mean = |level: usize| nearest.iter().map(|(_, ratios)| ratios[level]).sum::<f64>();
        let levels = 0..nearest[0].1.len();
        Ok(levels.min_by(|&a, &b| mean(a).total_cmp(&mean(b))).expect("a level"))
    }
}

fn ratios(phase: &SimPhase, on: &[Configuration], default: Configuration) -> Vec<f64> {
    on.iter().map(|&one| phase.seconds(one) / phase.seconds(default)).collect()
}

/// Logarithms of the counts over cycles, and of the time that threads are busy.
fn features(sample: &Sample) -> Result<Vec<f64>> {
    let missing = || Error::new(ErrorKind::InvalidInput, "the sample lacks cycles".to_owned());
    let cycles = sample.count("cycles").ok_or_else(missing)?;
    let wall = sample.seconds() * f64::from(sample.configuration().threads()) * 1e9;
    // A count of 0 is as near to a small one as this.
    let logarithm = |(_, count): (&str, f64)| (1e-3 + count / cycles).ln();
    let mut features: Vec<f64> = sample.counts().map(logarithm).collect();
    features.push((cycles / wall).ln());
    Ok(features)
}
