//! The state of adaptation that each region holds.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use pacman_regions::arena::Slot;
use try_lock::TryLock;

use super::guard_state::Guards;
use super::member::Member;
use super::phase::Phase;
use crate::packing::RegionPacking;
use crate::process;

/// The state of adaptation of one region.
#[derive(Debug, Default)]
pub(crate) struct Adapted {
    pub(super) guards: Guards,
    /// The region has run once with the program's own team, so that the guards know its body.
    looked: AtomicBool,
    /// See [`Adapted::short_below`].
    short_below: AtomicU64,
    /// Its membership in the group of short regions.
    pub(super) member: Member,
    /// See [`Adapted::generation`].
    generation: AtomicU32,
    pub(super) phase: TryLock<Option<Phase>>,
    pub(super) outcome: OutcomeRecord,
    /// The contexts that its threads are confined to.
    pub(crate) packing: RegionPacking,
}

/// The text about a region's adaptation in the recording, and the time to replace it.
#[derive(Debug, Default)]
pub(super) struct OutcomeRecord {
    pub(super) slot: TryLock<Option<Slot>>,
    /// Ticks in the region since the text was written last.
    pub(super) since: AtomicU64,
    /// Ticks in the region after which the text is written again.
    pub(super) due: AtomicU64,
}

impl Adapted {
    /// Whether the region has run once with the program's own team.
    pub(super) fn has_run(&self) -> bool {
        self.looked.load(Ordering::Relaxed)
    }

    /// Answers as [`has_run`](Self::has_run), and notes a first run.
    pub(super) fn has_run_before(&self) -> bool {
        let before = self.has_run();
        if !before {
            self.looked.store(true, Ordering::Relaxed);
        }
        before
    }

    /// Its module is loaded again: its code is the same, and its data is new. What was measured stays. What
    /// the body does is looked at again, with the program's own team.
    #[cold]
    pub(crate) fn is_loaded_again(&self) {
        self.guards.is_loaded_again();
        self.looked.store(false, Ordering::Relaxed);
        self.advance_generation();
    }

    /// The body asked for numbers, as bits of [`Seen`] say. Its latest question returns to `at`.
    #[cold]
    pub(crate) fn asked(&self, seen: u32, at: u64) {
        self.guards.asked(seen, at);
    }

    /// Whether the region is too short to be decided alone.
    #[inline]
    pub(super) fn is_short(&self) -> bool {
        self.short_below() > 0
    }

    /// The ticks of a longer execution, which ends that the region counts as short; 0 if it does not.
    #[inline]
    pub(super) fn short_below(&self) -> u64 {
        self.short_below.load(Ordering::Relaxed)
    }

    /// Sets them.
    pub(super) fn set_short_below(&self, ticks: u64) {
        self.short_below.store(ticks, Ordering::Relaxed);
    }

    /// Counts the changes of the choice at which the controller holds the region.
    pub(super) fn generation(&self) -> u32 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Notes that the controller holds the region at another choice.
    pub(super) fn advance_generation(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
        process::advance_config_epoch();
    }
}
