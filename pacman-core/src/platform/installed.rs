//! The platform that the whole process counts on.

use std::sync::OnceLock;

use super::handle::PlatformRef;
use super::interface::Simulation;
use super::linux::Linux;
use crate::error::{Error, ErrorKind, Result};

static CURRENT: OnceLock<PlatformRef> = OnceLock::new();

/// The platform that this process counts on: the [installed](install) one, otherwise [`host`].
///
/// The first call decides for the life of the process.
pub fn current() -> &'static PlatformRef {
    CURRENT.get_or_init(|| host().clone())
}

/// The machine that runs the program, also where the process counts on another one.
pub fn host() -> &'static PlatformRef {
    static HOST: OnceLock<PlatformRef> = OnceLock::new();
    HOST.get_or_init(|| PlatformRef::new(Linux))
}

/// Makes `platform` the one that this process counts on, before anything asked for it.
///
/// # Errors
/// `InvalidInput` if the process counts on another machine already.
pub fn install(platform: PlatformRef) -> Result<()> {
    let now = CURRENT.get_or_init(|| platform.clone());
    if *now == platform {
        return Ok(());
    }
    let name = |platform: &PlatformRef| {
        platform.simulation().map_or("this machine", |Simulation { name, .. }| name)
    };
    Err(Error::new(
        ErrorKind::InvalidInput,
        format!(
            "cannot count on {} now: this process has counted on {} already; choose the machine first",
            name(&platform),
            name(now)
        ),
    ))
}
