//! The useful time of a team's threads, which limits what fewer threads may cost.
//!
//! One thread has to do the work of all, and waits for nobody. So it takes no longer than the useful time of
//! all threads together, if it gets a processor. Beside other programs it may get a part of one only. The
//! scheduler is taken for fair: with `o` other threads in the way, a thread alone gets all of a processor, or
//! `contexts / (1 + o)`. How many are in the way shows in the part of a processor that each member got.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::floating;
use crate::process;
use crate::waits::PartTime;

/// Sums of the times of a team's members, in ticks.
///
/// ATOMICS: the runtime's end of the team orders the additions of its members before the primary's loads.
#[derive(Debug, Default)]
pub(crate) struct TeamTime {
    busy: AtomicU64,
    wall: AtomicU64,
    outside_waits: AtomicU64,
    useful: AtomicU64,
    off_processor: AtomicU64,
    /// The most waits of a member.
    most_waits: AtomicU64,
    /// Some part could not be measured.
    is_lost: AtomicBool,
}

impl TeamTime {
    /// A member was in the body for `ticks`.
    pub(crate) fn busy_for(&self, ticks: u64) {
        self.busy.fetch_add(ticks, Ordering::Relaxed);
    }

    /// A member's part was measured; `None` if that failed.
    pub(crate) fn measured(&self, time: Option<PartTime>) {
        let Some(time) = time else { return self.is_lost.store(true, Ordering::Relaxed) };
        // The program may trap on inexact results.
        let (useful, off) = floating::isolated(|| {
            let nanos_per_tick = process::clock().nanos_per_tick();
            (time.useful(nanos_per_tick) as u64, time.off_processor(nanos_per_tick) as u64)
        });
        self.wall.fetch_add(time.wall, Ordering::Relaxed);
        self.outside_waits.fetch_add(time.outside_waits, Ordering::Relaxed);
        self.useful.fetch_add(useful, Ordering::Relaxed);
        self.off_processor.fetch_add(off, Ordering::Relaxed);
        self.most_waits.fetch_max(time.waits, Ordering::Relaxed);
    }

    /// Whether the measurement took a notable part of an execution of `ticks`, so that its time says too little
    /// of the executions that are not measured.
    pub(crate) fn is_disturbed(&self, ticks: u64) -> bool {
        let is_measured = self.wall.load(Ordering::Relaxed) > 0;
        let took = PART_COST + WAIT_COST * self.most_waits.load(Ordering::Relaxed);
        is_measured && took.saturating_mul(NOTABLE) > ticks
    }

    /// The ticks of all members in the body.
    pub(crate) fn busy(&self) -> u64 {
        self.busy.load(Ordering::Relaxed)
    }

    /// The useful time of a team of `size` on a machine of `contexts`, as a part of its time in the body;
    /// `None` if not all parts were measured.
    pub(crate) fn useful_share(&self, size: u32, contexts: u32) -> Option<f64> {
        let sum = |of: &AtomicU64| of.load(Ordering::Relaxed) as f64;
        let wall = sum(&self.wall);
        if wall == 0.0 || self.is_lost.load(Ordering::Relaxed) {
            return None;
        }
        let on_processor = 1.0 - sum(&self.off_processor) / wall;
        let alone = processor_alone(on_processor, f64::from(size), f64::from(contexts));
        let outside = sum(&self.outside_waits) / wall;
        Some((sum(&self.useful) / wall / alone).min(outside))
    }
}

/// The part of a processor that a thread alone gets, where each of `threads` gets `share` of one.
fn processor_alone(share: f64, threads: f64, contexts: f64) -> f64 {
    let others = (contexts / share - threads).max(0.0);
    (contexts / (1.0 + others)).min(1.0)
}

/// The ticks of a measured part, without those that are left out of its time, and of each wait in it: 98
/// instructions, two of which read the clock.
const PART_COST: u64 = 1024;
const WAIT_COST: u64 = 64;

/// One part in so many is notable.
const NOTABLE: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_alone_gets_a_fair_part_of_a_processor() {
        // Two threads and a busy loop on two processors: the loop and one thread have one each.
        assert_eq!(processor_alone(2.0 / 3.0, 2.0, 2.0), 1.0);
        // Three busy loops: each of five threads gets two fifths, and each of four a half.
        let alone = processor_alone(0.4, 2.0, 2.0);
        assert!((alone - 0.5).abs() < 1e-12, "{alone}");
        assert_eq!(processor_alone(1.0, 2.0, 2.0), 1.0, "nobody is in the way");
        assert_eq!(processor_alone(1.0, 2.0, 8.0), 1.0, "nor on idle processors");
        assert_eq!(processor_alone(0.5, 4.0, 2.0), 1.0, "but the other members");
        for share in [0.01, 0.3, 0.7, 1.0] {
            assert!((share..=1.0).contains(&processor_alone(share, 2.0, 2.0)), "{share}");
        }
    }

    #[test]
    fn an_execution_with_many_waits_is_disturbed_by_their_measurement() {
        let time = TeamTime::default();
        assert!(!time.is_disturbed(1), "it was not measured");
        let part = PartTime { wall: 1_000_000, outside_waits: 500_000, waits: 10, preempted: None };
        time.measured(Some(part));
        assert!(!time.is_disturbed(1_000_000) && time.is_disturbed(50_000));
        time.measured(Some(PartTime { waits: 1_500, ..part }));
        assert!(time.is_disturbed(1_000_000));
        assert_eq!(time.useful_share(2, 2), Some(0.5), "the share counts all the same");
        time.measured(None);
        assert_eq!(time.useful_share(2, 2), None);
    }
}
