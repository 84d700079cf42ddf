//! The machine that the whole process runs its threads on.

use std::sync::OnceLock;

use super::handle::ProcessorsRef;
use super::interface::Simulation;
use super::linux::Linux;
use pacman_events::{Error, ErrorKind, Result};

static CURRENT: OnceLock<ProcessorsRef> = OnceLock::new();

/// The machine of this process: the [installed](install) one, otherwise [`host`].
///
/// The first call decides for the rest of the process.
pub fn current() -> &'static ProcessorsRef {
    CURRENT.get_or_init(|| host().clone())
}

/// The machine that runs the program, even if another one is installed.
pub fn host() -> &'static ProcessorsRef {
    static HOST: OnceLock<ProcessorsRef> = OnceLock::new();
    HOST.get_or_init(|| ProcessorsRef::new(Linux))
}

/// Makes `processors` the machine of this process. The call must come before any use of the
/// machine.
///
/// # Errors
/// `InvalidInput` if the process uses another machine already.
pub fn install(processors: ProcessorsRef) -> Result<()> {
    let now = CURRENT.get_or_init(|| processors.clone());
    if *now == processors {
        return Ok(());
    }
    let name = |processors: &ProcessorsRef| {
        processors.simulation().map_or("this machine", |Simulation { name, .. }| name)
    };
    Err(Error::new(
        ErrorKind::InvalidInput,
        format!(
            "cannot count on {} now: this process has counted on {} already; choose the machine first",
            name(&processors),
            name(now)
        ),
    ))
}
