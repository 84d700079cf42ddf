//! The disturbances of a machine.

use super::draw::Random;

/// Factors on times: a spread that is always there, and now and then a long disturbance.
#[derive(Clone, Debug)]
pub struct Noise {
    random: Random,
    spread: f64,
    outliers: f64,
    outlier: f64,
}

impl Noise {
    /// Normally distributed, with `spread` as the standard deviation of the logarithm.
    pub fn new(seed: u64, spread: f64) -> Noise {
        Noise { random: Random::new(seed), spread, outliers: 0.0, outlier: 1.0 }
    }

    /// Adds outliers: with probability `often` an execution takes up to `factor` times as long.
    pub fn with_outliers(mut self, often: f64, factor: f64) -> Noise {
        (self.outliers, self.outlier) = (often, factor);
        self
    }

    /// The factor of the next execution.
    pub fn factor(&mut self) -> f64 {
        // Box and Muller's transformation; 1 − u keeps the logarithm finite.
        let radius = (-2.0 * (1.0 - self.random.unit()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.random.unit()).cos();
        let disturbed = self.random.unit() < self.outliers;
        let outlier = if disturbed { self.random.between(1.0, self.outlier) } else { 1.0 };
        (self.spread * normal).exp() * outlier
    }
}
