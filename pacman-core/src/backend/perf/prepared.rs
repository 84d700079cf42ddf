//! A plan that was tried on this machine, shared by all its readers.

use super::permissions::PerfPermissions;
use super::plan::Plan;

/// The data that the readers of all threads share: the plan, and facts for error texts.
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

    /// The reason why hardware counts may be wrong; `None` if there is none.
    pub(super) fn doubt(&self) -> Option<&'static str> {
        self.permissions.driver_doubt.filter(|_| self.plan.counts_hardware())
    }
}
