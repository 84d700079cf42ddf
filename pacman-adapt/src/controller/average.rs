//! Leaves a default that is occasionally costly.
//!
//! Levels are medians. If another program uses a part of the machine, most executions are as quick
//! as before, and some wait for a time slice. More threads than that program leaves free wait more
//! often, so fewer threads may be quicker on average. Only the average of many executions shows
//! that.

use super::limits::{ENOUGH, MOST};
use super::state_machine::Controller;

/// The factor of a default's average over its level from which its cost counts as uneven.
const UNEVEN: f64 = 1.5;
/// The level elsewhere must be below this part of that average, because it may be uneven as well.
const CLEARLY: f64 = 0.9;
/// Executions at the default in a check for the end of such a load.
const LOOKS: u32 = 32;

/// The part of the held cost that such checks may take. It is high because a load ends sooner than
/// a phase changes.
pub(super) const CHECKS_OF_LOAD: f64 = 0.02;

impl Controller {
    /// The assumed cost of an execution at the default.
    #[inline]
    pub(super) fn default_cost(&self) -> f64 {
        self.costly.unwrap_or_else(|| self.records[self.candidates.default_index()].level())
    }

    /// The average cost at the default, if it is known and above the assumed cost.
    pub(super) fn default_on_average(&self) -> f64 {
        let is_known = self.tally.executions >= ENOUGH;
        let mean = if is_known { self.tally.mean_but_for_one() } else { 0.0 };
        self.default_cost().max(mean)
    }

    /// While the default is held, leaves it for another configuration with a level below its
    /// average.
    pub(super) fn weigh(&mut self) {
        let mean = self.tally.mean_but_for_one();
        if self.tally.executions < self.enough || mean < UNEVEN * self.held_level {
            return;
        }
        let others = (0..self.records.len()).filter(|&at| at != self.held);
        let level = |at: &usize| self.records[*at].level();
        let Some(at) = others.min_by(|a, b| level(a).total_cmp(&level(b))) else { return };
        if level(&at) < CLEARLY * mean {
            let (times, on) = (mean / self.held_level, self.candidates.default());
            self.costly = Some(mean);
            self.hold(at);
            self.why =
                format!("{on} is costly now and then: {times:.1} times its median on average");
        }
    }

    /// Takes another look at an occasionally costly default. The held configuration is kept once
    /// the same number of its executions would have cost less.
    pub(super) fn while_averaging(&mut self, cost: f64) {
        self.looks.add(1, cost, cost);
        let level = self.records[self.held].level();
        let held = self.held_run.mean(self.held).unwrap_or(level);
        if self.looks.cost > f64::from(LOOKS) * held {
            self.keep_holding();
        } else if self.looks.executions >= LOOKS {
            let why = format!("{} is no longer costly now and then", self.candidates.default());
            self.back_to_default(why);
        }
    }

    /// Holds the default again. A further attempt to leave it for its average needs more
    /// executions.
    pub(super) fn back_to_default(&mut self, why: String) {
        if self.costly.is_some() {
            self.enough = (2 * self.enough).min(MOST / 2);
            self.tally = self.looks;
        }
        self.hold(self.candidates.default_index());
        self.why = why;
    }
}
