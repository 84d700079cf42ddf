//! The result of counting an event on a kernel.

use super::verdict::{Sample, Verdict};
use pacman_core::backend::ReadPath;

/// The counts of an event on a kernel.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub(crate) struct Counted {
    /// The way in which the counter was read.
    pub(crate) read_path: ReadPath,
    /// Why its counts may be wrong, if they may: the kernel's driver is not trusted here.
    pub(crate) doubt: Option<&'static str>,
    /// Every repeat, in order.
    pub(crate) samples: Vec<Sample>,
    /// Repeats during which others had the CPU, however often they were made again, on a
    /// kernel that suffers from it.
    pub(crate) disturbed: usize,
    /// Their verdict.
    pub(crate) verdict: Verdict,
}
