//! The state of packing for each region.

use std::sync::atomic::{AtomicU32, Ordering};

use pacman_adapt::packing::Packing;
use pacman_adapt::predict::Configuration;
use pacman_regions::watch::affinity::Mask;
use try_lock::TryLock;

/// A set of contexts that the threads of a team may be confined to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The context that the primary thread is on.
    One,
    These(Mask),
}

/// The packing of one region.
#[derive(Debug, Default)]
pub(crate) struct RegionPacking {
    pub(crate) inner: TryLock<Option<Decided>>,
    /// The size of its latest team; 0 before the first one.
    size: AtomicU32,
}

/// The controller of a region, for teams of one size.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) size: u32,
    pub(crate) targets: Vec<(Configuration, Target)>,
    pub(crate) controller: Packing,
}

impl RegionPacking {
    pub(crate) fn size(&self) -> u32 {
        self.size.load(Ordering::Relaxed)
    }

    pub(crate) fn set_size(&self, size: u32) {
        // ATOMICS: only the primary thread uses it.
        self.size.store(size, Ordering::Relaxed);
    }
}
