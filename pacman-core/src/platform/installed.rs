//! The platform that the whole process counts on.

use std::sync::OnceLock;

use pacman_topology::processors::{self, Linux};

use super::handle::PlatformRef;
use crate::fork::once;
use pacman_events::{Error, ErrorKind, Result};

static CURRENT: OnceLock<PlatformRef> = OnceLock::new();

/// The platform that this process counts on: the [installed](install) one, otherwise [`host`].
///
/// The first call decides for the rest of the process.
pub fn current() -> &'static PlatformRef {
    once(&CURRENT, || {
        // From now on no other machine can be installed for the topology alone.
        processors::current();
        host().clone()
    })
}

/// The machine that runs the program, even if the process counts on another one.
pub fn host() -> &'static PlatformRef {
    static HOST: OnceLock<PlatformRef> = OnceLock::new();
    once(&HOST, || PlatformRef::new(Linux))
}

/// Makes `platform` the one that this process counts on. The call must come before any use of the
/// machine.
///
/// # Errors
/// `InvalidInput` if the process counts on another machine already, or has read its topology.
pub fn install(platform: PlatformRef) -> Result<()> {
    processors::install(platform.processors().clone())?;
    if *once(&CURRENT, || platform.clone()) == platform {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::InvalidInput,
        "cannot count on another machine now: this process has counted already; choose the machine first",
    ))
}
