//! A plan that was tried on this machine, shared by all its readers.

use super::plan::Plan;
use crate::platform::PerfPermissions;
use crate::seam::Errno;
use pacman_events::{Error, ErrorKind};

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

    /// The refusal to read counters that a forked child inherited.
    #[cold]
    pub(super) fn forked(&self) -> Error {
        Error::new(
            ErrorKind::Forked,
            format!(
                "cannot read {} in this process: the counters belong to the parent that forked; \
                 open a session in the child",
                self.names()
            ),
        )
    }

    #[cold]
    pub(super) fn unreadable(&self, errno: Errno) -> Error {
        if errno.0 == libc::EBADF {
            return Error::from_errno(
                ErrorKind::System,
                errno.0,
                format!(
                    "cannot read {}: the session's descriptors were closed by the program; let \
                     it close only its own descriptors, then detach the thread and attach it again",
                    self.names()
                ),
            );
        }
        Error::from_errno(
            ErrorKind::System,
            errno.0,
            format!(
                "cannot read {}: the kernel said {}",
                self.names(),
                std::io::Error::from_raw_os_error(errno.0)
            ),
        )
    }

    #[cold]
    pub(super) fn unswitched(&self, to: &str, errno: Errno) -> Error {
        if errno.0 == libc::EBADF {
            return self.unreadable(errno);
        }
        Error::from_errno(
            ErrorKind::System,
            errno.0,
            format!(
                "cannot switch {} {to}: the kernel said {}",
                self.names(),
                std::io::Error::from_raw_os_error(errno.0)
            ),
        )
    }

    /// The error of counts that have a hole, with the owner of the counters.
    #[cold]
    pub(super) fn off_counters(&self, competitor: &str) -> Error {
        Error::new(
            ErrorKind::NotScheduled,
            format!(
                "cannot read {}: the kernel could not keep the group on its counters; {competitor}",
                self.names(),
            ),
        )
    }
}
