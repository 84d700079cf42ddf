//! Loops drawn at random, many of them at the ends of their type.

use super::super::{Division, Index, Iterations};

/// A generator of its own (SplitMix64), so that failures are reproducible.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Draw {
        Draw(seed)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// A loop of at most `most` iterations, sometimes of none, with a division and a number of threads.
    pub(super) fn case<T: Index>(&mut self, most: u64) -> (Iterations<T>, Division, u32) {
        let step = [1, 1, 1, 2, 3, 7, 1000][self.below(7) as usize];
        let count = if self.below(20) == 0 { 0 } else { 1 + self.below(most) };
        let span = i128::from(step) * i128::from(count.max(1) - 1) + self.below(step) as i128;
        let chunk = self.below(12) as i64 - 1;
        let division =
            if self.below(2) == 0 { Division::Balanced } else { Division::Chunked(chunk) };
        // Chunked loops avoid the ends of the type, where the library does not divide them.
        let margin = if division == Division::Balanced { 0 } else { 1 << 20 };
        let room = (T::RANGE.1 - T::RANGE.0 - span - 2 * margin) as u64;
        let offset = match self.below(4) {
            0 => 0,
            1 => room,
            2 => self.below(room),
            _ => room / 2,
        };
        let low = T::RANGE.0 + margin + i128::from(offset);
        let (low, high) = (T::narrow(low as u64), T::narrow((low + span) as u64));
        let threads = 1 + self.below(9) as u32;
        let down = self.below(3) == 0;
        let (mut lower, mut upper) = if down { (high, low) } else { (low, high) };
        if count == 0 {
            // One step in the wrong direction; one iteration where the type ends there.
            let other =
                if down { lower.widen().wrapping_add(1) } else { lower.widen().wrapping_sub(1) };
            let other = T::narrow(other);
            let wrong = if down { other > lower } else { other < lower };
            (lower, upper) = (lower, if wrong { other } else { lower });
        }
        let step = if down { -(step as i64) } else { step as i64 };
        (Iterations { lower, upper, step }, division, threads)
    }
}
