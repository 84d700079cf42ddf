//! From readings to the activity of every core.

use std::time::Instant;

use pacman_core::Topology;
use pacman_core::topology::Core;
use pacman_metrics::smt::Split;

use super::source::{Done, Reading};

/// Keeps the first and the last reading, and what every core did in between.
#[derive(Debug)]
pub(super) struct Meter<R> {
    first: R,
    last: R,
    cores: Vec<CoreMeter>,
}

#[derive(Debug)]
struct CoreMeter {
    core: Core,
    /// The sum of the intervals, whose bounds are tighter than those of the whole.
    sum: Option<Split>,
}

/// Every core's activity between two readings.
#[derive(Clone, Debug)]
pub(super) struct Activity {
    /// Seconds from the begin of all to the end of this.
    pub(super) until: f64,
    /// When it began and ended.
    pub(super) window: (Instant, Instant),
    /// In order of core.
    pub(super) cores: Vec<CoreActivity>,
    /// Warnings about single cores.
    pub(super) notes: Vec<String>,
}

/// One core's activity.
#[derive(Clone, Debug)]
pub(super) struct CoreActivity {
    /// Its number, over the machine.
    pub(super) core: u32,
    /// Its package.
    pub(super) package: u32,
    /// Its contexts.
    pub(super) cpus: Vec<u32>,
    /// The part of the time that each context was active, alone or not.
    pub(super) active: Vec<f64>,
    /// In the source's own unit.
    pub(super) split: Split,
}

impl<R: Reading> Meter<R> {
    /// Begins to measure.
    pub(super) fn begin(topology: &Topology, first: R) -> Meter<R> {
        let cores = topology.cores().iter().map(|core| CoreMeter { core: core.clone(), sum: None });
        Meter { last: first.clone(), cores: cores.collect(), first }
    }

    /// The activity since the reading before.
    pub(super) fn next(&mut self, now: R) -> Activity {
        let activity = self.between(&self.last, &now);
        for done in &activity.cores {
            let Some(meter) = self.cores.iter_mut().find(|it| it.core.core == done.core) else {
                continue;
            };
            match &mut meter.sum {
                // Same core, same method: it adds up.
                Some(sum) => drop(sum.extend(&done.split)),
                None => meter.sum = Some(done.split.clone()),
            }
        }
        self.last = now;
        activity
    }

    /// The activity since the begin.
    pub(super) fn whole(&self) -> Activity {
        let mut activity = self.between(&self.first, &self.last);
        for done in activity.cores.iter_mut().filter(|done| done.cpus.len() > 1) {
            let sum = self.cores.iter().find(|it| it.core.core == done.core);
            if let Some(sum) = sum.and_then(|meter| meter.sum.clone()) {
                // Steps and reading times cancel between adjoining intervals, so those of the
                // whole remain.
                let Split { skew, uncertainty, .. } = done.split;
                done.split = sum;
                (done.split.skew, done.split.uncertainty) = (skew, uncertainty);
            }
        }
        activity
    }

    fn between(&self, begin: &R, end: &R) -> Activity {
        let mut notes = Vec::new();
        let mut cores = Vec::with_capacity(self.cores.len());
        for CoreMeter { core, .. } in &self.cores {
            if let Some(Done { active, split }) = begin.until(end, core, &mut notes) {
                let Core { core, package, ref cpus, .. } = *core;
                cores.push(CoreActivity { core, package, cpus: cpus.clone(), active, split });
            }
        }
        let until = end.at().duration_since(self.first.at()).as_secs_f64();
        Activity { until, window: (begin.at(), end.at()), cores, notes }
    }
}

impl Activity {
    /// Seconds from begin to end.
    pub(super) fn seconds(&self) -> f64 {
        self.window.1.duration_since(self.window.0).as_secs_f64()
    }

    /// The longest time between the readings of a core's contexts, in seconds.
    pub(super) fn skew(&self, core: &CoreActivity) -> f64 {
        core.split.share(core.split.skew) * self.seconds()
    }
}
