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
    /// The assumed cost of the same executions at the default.
    pub(super) default: f64,
    /// The account's loss before the stay.
    pub(super) lost: f64,
}

impl HeldRun {
    /// Adds `more` executions at `at`. Together they cost `cost`, the default was assumed to cost
    /// `default`, and the most costly one cost `highest`. `lost` is the account's loss before them.
    #[inline]
    pub(super) fn goes_on(
        &mut self,
        at: usize,
        more: u32,
        (cost, default, highest): (f64, f64, f64),
        lost: f64,
    ) {
        if self.at != at || self.tally.executions == 0 {
            *self = HeldRun { at, lost, ..HeldRun::default() };
        }
        self.tally.add(more, cost, highest);
        self.default += default;
    }

    /// Whether the executions without the most costly one would have cost less than at the default.
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
