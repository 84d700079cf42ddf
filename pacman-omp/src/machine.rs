//! The machine that the program's threads run on.

use pacman_core::{Result, Topology};

/// The contexts of the machine that `PACMAN_MACHINE` names, or else of the real one.
///
/// # Errors
/// `InvalidInput` if `PACMAN_MACHINE` names an unknown machine; `System` if neither `/sys` nor the
/// affinity mask lists the contexts.
pub(crate) fn topology() -> Result<Topology> {
    pacman_sim::install()?;
    Ok(Topology::detect()?)
}
