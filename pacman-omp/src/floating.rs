//! Arithmetic with floating-point numbers on a thread of the program.

use crate::defect::{self, Unknown};

/// As [`pacman_core::floating::isolated`]. A panic in `act` ends observing, and gives an unknown result.
#[inline]
pub(crate) fn isolated<R: Unknown>(act: impl FnOnce() -> R) -> R {
    let (mut act, mut result) = (Some(act), None);
    within(&mut || result = act.take().map(|act| act()));
    result.unwrap_or_else(R::unknown)
}

/// Once in the library instead of once for each kind of work.
#[inline(never)]
pub(crate) fn within(work: &mut dyn FnMut()) {
    pacman_core::floating::isolated(|| defect::contained(work));
}
