//! The most that an execution may cost, from the measurements of a phase.

use super::Posterior;
use super::belief::Source;

/// Upper limit of one thread's time over the busy time of all threads together. One thread has the
/// caches of only one core.
const SLACK: f64 = 1.05;

impl Posterior {
    /// The most that the next execution may cost. Bursts of other programs count as often as they are likely.
    pub(crate) fn most(&self, at: usize) -> f64 {
        if self.records[at].is_measured() {
            let [one, other] = self.records[at].levels();
            return one.max(other) + self.worst_burst(at);
        }
        match self.hypotheses[at] {
            Some(told) if told.source == Source::Memory => told.most * self.usual(),
            Some(told) => self.ceiling(at).min(told.most * self.usual()),
            None => self.ceiling(at),
        }
    }

    /// The upper bound of an execution's cost, independent of memory and of any predictor.
    ///
    /// A configuration with fewer cores, contexts and nodes loses at most their share of the machine. It
    /// takes at most as long as one thread with the work of all threads. Between two measured
    /// numbers of cores it costs at most as much as the more costly one.
    pub(crate) fn ceiling(&self, at: usize) -> f64 {
        let all = self.candidates.all();
        // One thread waits for nobody, so its work may be less than the time of all. Several may wait for each
        // other as long as all do.
        let least = if all[at].threads() == 1 { 0.0 } else { 1.0 };
        let shrunk = |from: usize| {
            let share = self.table.share(from, at);
            let alone = self.records[from].parallelism() * SLACK;
            self.level(from) * share.min(alone).max(least).powi(self.exponent)
        };
        let measured = self.measured.iter().copied();
        let contains = measured.clone().filter(|&from| self.table.contains(from, at));
        let most = contains.map(shrunk).fold(f64::INFINITY, f64::min);
        let mut in_line = measured.filter(|&other| self.table.are_in_line(at, other));
        let above = in_line.clone().find(|&other| other > at);
        let below = in_line.rfind(|&other| other < at);
        let valley = below.zip(above).map(|(one, other)| self.level(one).max(self.level(other)));
        valley.map_or(most, |valley| most.min(valley))
    }
}
