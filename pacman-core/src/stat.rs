//! Sum, minimum and maximum.

/// Sum, minimum and maximum of one quantity over the executions of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// The total.
    pub sum: u64,
    /// The smallest value of one execution.
    pub min: u64,
    /// The largest value of one execution.
    pub max: u64,
}

impl Stat {
    /// Combines two; each must contain an execution.
    pub(crate) fn and(self, other: Stat) -> Stat {
        Stat {
            sum: self.sum.wrapping_add(other.sum),
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}
