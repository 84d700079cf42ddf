//! Pointers through more memory than a cache holds.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::checks::kernel::random::SplitMix;

    fn chase(places: usize, held: usize) -> Chase {
        let region = Region::new(places * PAIR, Pages::Small).unwrap();
        Chase::new(region, places, held, |number| number * PAIR).unwrap()
    }

    /// The places of one run, step by step.
    fn visits(chase: &mut Chase) -> Vec<usize> {
        let mut at = chase.at;
        let visited = (0..chase.steps)
            .map(|_| {
                at = chase.region.word(at);
                at
            })
            .collect();
        chase.run(Work::Long).unwrap();
        assert_eq!(chase.at, at);
        visited
    }

    /// The misses of a cache of `held` lines. `victim` chooses the line to evict, as an index into
    /// the lines in order of their last use.
    fn misses(visits: &[usize], held: usize, mut victim: impl FnMut(&[usize]) -> usize) -> u64 {
        let mut lines: Vec<usize> = Vec::new();
        let mut misses = 0;
        for &visit in visits {
            if let Some(found) = lines.iter().position(|&line| line == visit) {
                lines.remove(found);
            } else {
                misses += 1;
                if lines.len() == held {
                    lines.remove(victim(&lines));
                }
            }
            lines.push(visit);
        }
        misses
    }

    #[test]
    fn no_replacement_policy_leaves_the_band() {
        let mut chase = chase(1024, 64);
        let around = Around { wall: 0, ticks: 0, waits: 0, preemptions: 0 };
        let truth = chase.truth(&around);
        assert_eq!(truth, Truth { low: 61_440, high: 65_536 });
        let visits = visits(&mut chase);
        let mut random = SplitMix::fresh();
        // Keeping old lines for ever is the best that any cache can do with a cycle.
        for (policy, counted) in [
            ("least recently used", misses(&visits, 64, |_| 0)),
            ("most recently used", misses(&visits, 64, |lines| lines.len() - 1)),
            ("random", misses(&visits, 64, |lines| random.below(lines.len()))),
        ] {
            assert!((truth.low..=truth.high).contains(&counted), "{policy}: {counted}");
        }
        // A cache twice as large leaves it: the band is not so wide that all fits.
        assert!(misses(&visits, 128, |lines| lines.len() - 1) < truth.low);
    }

    #[test]
    fn a_run_goes_on_where_the_last_one_ended() {
        let mut chase = chase(STEPS, 1);
        let begin = chase.at;
        let visited = visits(&mut chase);
        assert_eq!(visited.last(), Some(&begin), "one round of a cycle");
    }
}
