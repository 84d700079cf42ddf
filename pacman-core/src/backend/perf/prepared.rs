//! A set of events that was tried, as its readers share it.

use super::permissions::PerfPermissions;
use super::plan::Plan;

/// The data that the readers of all threads share: the plan, and the facts for errors.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) plan: Plan,
    pub(super) permissions: PerfPermissions,
    pub(super) simulated: bool,
}

impl Prepared {
    pub(super) fn names(&self) -> String {
        self.plan.names()
    }

    /// Why counts may be wrong, if they may.
    pub(super) fn doubt(&self) -> Option<&'static str> {
        self.permissions.driver_doubt.filter(|_| self.plan.counts_hardware())
    }
}
