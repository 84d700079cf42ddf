//! The state of packing for each region and each thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use libc::pid_t;
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

/// The membership of one thread.
#[derive(Debug, Default)]
pub(crate) struct CrewMember {
    thread: Cell<pid_t>,
    /// Its number in its latest team, and the context that it was on.
    number: Cell<Option<(u32, u32)>>,
}

impl CrewMember {
    /// The number of the thread for the kernel.
    pub(super) fn thread(&self) -> pid_t {
        if self.thread.get() == 0 {
            // SAFETY: it only returns a number.
            self.thread.set(unsafe { libc::gettid() });
        }
        self.thread.get()
    }

    /// The thread takes part as `number`, on context `cpu`. False if that is known.
    pub(super) fn becomes(&self, number: u32, cpu: u32) -> bool {
        self.number.replace(Some((number, cpu))) != Some((number, cpu))
    }

    /// The number of the thread, and its number in its latest team.
    pub(super) fn known(&self) -> Option<(pid_t, u32)> {
        self.number.get().map(|(number, _)| (self.thread.get(), number))
    }

    /// In the child of a fork.
    pub(crate) fn forget(&self) {
        self.thread.set(0);
        self.number.set(None);
    }
}
