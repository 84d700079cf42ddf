//! The machine that C programs count on.

use pacman_core::{Result, Topology};

/// Installs the simulated machine that `PACMAN_MACHINE` names, if it does. Every function that may be
/// the first to ask for the machine calls this before.
///
/// # Errors
/// `InvalidInput` if there is no such machine.
pub(crate) fn choose() -> Result<()> {
    Ok(pacman_sim::install()?)
}

/// The contexts of that machine.
pub(crate) fn topology() -> Result<Topology> {
    choose()?;
    Ok(Topology::detect()?)
}
