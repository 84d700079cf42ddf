//! Random numbers for permutations and coin tosses.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub(super) struct SplitMix(u64);

impl SplitMix {
    /// Seeded by the system: other numbers in every process and for every generator.
    pub(super) fn fresh() -> SplitMix {
        SplitMix(RandomState::new().build_hasher().finish())
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `bound`, which is above 0; the bias is below `bound` / 2^64.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

/// A random permutation that is one cycle through all of `0..length` (Sattolo 1986).
pub(super) fn cycle(length: u32) -> Vec<u32> {
    let mut random = SplitMix::fresh();
    let mut next: Vec<u32> = (0..length).collect();
    for last in (1..next.len()).rev() {
        next.swap(last, random.below(last));
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_split_mix() {
        // The first numbers of seed 1234567, as published with the reference code.
        let mut random = SplitMix(1_234_567);
        let first: [u64; 3] = std::array::from_fn(|_| random.next());
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn every_place_is_visited_once_a_round() {
        for length in [1, 2, 3, 64, 1000] {
            let next = cycle(length);
            let mut seen = vec![false; length as usize];
            let mut at = 0;
            for _ in 0..length {
                assert!(!std::mem::replace(&mut seen[at as usize], true), "{at} twice of {length}");
                at = next[at as usize];
            }
            assert_eq!(at, 0, "a round ends where it began");
        }
    }
}
