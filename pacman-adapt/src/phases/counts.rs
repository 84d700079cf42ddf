//! The counts of an execution on a simulated machine.

use super::phase::SimPhase;
use crate::predict::{Configuration, Sample};

/// Cycles of a simulated context in a second.
const CLOCK: f64 = 1e9;

/// Issue slots of a simulated core in a cycle.
const WIDTH: f64 = 4.0;

impl SimPhase {
    /// The counts of one execution as a sample, sums over all threads; without noise.
    ///
    /// The events are those of a stall breakdown, as IBM's POWER counts it (POWER8 user's manual,
    /// CPI stack). In `stalls_sibling` cycles the core's other contexts had the issue slots.
    /// `stalls_cache` and `stalls_memory` are waits for data that did not fit the core's cache or
    /// queued for the memory. `stalls_snoop` are waits for lines that another core had written.
    /// `cycles_pause` is a spin loop's PAUSE at a barrier, and `cycles_locked` holds a lock while
    /// others sleep. `bus_busy` are the cycles of the wall clock with data on the memory bus, once
    /// for all threads.
    ///
    /// The counts do not reveal times at other configurations: the parameters of
    /// [`seconds`](SimPhase::seconds) are not among them.
    pub fn counted(&self, on: Configuration) -> Option<Sample> {
        let contexts = f64::from(on.per_core().unwrap_or(1));
        let threads = f64::from(on.threads());
        let cycles = self.single * CLOCK;
        let parallel = cycles * (1.0 - self.serial);
        let (work, waiting, _) = self.parts(on);
        let shared = cycles * threads * self.remote_on(on);
        // As on one thread, without the misses that one thread has by itself.
        let issued = parallel / self.misses(1.0);
        let crowd = (contexts * self.issue).max(1.0);
        let in_core = issued * crowd * self.misses(contexts);
        let counts = [
            ("instructions", cycles * WIDTH * self.issue.max(1.0 / WIDTH)),
            ("cycles", self.busy(on) * CLOCK),
            ("stalls_sibling", issued * (crowd - 1.0)),
            ("stalls_cache", issued * crowd * (self.misses(contexts) - 1.0)),
            ("stalls_memory", threads * work * cycles - in_core),
            ("stalls_snoop", shared * self.coherency * (threads - 1.0)),
            ("cycles_pause", shared * self.barrier * threads.log2()),
            ("cycles_locked", waiting * cycles),
            ("bus_busy", parallel / self.bandwidth_on(on)),
        ];
        let sample = Sample::new(on, self.seconds(on)).ok()?;
        // A rounding error below 0 is not a count.
        counts
            .into_iter()
            .try_fold(sample, |sample, (event, count)| sample.with(event, count.max(0.0)).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Random, SmtMachine};
    use super::*;

    /// Cycles are the sum of work, the serial part and the parts of the breakdown.
    #[test]
    fn cycles_are_the_sum_of_their_breakdown() {
        let mut random = Random::new(7);
        let machine = SmtMachine::new(4, 4).with_nodes(2);
        for _ in 0..100 {
            let phase = Kind::Any.draw(&mut random, machine);
            for on in machine.configurations() {
                let sample = phase.counted(on).unwrap();
                let count = |event: &str| sample.count(event).unwrap();
                let misses = 1.0 + phase.miss * (phase.data - 1.0).max(0.0);
                let parallel = phase.single * (1.0 - phase.serial) / misses;
                let named: f64 = sample
                    .counts()
                    .filter(|(event, _)| {
                        event.starts_with("stalls_") || event.starts_with("cycles_")
                    })
                    .map(|(_, count)| count)
                    .sum();
                let all = CLOCK * (phase.single * phase.serial + parallel) + named;
                assert!((count("cycles") / all - 1.0).abs() < 1e-9, "{phase:?} on {on}");
            }
        }
    }
}
