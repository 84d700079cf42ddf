//! The state of one thread in regions that the runtime reports through OMPT.

use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use pacman_regions::Cause;
use pacman_regions::arena::Nested;

use super::part_start::PartStart;
use crate::region::{self, Region};
use crate::team::{Team, TeamMode};
use crate::waits::{PartKey, Saved};

/// The open regions and parts of one thread that the runtime reported. Only that thread uses the
/// state, and it lives as long as the thread: the runtime goes on after the program has ended the
/// thread.
///
/// Only a signal handler that ends the process can find it borrowed, and then changes nothing.
#[derive(Default)]
pub(crate) struct OmptState {
    pub(crate) regions: RefCell<Vec<OpenRegion>>,
    pub(crate) parts: RefCell<Vec<Part>>,
    /// Waits and tasks that have begun.
    pub(crate) open: RefCell<Vec<Open>>,
    /// Those that `open` has no room for.
    pub(crate) deeper: Cell<u32>,
    /// The part that ended last, for tasks after it.
    pub(crate) latest: Cell<PartKey>,
}

/// A wait or a task that has begun on a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Open {
    /// A wait, with the cause and the return address of its call.
    Wait { begun: u64, cause: Cause, caller: u64 },
    /// A wait inside a wait, or outside of regions.
    Ignored,
    /// A task in a wait.
    Task { begun: u64, saved: Saved },
    /// A task after the thread's part.
    LateTask { begun: u64, saved: Saved },
    /// A task elsewhere.
    PlainTask,
}

/// A region that the thread has started.
pub(crate) struct OpenRegion {
    pub(crate) data: ParallelData,
    pub(crate) region: &'static Region,
    pub(crate) begun: u64,
    pub(crate) size: u32,
    pub(crate) nested: Nested,
    /// Energy is read around it.
    pub(crate) meters: bool,
}

/// A part that the thread has in a region. `task` is the runtime's data for it.
pub(crate) struct Part {
    pub(crate) task: u64,
    pub(crate) begun: PartStart,
    pub(crate) number: u32,
    pub(crate) region: &'static Region,
    pub(crate) waits: Option<TimedPart>,
    pub(crate) mode: TeamMode,
    /// The team of the body around it.
    pub(crate) outer: *const Team,
}

impl OmptState {
    /// Whether the thread is inside a body of the region.
    pub(crate) fn is_inside(&self, region: &Region) -> bool {
        let parts = self.parts.try_borrow();
        parts.is_ok_and(|parts| parts.iter().any(|part| ptr::eq(part.region, region)))
    }
}

/// The waits of a part: its key, the state around it, and the time since the start of the region, if it
/// is known.
#[derive(Clone, Copy)]
pub(crate) struct TimedPart {
    pub(crate) key: PartKey,
    pub(crate) around: Saved,
    pub(crate) starting: Option<u64>,
    /// Waits and tasks that had begun before.
    pub(crate) open: usize,
}

/// The tool's data of an open region, which the runtime hands from callback to callback. From the
/// lowest bit on: the region's number, whether the execution is inside of another one of the region, a number that no
/// other execution has, and a mark.
///
/// Not a pointer, because LLVM 14 reports the end of teams' regions whose beginning it did not report,
/// with any value in the word. Members get the region from the word without a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParallelData(pub(crate) u64);

impl ParallelData {
    const MARK: u64 = 0x7061 << 48;
    const NUMBER: u32 = 16;
    const WITHIN: u64 = 1 << (ParallelData::NUMBER - 1);

    pub(crate) fn of(region: &Region, is_within: bool) -> ParallelData {
        const { assert!(region::MOST <= ParallelData::WITHIN as usize) };
        let within = if is_within { ParallelData::WITHIN } else { 0 };
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let execution = NEXT.fetch_add(1, Ordering::Relaxed) % (1 << (48 - ParallelData::NUMBER));
        let execution = execution << ParallelData::NUMBER;
        ParallelData(ParallelData::MARK | execution | within | u64::from(region.number))
    }

    /// Whether the execution is inside of another one of the region.
    pub(crate) fn is_within(self) -> bool {
        self.0 & ParallelData::WITHIN != 0
    }

    /// The region, if the word is ours.
    pub(crate) fn region(self) -> Option<&'static Region> {
        let number = (self.0 % ParallelData::WITHIN) as usize;
        (self.0 >> 48 == ParallelData::MARK >> 48).then(|| region::known(number)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_have_no_region() {
        for word in [0, 1, u64::MAX, ParallelData::MARK >> 1, ParallelData::MARK | 0xffff] {
            assert!(ParallelData(word).region().is_none(), "{word:#x}");
        }
    }
}
