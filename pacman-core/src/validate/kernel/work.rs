//! The contract between kernels and who counts them.

use crate::error::Result;
use crate::placement::Place;
use crate::topology::Topology;
use crate::validate::around::Around;
use crate::validate::verdict::Truth;

/// How much of its work a kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::validate) enum Work {
    /// What cannot be left out: the way in and out.
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
pub(in crate::validate) trait Kernel {
    /// Makes ready what the next run uses up; not counted.
    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    /// The counted part.
    fn run(&mut self, work: Work) -> Result<()>;

    /// What the last long run did more than a short one; `around` is what clocks and
    /// ledgers showed around it.
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

/// Where kernels run.
#[derive(Debug)]
pub(in crate::validate) struct Ground {
    pub(in crate::validate) topology: Topology,
    pub(in crate::validate) place: Place,
}
