//! The mean cost of executions.

/// Executions at one configuration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) executions: u32,
    pub(super) cost: f64,
    highest: f64,
}

impl Tally {
    /// Adds executions that cost `cost` in all, the most costly one `highest`.
    #[inline]
    pub(super) fn add(&mut self, executions: u32, cost: f64, highest: f64) {
        self.executions = self.executions.saturating_add(executions);
        self.cost += cost;
        self.highest = self.highest.max(highest);
    }

    /// Halves the weight of the executions so far if there are `many`, to favour recent ones.
    #[inline]
    pub(super) fn fade(&mut self, many: u32) {
        if self.executions >= many {
            self.executions /= 2;
            self.cost /= 2.0;
            self.highest /= 2.0;
        }
    }

    /// The mean cost of all executions.
    pub(super) fn mean(&self) -> f64 {
        self.cost / f64::from(self.executions)
    }

    /// The mean cost of all but the most costly execution, which may be a single disturbance.
    pub(super) fn mean_but_for_one(&self) -> f64 {
        (self.cost - self.highest) / f64::from(self.executions.max(2) - 1)
    }
}
