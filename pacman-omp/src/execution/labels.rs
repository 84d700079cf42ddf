//! Regions by the label of the Kokkos kernel that they belong to.
//!
//! Kokkos has one function for all kernels with the same functor, so a region with a label is one of
//! its own.

use crate::adapt;
use crate::isolation::isolated;
use crate::phases::kernels;
use crate::region::{self, Region};
use crate::worker::Worker;

/// The region that stands for `base` within the kernel that the thread runs; `base` outside of kernels.
pub(super) fn labelled(base: &'static Region, worker: &Worker) -> &'static Region {
    let label = match worker.phases.label() {
        // A member of a kernel's team starts a region: its kernel belongs to the primary thread.
        0 if worker.depth() > 0 => kernels::only(),
        own => own,
    };
    if label == 0 {
        return base;
    }
    let known = region::find(region::key(base.body(), label));
    // Without place for another region the executions stay with the one that has no label.
    known.or_else(|| isolated(|| adapt::enter_labelled(base, label))).unwrap_or(base)
}
