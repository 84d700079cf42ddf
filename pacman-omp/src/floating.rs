//! Arithmetic with floating-point numbers on a thread of the program.

use crate::defect::{self, Unknown};

/// As [`pacman_core::floating::isolated`]. A panic in `act` ends observing, and gives an unknown result.
#[inline]
pub(crate) fn isolated<R: Unknown>(act: impl FnOnce() -> R) -> R {
    pacman_core::floating::isolated(|| defect::contained(act)).unwrap_or_else(R::unknown)
}
