//! Pointers through more memory than a cache holds.

#[cfg(test)]
mod tests;

use super::caches::{self, Cache};
use super::random;
use super::region::{self, Pages, Region};
use super::work::{Ground, Kernel, Work};
use crate::validate::checks::around::Around;
use crate::validate::checks::verdict::Truth;
use pacman_core::Result;

/// Bytes between places: prefetchers fetch a line's neighbour to a pair.
const PAIR: usize = 128;

/// Bytes between places for TLBs: Zen joins the translations of neighbouring pages.
const FAR: usize = 64 << 10;

/// Entries of the largest second-level data TLB known, Zen 5's.
const LARGEST_TLB: usize = 4096;

/// The least number of steps that is worth counting.
const STEPS: usize = 1 << 16;

/// Follows a random cycle of pointers.
#[derive(Debug)]
pub(super) struct Chase {
    region: Region,
    /// The place that the next step leaves.
    at: usize,
    steps: usize,
    /// Steps that can hit.
    hits: usize,
}

impl Chase {
    /// Through many times the cache of one of the inner levels.
    pub(super) fn of_cache(level: u32, ground: &Ground) -> Result<Chase> {
        let cache = caches::level(&ground.topology, ground.place.cpu(), level)?;
        Chase::through(cache, 16)
    }

    /// Through several times the last-level cache.
    pub(super) fn of_last_cache(ground: &Ground) -> Result<Chase> {
        Chase::through(caches::last(&ground.topology, ground.place.cpu())?, 4)
    }

    /// A chase through more pages than any TLB holds.
    pub(super) fn of_pages() -> Result<Chase> {
        let pages = 8 * LARGEST_TLB;
        region::afford(pages << 12, "page-walks")?;
        // Another line in every page, or all would want the same sets of the caches.
        let place = |number: usize| number * FAR + number % 64 * 64;
        Chase::new(Region::new(pages * FAR, Pages::Small)?, pages, LARGEST_TLB, place)
    }

    fn through(cache: Cache, times: usize) -> Result<Chase> {
        let places = times * cache.lines();
        region::afford(places * PAIR, &format!("of level {}", cache.level))?;
        let region = Region::new(places * PAIR, Pages::Large)?;
        Chase::new(region, places, cache.lines(), |number| number * PAIR)
    }

    fn new(
        mut region: Region,
        places: usize,
        held: usize,
        place: impl Fn(usize) -> usize,
    ) -> Result<Chase> {
        let length = u32::try_from(places).expect("no cache has 2^32 lines");
        for (from, to) in random::cycle(length).into_iter().enumerate() {
            region.set_word(place(from), place(to as usize));
        }
        let rounds = STEPS.div_ceil(places);
        Ok(Chase { region, at: place(0), steps: rounds * places, hits: rounds * held })
    }
}

impl Kernel for Chase {
    fn run(&mut self, work: Work) -> Result<()> {
        if work == Work::Long {
            let mut at = self.at;
            for _ in 0..self.steps {
                at = self.region.word(at);
            }
            self.at = at;
        }
        Ok(())
    }

    fn truth(&self, _: &Around) -> Truth {
        Truth { low: (self.steps - self.hits) as u64, high: self.steps as u64 }
    }

    fn disturbed(&self, around: &Around) -> bool {
        around.switches() > 0
    }
}
