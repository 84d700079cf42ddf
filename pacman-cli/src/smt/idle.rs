//! The idle time of each context, from files that an unprivileged process can read.
//!
//! `/proc/stat` is the source. Its `idle` and `iowait` contain an idle period that still lasts.
//! Kernels that stop the tick of an idle context measure both by the clock, and print them in steps
//! of 10 ms. Two finer sources are not used, because both are late. `/sys/.../cpuidle/state*/time`
//! (microseconds) changes when an idle period ends. `/proc/schedstat` (nanoseconds) changes when a
//! thread is switched away, so a thread that never yields looks idle. Only root may read the
//! nanoseconds in `/proc/timer_list`.

use std::collections::BTreeMap;
use std::time::Instant;
use std::{fs, io};

use pacman_core::topology::Core;
use pacman_metrics::smt::{Method, idle_times};

use super::source::{Basis, Done, Reading, Source};
use crate::error::{CliError, CliResult};
use crate::system;

/// The source of the figures.
pub(super) const SOURCE: &str = "/proc/stat";

/// The source of idle times.
#[derive(Default)]
pub(super) struct IdleTimes {
    /// Why it is not the other method.
    pub(super) choice: Option<String>,
}

impl Source for IdleTimes {
    type Reading = IdleClocks;

    fn read(&mut self) -> CliResult<IdleClocks> {
        IdleClocks::read().map_err(|error| {
            CliError::Refused(format!("no idle times: cannot read {SOURCE}: {error}"))
        })
    }

    fn basis(&self) -> Basis {
        Basis {
            source: SOURCE.to_owned(),
            method: Method::IdleTimes,
            step: step(),
            simulated: None,
            choice: self.choice.clone(),
        }
    }
}

/// The state of every context's clocks at one moment.
#[derive(Clone, Debug)]
pub(super) struct IdleClocks {
    /// When it was read: within half of `took` of this.
    pub(super) at: Instant,
    /// The time that the reading took, in seconds.
    pub(super) took: f64,
    /// By logical CPU.
    pub(super) contexts: BTreeMap<u32, ContextClocks>,
}

/// One context's clocks, in seconds since the system started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ContextClocks {
    /// Idle, waiting for a disk or not.
    pub(super) idle: f64,
    /// Wanted, and not given by the hypervisor.
    pub(super) stolen: f64,
}

impl IdleClocks {
    /// Reads them now.
    pub(super) fn read() -> io::Result<IdleClocks> {
        let begin = Instant::now();
        let text = fs::read_to_string(SOURCE)?;
        let took = begin.elapsed();
        let contexts = parse(&text, 1.0 / step());
        if contexts.is_empty() {
            let problem = format!("{SOURCE} lists no CPU");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        Ok(IdleClocks { at: begin + took / 2, took: took.as_secs_f64(), contexts })
    }
}

impl Reading for IdleClocks {
    fn at(&self) -> Instant {
        self.at
    }

    fn until(&self, end: &IdleClocks, core: &Core, notes: &mut Vec<String>) -> Option<Done> {
        let elapsed = end.at.duration_since(self.at).as_secs_f64();
        // CpuMap are listed one after the other while the file is written.
        let skew = self.took + end.took;
        let uncertainty = resolution() + skew;
        let clocks = |cpu: &u32| Some((self.contexts.get(cpu)?, end.contexts.get(cpu)?));
        let Some(pairs) = core.cpus.iter().map(clocks).collect::<Option<Vec<_>>>() else {
            notes.push(format!("core {}: a context went offline or came back", core.core));
            return None;
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
            Ok(mut split) => {
                split.skew = skew;
                let active = idle.iter().map(|idle| (1.0 - idle / elapsed).clamp(0.0, 1.0));
                Some(Done { active: active.collect(), split })
            }
            Err(error) => {
                notes.push(format!("core {}: {error}", core.core));
                None
            }
        }
    }
}

/// The step in which the source counts, in seconds.
pub(super) fn step() -> f64 {
    1.0 / system::ticks_per_second()
}

/// How far an idle time between two readings may be off by the steps alone: `idle` and `iowait`
/// are rounded down each, at both ends.
pub(super) fn resolution() -> f64 {
    2.0 * step()
}

/// The clocks of each context.
pub(super) fn parse(text: &str, ticks_per_second: f64) -> BTreeMap<u32, ContextClocks> {
    let context = |(cpu, ticks): (u32, Vec<u64>)| {
        let seconds =
            |at: usize| ticks.get(at).map_or(0.0, |&count| count as f64 / ticks_per_second);
        let idle = seconds(IDLE) + seconds(IOWAIT);
        (ticks.len() > IDLE).then(|| (cpu, ContextClocks { idle, stolen: seconds(STEAL) }))
    };
    system::ticks_of_contexts(text).filter_map(context).collect()
}

/// The part of the time that stolen time must be to be worth a line.
const NOTABLE: f64 = 0.01;

const IDLE: usize = 3;
const IOWAIT: usize = 4;
const STEAL: usize = 7;
