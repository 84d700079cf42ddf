//! The latest times of a configuration.

/// Times that are kept. The median of as many is steady enough, and soon follows a region that changes.
const KEPT: usize = 5;

/// The latest times, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recent {
    times: [u64; KEPT],
    count: u32,
}

impl Recent {
    pub(super) fn enter(&mut self, time: u64) {
        self.times[self.count as usize % KEPT] = time;
        self.count = self.count.wrapping_add(1).max(1);
    }

    /// The number of times so far, up to all that are kept.
    pub(super) fn len(&self) -> usize {
        (self.count as usize).min(KEPT)
    }

    /// The median; the larger one of two. `None` without a time.
    pub(super) fn median(&self) -> Option<u64> {
        let (mut times, len) = (self.times, self.len());
        let times = &mut times[..len];
        times.sort_unstable();
        times.get(len / 2).copied()
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }
}
