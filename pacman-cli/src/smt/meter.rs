//! From readings of idle clocks to the activity of every core.

use std::time::Instant;

use pacman_core::Topology;
use pacman_core::metrics::smt::{Split, idle_times};

use super::idle::{self, ContextClocks, IdleClocks};

/// Keeps the first and the last reading, and what every core did in between.
#[derive(Debug)]
pub(super) struct Meter {
    first: IdleClocks,
    last: IdleClocks,
    cores: Vec<CoreMeter>,
}

#[derive(Debug)]
struct CoreMeter {
    core: u32,
    package: u32,
    cpus: Vec<u32>,
    /// The sum of the intervals, whose bounds are tighter than those of the whole.
    sum: Option<Split>,
}

/// What every core did between two readings.
#[derive(Clone, Debug)]
pub(super) struct Activity {
    /// Seconds from the begin of all to the end of this.
    pub(super) until: f64,
    /// When it began and ended.
    pub(super) window: (Instant, Instant),
    /// In order of core.
    pub(super) cores: Vec<CoreActivity>,
    /// What must be known about single cores.
    pub(super) notes: Vec<String>,
}

/// What one core did.
#[derive(Clone, Debug)]
pub(super) struct CoreActivity {
    /// Its number, over the machine.
    pub(super) core: u32,
    /// Its package.
    pub(super) package: u32,
    /// Its contexts.
    pub(super) cpus: Vec<u32>,
    /// How much of the time each context was active, alone or not.
    pub(super) active: Vec<f64>,
    /// In seconds.
    pub(super) split: Split,
}

impl Meter {
    /// Begins to measure.
    pub(super) fn begin(topology: &Topology, first: IdleClocks) -> Meter {
        let cores = topology.cores().iter().map(|core| CoreMeter {
            core: core.core,
            package: core.package,
            cpus: core.cpus.clone(),
            sum: None,
        });
        Meter { last: first.clone(), cores: cores.collect(), first }
    }

    /// What happened since the reading before.
    pub(super) fn next(&mut self, now: IdleClocks) -> Activity {
        let activity = self.between(&self.last, &now);
        for done in &activity.cores {
            let Some(core) = self.cores.iter_mut().find(|core| core.core == done.core) else {
                continue;
            };
            match &mut core.sum {
                // Same core, same method: it adds up.
                Some(sum) => drop(sum.extend(&done.split)),
                None => core.sum = Some(done.split.clone()),
            }
        }
        self.last = now;
        activity
    }

    /// What happened since the begin.
    pub(super) fn whole(&self) -> Activity {
        let mut activity = self.between(&self.first, &self.last);
        for done in activity.cores.iter_mut().filter(|done| done.cpus.len() > 1) {
            let sum = self.cores.iter().find(|core| core.core == done.core);
            if let Some(sum) = sum.and_then(|core| core.sum.clone()) {
                // Steps cancel between adjoining intervals, so those of the whole remain.
                let uncertainty = done.split.uncertainty;
                done.split = sum;
                done.split.uncertainty = uncertainty;
            }
        }
        activity
    }

    fn between(&self, begin: &IdleClocks, end: &IdleClocks) -> Activity {
        let elapsed = end.at.duration_since(begin.at).as_secs_f64();
        // Contexts are listed one after the other while the file is written.
        let uncertainty = idle::resolution() + begin.took + end.took;
        let mut notes = Vec::new();
        let mut cores = Vec::with_capacity(self.cores.len());
        for core in &self.cores {
            let clocks = |cpu: &u32| Some((begin.contexts.get(cpu)?, end.contexts.get(cpu)?));
            let Some(pairs) = core.cpus.iter().map(clocks).collect::<Option<Vec<_>>>() else {
                notes.push(format!("core {}: a context went offline or came back", core.core));
                continue;
            };
            let spans = |of: fn(&ContextClocks) -> f64| -> Vec<f64> {
                pairs.iter().map(|(begin, end)| of(end) - of(begin)).collect()
            };
            let stolen: f64 = spans(|clocks| clocks.stolen).iter().sum();
            if stolen > uncertainty.max(elapsed * NOTABLE) {
                let share = 100.0 * stolen / (elapsed * pairs.len() as f64);
                notes.push(format!(
                    "core {}: {share:.1} % is time that the hypervisor gave to others; it counts \
                     as active",
                    core.core
                ));
            }
            let idle = spans(|clocks| clocks.idle);
            match idle_times(elapsed, &idle, uncertainty) {
                Ok(split) => cores.push(CoreActivity {
                    core: core.core,
                    package: core.package,
                    cpus: core.cpus.clone(),
                    active: idle
                        .iter()
                        .map(|idle| (1.0 - idle / elapsed).clamp(0.0, 1.0))
                        .collect(),
                    split,
                }),
                Err(error) => notes.push(format!("core {}: {error}", core.core)),
            }
        }
        let until = end.at.duration_since(self.first.at).as_secs_f64();
        Activity { until, window: (begin.at, end.at), cores, notes }
    }
}

impl Activity {
    /// Seconds from begin to end.
    pub(super) fn seconds(&self) -> f64 {
        self.window.1.duration_since(self.window.0).as_secs_f64()
    }
}

/// The part of the time that stolen time must be to be worth a line.
const NOTABLE: f64 = 0.01;
