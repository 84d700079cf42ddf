//! The mean cost of executions.

/// Executions at one configuration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) executions: u32,
    pub(super) cost: f64,
    dearest: f64,
}

impl Tally {
    /// So many more, which cost `cost` in all, and `dearest` at most each.
    #[inline]
    pub(super) fn add(&mut self, executions: u32, cost: f64, dearest: f64) {
        self.executions = self.executions.saturating_add(executions);
        self.cost += cost;
        self.dearest = self.dearest.max(dearest);
    }

    /// Has those so far count half, if they are `many`: what was long ago says less of what comes.
    #[inline]
    pub(super) fn fade(&mut self, many: u32) {
        if self.executions >= many {
            self.executions /= 2;
            self.cost /= 2.0;
            self.dearest /= 2.0;
        }
    }

    /// Of all of them.
    pub(super) fn mean(&self) -> f64 {
        self.cost / f64::from(self.executions)
    }

    /// Of all but the dearest: what happened once says nothing of what comes.
    pub(super) fn mean_but_for_one(&self) -> f64 {
        (self.cost - self.dearest) / f64::from(self.executions.max(2) - 1)
    }
}
