//! The machine that C programs count on.

use pacman_core::{Result, Topology};

/// Installs the simulated machine that `PACMAN_MACHINE` names, if it is set. Every function that may
/// be the first to use the machine calls this before.
///
/// # Errors
/// `InvalidInput` if `PACMAN_MACHINE` names an unknown machine.
pub(crate) fn choose() -> Result<()> {
    pacman_sim::install()
}

/// The contexts of that machine.
pub(crate) fn topology() -> Result<Topology> {
    choose()?;
    Topology::detect()
}
