//! A counter's count beyond its width.
//!
//! Counters start at 0 and wrap at 40 or 48 bits. The upper word of a counter changes once
//! in 2^32 counts. While it is unchanged, the count is the known base plus the lower word. A
//! wrap shows as a smaller upper word. A read misses a wrap only if the counter ran nearly a
//! full turn since the last read: 2^40 − 2^32 events, or four minutes at 4 GHz.

/// The counter of one event, and its wraps so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WideCount {
    /// RDPMC's argument.
    pub(super) index: u32,
    /// The latest upper word.
    high: u32,
    /// The count when the lower word was last 0.
    base: u64,
}

impl WideCount {
    /// A counter that was just set to 0.
    pub(super) fn new(index: u32) -> WideCount {
        WideCount { index, high: 0, base: 0 }
    }

    /// The count, if the counter's upper word has not changed.
    #[inline(always)]
    pub(super) fn count(&self, low: u64, high: u64) -> Option<u64> {
        (high as u32 == self.high).then(|| self.base.wrapping_add(low))
    }

    /// The count of a counter of `width` bits, even if its upper word has changed.
    pub(super) fn advance(&mut self, low: u64, high: u64, width: u8) -> u64 {
        let (before, now) = (u64::from(self.high) << 32, high << 32);
        let wrapped = if now < before { 1 << width } else { 0 };
        self.base = self.base.wrapping_add(wrapped).wrapping_add(now).wrapping_sub(before);
        self.high = high as u32;
        self.base.wrapping_add(low)
    }
}

#[cfg(test)]
mod tests {
    use super::WideCount;

    fn halves(value: u64) -> (u64, u64) {
        (value & 0xffff_ffff, value >> 32)
    }

    #[test]
    fn counts_go_on_over_any_number_of_turns() {
        for width in [40u8, 48] {
            let mut turns = WideCount::new(0);
            let mask = (1u64 << width) - 1;
            let mut counted = 0u64;
            for step in [1u64, 0xffff_fffe, 1, 1 << 32, mask ^ 0xffff_ffff, 5, 1 << (width - 1)] {
                for _ in 0..9 {
                    counted += step;
                    let (low, high) = halves(counted & mask);
                    if let Some(count) = turns.count(low, high) {
                        assert_eq!(count, counted);
                    }
                    assert_eq!(turns.advance(low, high, width), counted, "{width} bits");
                    assert_eq!(turns.count(low, high), Some(counted));
                }
            }
        }
    }

    #[test]
    fn the_fast_way_declines_a_new_upper_word() {
        let turns = WideCount::new(3);
        assert_eq!(turns.count(7, 0), Some(7));
        assert_eq!(turns.count(7, 1), None);
    }
}
