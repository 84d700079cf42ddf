//! The samples that a predictor has, and the events that it wants.

use crate::predict::Sample;

/// The samples that a predictor has, and the events that it wants.
#[derive(Debug, Default)]
pub(super) struct Advice {
    /// The counts at the default.
    pub(super) counted: Vec<Sample>,
    /// The events to count in the next execution.
    pub(super) wanted: Vec<String>,
    /// A sample exceeded its predicted limit.
    pub(super) is_disproved: bool,
}

impl Advice {
    pub(super) fn has_counts(&self) -> bool {
        !self.counted.is_empty()
    }
}
