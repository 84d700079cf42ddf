//! The mean cost of a stay at a configuration other than the default.
//!
//! Levels are medians, so that a single disturbance decides nothing. So they also hide occasional
//! costly executions on fewer threads, as when two threads share a context for a time slice. The
//! regret budget includes every execution, so it shows them.

use super::limits::KNOWN_WELL;
use super::tally::Tally;

/// Executions at one configuration; only executions at the default may lie between them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldRun {
    pub(super) at: usize,
    pub(super) tally: Tally,
    /// The assumed cost of the default in its place.
    pub(super) default: f64,
    /// The account's loss before the stay.
    pub(super) lost: f64,
}

impl HeldRun {
    /// So many more, at `at`, which cost so much in all, where the default was taken to cost `default`,
    /// and `dearest` at most each; `lost` is what had been lost before them.
    #[inline]
    pub(super) fn goes_on(
        &mut self,
        at: usize,
        more: u32,
        (cost, default, dearest): (f64, f64, f64),
        lost: f64,
    ) {
        if self.at != at || self.tally.executions == 0 {
            *self = HeldRun { at, lost, ..HeldRun::default() };
        }
        self.tally.add(more, cost, dearest);
        self.default += default;
    }

    /// Whether they would have cost less than at the default, but for the dearest.
    pub(super) fn gains_but_for_one(&self) -> bool {
        self.tally.mean_but_for_one() * f64::from(self.tally.executions) < self.default
    }

    /// Adds a further cost to an execution at `at`. Unless `recurring`, it does not affect
    /// expectations.
    pub(super) fn attribute(&mut self, at: usize, cost: f64, recurring: bool) {
        if self.at != at {
            return;
        }
        if recurring {
            self.tally.cost += cost;
        } else {
            self.lost += cost;
        }
    }

    /// The mean cost of an execution at `at`, if there were some.
    pub(super) fn mean(&self, at: usize) -> Option<f64> {
        let is_known = self.at == at && self.tally.executions >= KNOWN_WELL;
        is_known.then(|| self.tally.mean())
    }
}
