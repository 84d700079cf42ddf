//! Register accesses: their limits and failures.

use std::fmt;

/// The most contexts that a core of any family here has (Knights Landing).
pub(super) const MAX_CONTEXTS: usize = 4;

/// Why a register access did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// `#GP(0)`: no such register, one that cannot be written, or a reserved bit.
    GeneralProtection,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::GeneralProtection => f.write_str("general protection fault"),
        }
    }
}

impl std::error::Error for Fault {}
