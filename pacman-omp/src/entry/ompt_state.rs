//! The state of one thread in regions that the runtime reports through OMPT.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::region::{self, Region};
use crate::worker::PartStart;

/// The open regions and parts of one thread that the runtime reported. Only that thread uses the
/// state, and it lives as long as the thread: the runtime goes on after the program has ended the
/// thread.
///
/// Only a signal handler that ends the process can find it borrowed, and then changes nothing.
#[derive(Default)]
pub(crate) struct OmptState {
    pub(super) regions: RefCell<Vec<OpenRegion>>,
    pub(super) parts: RefCell<Vec<Part>>,
}

/// A region that the thread has started.
pub(super) struct OpenRegion {
    pub(super) data: ParallelData,
    pub(super) region: &'static Region,
    pub(super) begun: u64,
    pub(super) size: u32,
    pub(super) is_nested: bool,
}

/// A part that the thread has in a region. `task` is the runtime's data for it.
pub(super) struct Part {
    pub(super) task: u64,
    pub(super) begun: PartStart,
    pub(super) number: u32,
    pub(super) region: &'static Region,
}

/// The tool's data of an open region, which the runtime hands from callback to callback. From the
/// lowest bit on: the region's place, a number that no other execution has, and a mark.
///
/// Not a pointer, because LLVM 14 reports the end of teams' regions whose beginning it did not report,
/// with any value in the word. Members get the region from the word without a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ParallelData(pub(super) u64);

impl ParallelData {
    const MARK: u64 = 0x7061 << 48;
    const PLACE: u32 = 16;

    pub(super) fn of(region: &Region) -> ParallelData {
        const { assert!(region::PLACES <= 1 << ParallelData::PLACE) };
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed) % (1 << (48 - ParallelData::PLACE));
        ParallelData(ParallelData::MARK | number << ParallelData::PLACE | u64::from(region.place))
    }

    /// The region, if the word is ours.
    pub(super) fn region(self) -> Option<&'static Region> {
        let place = (self.0 % (1 << ParallelData::PLACE)) as usize;
        (self.0 >> 48 == ParallelData::MARK >> 48).then(|| region::at(place)).flatten()
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
