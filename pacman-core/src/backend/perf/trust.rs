//! Whether the counts of the kernel's driver are accepted.

use super::plan::Plan;
use crate::platform::{PerfPermissions, TRUST_DRIVER};
use pacman_events::{Error, ErrorKind, Result};

impl PerfPermissions {
    /// The same facts, but counts of a driver that is not trusted are accepted and marked.
    pub fn trusting_driver(self) -> PerfPermissions {
        PerfPermissions { trusts_driver: true, ..self }
    }

    /// Why hardware events may not be counted through the kernel's driver.
    pub(crate) fn distrust(&self) -> Option<&'static str> {
        self.driver_doubt.filter(|_| !self.trusts_driver)
    }

    /// Why counts through an accepted driver may be wrong.
    pub fn accepted_doubt(&self) -> Option<&'static str> {
        self.driver_doubt.filter(|_| self.trusts_driver)
    }

    /// Refuses a plan whose counts may be wrong.
    pub(super) fn check_trust(&self, plan: &Plan) -> Result<()> {
        let Some(doubt) = self.distrust().filter(|_| plan.counts_hardware()) else { return Ok(()) };
        Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "cannot count {} through the kernel: {doubt}; count threads of a session or whole \
                 CPUs, which root does by registers (modprobe msr), or accept counts that may be \
                 wrong and are marked ({TRUST_DRIVER}=1)",
                plan.names()
            ),
        ))
    }
}
