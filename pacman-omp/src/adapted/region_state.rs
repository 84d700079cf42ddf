//! The state of adaptation that each region holds.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use pacman_regions::arena::Slot;
use try_lock::TryLock;

use super::asked::Request;
use super::member::Member;
use super::phase::Phase;
use crate::packing::RegionPacking;
use crate::process;

/// The state of adaptation of one region.
#[derive(Debug, Default)]
pub(crate) struct Adapted {
    pub(crate) request: Request,
    /// The region has run. Threads start and everything is cold in its first execution, which measures nothing.
    has_run: AtomicBool,
    /// See [`Adapted::short_below`].
    short_below: AtomicU64,
    /// Its membership in the group of short regions.
    pub(crate) member: Member,
    /// See [`Adapted::generation`].
    generation: AtomicU32,
    pub(crate) phase: TryLock<Option<Phase>>,
    pub(crate) outcome: OutcomeRecord,
    /// The contexts that its threads are confined to.
    pub(crate) packing: RegionPacking,
}

/// The text about a region's adaptation in the recording, and the time to replace it.
#[derive(Debug, Default)]
pub(crate) struct OutcomeRecord {
    pub(crate) slot: TryLock<Option<Slot>>,
    /// Ticks in the region since the text was written last.
    pub(crate) since: AtomicU64,
    /// Ticks in the region after which the text is written again.
    pub(crate) due: AtomicU64,
}

impl Adapted {
    /// Whether the region has run before.
    pub(crate) fn has_run(&self) -> bool {
        self.has_run.load(Ordering::Relaxed)
    }

    /// The region runs.
    pub(crate) fn runs(&self) {
        self.has_run.store(true, Ordering::Relaxed);
    }

    /// Whether the region is too short to be decided alone.
    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        self.short_below() > 0
    }

    /// The ticks of a longer execution, which ends that the region counts as short; 0 if it does not.
    #[inline]
    pub(crate) fn short_below(&self) -> u64 {
        self.short_below.load(Ordering::Relaxed)
    }

    /// Sets them.
    pub(crate) fn set_short_below(&self, ticks: u64) {
        self.short_below.store(ticks, Ordering::Relaxed);
    }

    /// Counts the changes of the choice at which the controller holds the region.
    pub(crate) fn generation(&self) -> u32 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Notes that the controller holds the region at another choice.
    pub(crate) fn advance_generation(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
        process::advance_config_epoch();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_has_run_when_it_runs_and_not_when_somebody_asks() {
        let adapted = Adapted::default();
        assert!(!adapted.has_run() && !adapted.has_run());
        adapted.runs();
        assert!(adapted.has_run());
    }
}
