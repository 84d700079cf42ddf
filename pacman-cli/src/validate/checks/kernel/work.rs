//! The contract between kernels and who counts them.

use crate::validate::checks::around::Around;
use crate::validate::checks::verdict::Truth;
use pacman_core::Result;
use pacman_topology::Place;
use pacman_topology::Topology;

/// The amount of a kernel's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::validate::checks) enum Work {
    /// The part that cannot be left out: the way in and out.
    Short = 0,
    /// That, and what is counted.
    Long = 1,
}

impl Work {
    /// None or all of `long`. Not a choice but a product, because the instructions that
    /// choose would differ between short and long.
    #[inline(always)]
    pub(super) fn of(self, long: u64) -> u64 {
        self as u64 * long
    }
}

/// A program with a known count.
pub(in crate::validate::checks) trait Kernel {
    /// Prepares data for the next run; not counted.
    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    /// The counted part.
    fn run(&mut self, work: Work) -> Result<()>;

    /// The last long run's work beyond a short one's; `around` is what clocks and accounting showed
    /// around it.
    fn truth(&self, around: &Around) -> Truth;

    /// Whether the counts of short runs must be taken off.
    fn has_edges(&self) -> bool {
        true
    }

    /// Whether what happened around the last long run leaves little to say about it:
    /// others used the caches, or time passed without this thread.
    fn disturbed(&self, _: &Around) -> bool {
        false
    }
}

/// The place where kernels run.
#[derive(Debug)]
pub(in crate::validate::checks) struct Ground {
    pub(in crate::validate::checks) topology: Topology,
    pub(in crate::validate::checks) place: Place,
}
