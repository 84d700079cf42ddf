//! The perf backend on any platform.

use super::backend::PerfBackend;
use super::sharing::Sharing;
use super::sys::Kernel;
use crate::backend::Backend;
use crate::event::Event;
use crate::platform::PerfPermissions;
use crate::platform::PlatformRef;
use pacman_events::Result;

/// Tries `events` on the calling thread of `platform`, with that platform's permissions or others.
///
/// # Errors
/// As for [`PerfBackend::new`].
pub fn backend_on(
    platform: &PlatformRef,
    events: &[Event],
    sharing: Sharing,
    permissions: PerfPermissions,
) -> Result<Box<dyn Backend>> {
    Ok(match platform.perf() {
        // The type is known here, so each call of the driver is direct.
        None => Box::new(PerfBackend::with_sys(Kernel, events, sharing, permissions)?),
        Some(sys) => Box::new(PerfBackend::with_sys(sys, events, sharing, permissions)?),
    })
}
