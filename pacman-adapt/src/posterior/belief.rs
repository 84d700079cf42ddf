//! The expected cost of one execution, and forecasts of it.

/// The expectation of an execution.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Belief {
    /// The mean of the cost.
    pub(crate) cost: f64,
    /// The mean of what it is below the best, where it is.
    pub(crate) gain: f64,
    /// The probability that it is below the best.
    pub(crate) chance: f64,
}

/// Where a hypothesis is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// An earlier run of the program.
    Memory,
    /// A predictor.
    Forecast,
}

/// A forecast of a cost that was not measured, over the default's usual cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hypothesis {
    pub(crate) source: Source,
    pub(crate) cost: f64,
    pub(crate) deviation: f64,
    /// An execution that costs more disproves it, and all others of its source.
    pub(crate) most: f64,
}

/// The mean gain of a cost that is expected to be `more` above the best, with that standard deviation. It
/// is that of a logistic distribution, whose tails are heavier than the normal distribution's.
pub(super) fn expected_gain(more: f64, deviation: f64) -> f64 {
    const SCALE: f64 = 1.8;
    if deviation <= 0.0 {
        return (-more).max(0.0);
    }
    let scaled = -SCALE * more / deviation;
    // This form does not overflow.
    (scaled.max(0.0) + (-scaled.abs()).exp().ln_1p()) * deviation / SCALE
}
