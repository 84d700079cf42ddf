//! The verdict on a counter from its samples: a pure function.

use std::fmt;

use pacman_core::backend::ReadPath;
use pacman_events::plural::number;
use serde::Serialize;

#[cfg(test)]
mod tests;

/// Counts off by no more than this part of the truth are close enough to use as they are.
pub(crate) const TOLERANCE: f64 = 0.05;

/// Factors that differ by no more than this part of their median are one factor.
pub(crate) const STABLE: f64 = 0.05;

/// The error of an exact counter in single repeats: interrupts that the hardware counts as an
/// instruction each (Weaver and others, ISPASS 2013).
const STRAY: f64 = 0.001;

/// Below this part of the truth, a count comes from the edges of the run and not from the event.
const SILENCE: f64 = 0.01;

/// The truth about one repeat: a number if both bounds are the same, else all that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Truth {
    /// Least number that can have happened, at least 1.
    pub(crate) low: u64,
    /// Greatest number that can have happened.
    pub(crate) high: u64,
}

impl Truth {
    /// A count that is known to the last one.
    pub(crate) fn exactly(count: u64) -> Truth {
        Truth { low: count, high: count }
    }

    /// Whether the number itself is known.
    pub(crate) fn is_exact(self) -> bool {
        self.low == self.high
    }

    fn middle(self) -> f64 {
        (self.low as f64 + self.high as f64) / 2.0
    }
}

/// One repeat: the truth and the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Sample {
    /// The truth about the event.
    #[serde(flatten)]
    pub(crate) truth: Truth,
    /// Count, less the count around no work. It is negative if the counter went backwards.
    pub(crate) counted: i64,
}

impl Sample {
    /// The distance of the count from the bounds of the truth, as a part of the truth.
    fn gap(&self) -> f64 {
        let (counted, low, high) =
            (self.counted as f64, self.truth.low as f64, self.truth.high as f64);
        if counted < low {
            (low - counted) / low
        } else if counted > high {
            (counted - high) / high
        } else {
            0.0
        }
    }

    /// The most that the count can be off by, as a part of the truth.
    fn error(&self) -> f64 {
        let counted = self.counted as f64;
        let at = |truth: u64| ((counted - truth as f64) / truth as f64).abs();
        at(self.truth.low).max(at(self.truth.high))
    }

    /// The count divided by the truth.
    pub(crate) fn ratio(&self) -> f64 {
        self.counted as f64 / self.truth.middle()
    }
}

/// The counts of an event on a kernel.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub(crate) struct Counted {
    /// The way in which the counter was read.
    pub(crate) read_path: ReadPath,
    /// Why its counts may be wrong, if they may: the kernel's driver is not trusted here.
    pub(crate) doubt: Option<&'static str>,
    /// Every repeat, in order.
    pub(crate) samples: Vec<Sample>,
    /// Repeats during which others had the CPU, however often they were made again, on a
    /// kernel that suffers from it.
    pub(crate) disturbed: usize,
    /// Their verdict.
    pub(crate) verdict: Verdict,
}

/// The worth of a counter.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub(crate) enum Verdict {
    /// Right to the last count in at least three of four repeats, and next to right in
    /// the others.
    Exact {
        /// The most that a repeat was off by, in counts.
        worst: u64,
    },
    /// Never off by more than a few per cent.
    Within {
        /// The largest possible error of a repeat, as a part of the truth. It includes the
        /// uncertainty of the truth.
        error: f64,
    },
    /// Wrong by a factor, and always by the same one.
    Factor {
        /// The count divided by the truth; the median of the repeats.
        factor: f64,
        /// The largest factor less the smallest, as a part of the median.
        spread: f64,
    },
    /// Nothing can be concluded from its counts.
    Unusable(Fault),
}

/// Why a counter cannot be used.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub(crate) enum Fault {
    /// It reads 0, or next to it, where there was something to count.
    Silent {
        /// The highest count of any repeat.
        most: i64,
    },
    /// Its factor differs from repeat to repeat.
    Unstable {
        /// The smallest factor.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// Close to the truth in most repeats, and anywhere in some.
    Wild {
        /// In how many repeats it was off by more than [`TOLERANCE`].
        repeats: usize,
        /// The count that was off most; the higher one of two that were as much.
        worst: i64,
    },
}

impl Verdict {
    /// The verdict on a counter that answered with `samples`.
    ///
    /// # Panics
    /// Without a sample.
    pub(crate) fn of(samples: &[Sample]) -> Verdict {
        assert!(!samples.is_empty(), "a verdict needs a sample");
        let most_by = |of: fn(&Sample) -> f64| samples.iter().map(of).fold(0.0, f64::max);
        let to_the_last = samples.iter().filter(|s| s.truth.is_exact() && s.gap() == 0.0).count();
        if most_by(Sample::gap) <= STRAY && 4 * to_the_last >= 3 * samples.len() {
            let off = |s: &Sample| {
                let counted = s.counted.max(0) as u64;
                s.truth.low.saturating_sub(counted).max(counted.saturating_sub(s.truth.high))
            };
            return Verdict::Exact { worst: samples.iter().map(off).max().unwrap_or(0) };
        }
        if most_by(Sample::gap) <= TOLERANCE {
            return Verdict::Within { error: most_by(Sample::error) };
        }
        let mut ratios: Vec<f64> = samples.iter().map(Sample::ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let (least, median, most) = (ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
        if least > -SILENCE && most < SILENCE {
            let most = samples.iter().map(|s| s.counted).max().unwrap_or(0);
            return Verdict::Unusable(Fault::Silent { most });
        }
        let spread = (most - least) / median;
        if least > 0.0 && spread <= STABLE {
            return Verdict::Factor { factor: median, spread };
        }
        let off = |s: &&Sample| s.gap() > TOLERANCE;
        let repeats = samples.iter().filter(off).count();
        // Of two that are off by as much, one too low and one too high, the latter.
        let further =
            |a: &&Sample, b: &&Sample| a.gap().total_cmp(&b.gap()).then(a.counted.cmp(&b.counted));
        let worst = samples.iter().filter(off).max_by(further);
        Verdict::Unusable(match worst {
            Some(worst) if 2 * repeats <= samples.len() => {
                Fault::Wild { repeats, worst: worst.counted }
            }
            _ => Fault::Unstable { least, most },
        })
    }

    /// Whether counts can be used, if need be after dividing by a factor.
    pub(crate) fn is_usable(self) -> bool {
        !matches!(self, Verdict::Unusable(_))
    }

    /// The name that programs see: `exact`, `within`, `over`, `under` or `unusable`.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Verdict::Exact { .. } => "exact",
            Verdict::Within { .. } => "within",
            Verdict::Factor { factor, .. } if factor > 1.0 => "over",
            Verdict::Factor { .. } => "under",
            Verdict::Unusable(_) => "unusable",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Verdict::Exact { worst: 0 } => f.write_str("exact"),
            Verdict::Exact { worst } => write!(f, "exact, at worst off by {worst}"),
            Verdict::Within { error } => write!(f, "within {}", percent(error)),
            Verdict::Factor { factor, spread } => {
                let way = if factor > 1.0 { "over" } else { "under" };
                write!(f, "{way}-counts by a factor of {factor:.3}, spread {}", percent(spread))
            }
            Verdict::Unusable(Fault::Silent { most: 0 }) => f.write_str("unusable: reads 0"),
            Verdict::Unusable(Fault::Silent { most }) => {
                write!(f, "unusable: reads {most} at most")
            }
            Verdict::Unusable(Fault::Unstable { least, most }) => {
                write!(f, "unusable: anything from {least:.2} to {most:.2} times the truth")
            }
            Verdict::Unusable(Fault::Wild { repeats, worst }) => {
                write!(f, "unusable: wild in {}, such as {worst}", number(repeats, "repeat"))
            }
        }
    }
}

/// A part as per cent, rounded up.
fn percent(part: f64) -> String {
    let digits = if part < 0.0995 { 2 } else { 1 };
    let unit = 10f64.powi(digits);
    // The rounding of floating point must not raise a round figure's last digit.
    let up = (part * 100.0 * unit - 1e-6).max(0.0).ceil() / unit;
    format!("{up:.*} %", digits as usize)
}
