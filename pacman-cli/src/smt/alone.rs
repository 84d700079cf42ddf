//! The kernel's idle times, and by the PMU the part of its cycles in which each context had its core alone: where the
//! processor counts its modes of one thread and of two, as NVIDIA's Olympus does, both divide the time exactly.

use std::collections::BTreeMap;
use std::time::Instant;

use pacman_core::Topology;
use pacman_core::backend;
use pacman_core::platform::PlatformRef;
use pacman_core::topology::Core;
use pacman_events::{CpuModel, resolve};
use pacman_metrics::language::{Metric, builtin};
use pacman_metrics::smt::{Method, alone_shares};

use super::counters::{Context, forbidden, open_all};
use super::idle::{IdleClocks, IdleTimes, SOURCE};
use super::source::{Basis, Done, Reading, Source};
use crate::error::{CliError, CliResult};

/// The metric that both need.
const METRIC: &str = "smt-alone-share";

/// The idle times and the open counters of a machine.
pub(super) struct AloneShares {
    idle: IdleTimes,
    metric: &'static Metric,
    contexts: Vec<Context>,
}

/// The state of all contexts at about one moment.
#[derive(Clone, Debug)]
pub(super) struct AloneReading {
    pub(super) clocks: IdleClocks,
    pub(super) metric: &'static Metric,
    /// By logical CPU; a line about those that could not be read.
    pub(super) contexts: BTreeMap<u32, CliResult<backend::Reading>>,
}

/// The metric as a model counts it.
pub(super) fn metric_of(model: CpuModel) -> Option<&'static Metric> {
    let counts = |metric: &Metric| metric.events().iter().all(|it| resolve(model, it).is_ok());
    builtin().iter().find(|metric| metric.name() == METRIC && counts(metric))
}

impl AloneShares {
    /// Opens the counters of all contexts; `None` where the processor does not count its modes, or more than two
    /// contexts share a core.
    pub(super) fn open(
        topology: &Topology,
        platform: &PlatformRef,
    ) -> Option<CliResult<AloneShares>> {
        let metric = metric_of(platform.cpu_model())?;
        let pairs = topology.cores().iter().all(|core| core.cpus.len() == 2);
        if !pairs || platform.simulation().is_some() {
            return None;
        }
        // The kernel's work is activity, too.
        let list = metric.events().iter().map(|event| format!("{event}:uk")).collect::<Vec<_>>();
        let list = list.join(",");
        Some(match open_all(topology, platform, &|_| list.clone()) {
            Ok(cores) => {
                let contexts = cores.into_iter().flatten().collect();
                Ok(AloneShares { idle: IdleTimes::default(), metric, contexts })
            }
            Err(error) => Err(forbidden(platform, &error)),
        })
    }

    /// Has the report say why it is not the other method.
    pub(super) fn because(mut self, choice: Option<&str>) -> AloneShares {
        self.idle.choice = choice.map(str::to_owned);
        self
    }
}

impl Source for AloneShares {
    type Reading = AloneReading;

    fn read(&mut self) -> CliResult<AloneReading> {
        let clocks = self.idle.read()?;
        let mut read = |context: &mut Context| {
            let mut counts = backend::Reading::EMPTY;
            let done = context.counters.read(&mut counts).map_err(CliError::refused);
            (context.cpu, done.map(|()| counts))
        };
        let contexts = self.contexts.iter_mut().map(&mut read).collect();
        Ok(AloneReading { clocks, metric: self.metric, contexts })
    }

    fn basis(&self) -> Basis {
        Basis {
            source: format!("{SOURCE}, {}", self.metric.events().join(", ")),
            method: Method::AloneShares,
            ..self.idle.basis()
        }
    }
}

impl Reading for AloneReading {
    fn at(&self) -> Instant {
        self.clocks.at
    }

    fn until(&self, end: &AloneReading, core: &Core, notes: &mut Vec<String>) -> Option<Done> {
        let Done { active, split } = self.clocks.until(&end.clocks, core, notes)?;
        let decided = || -> CliResult<Done> {
            let alone = core.cpus.iter().map(|cpu| self.alone(end, *cpu));
            let alone = alone.collect::<CliResult<Vec<f64>>>()?;
            let idle: Vec<f64> = active.iter().map(|part| (1.0 - part) * split.elapsed).collect();
            let decided = alone_shares(split.elapsed, &idle, &alone, split.uncertainty);
            let mut decided = decided.map_err(CliError::refused)?;
            decided.skew = split.skew;
            Ok(Done { active: active.clone(), split: decided })
        };
        decided().map_err(|problem| notes.push(format!("core {}: {problem}", core.core))).ok()
    }
}

impl AloneReading {
    /// The part of a context's cycles in which it had the core alone; of none, all.
    fn alone(&self, end: &AloneReading, cpu: u32) -> CliResult<f64> {
        let read = |reading: &AloneReading| match reading.contexts.get(&cpu) {
            Some(Ok(counts)) => Ok(*counts),
            Some(Err(problem)) => Err(problem.clone()),
            None => Err(CliError::Refused(format!("CPU {cpu} was not counted"))),
        };
        let (begin, end) = (read(self)?, read(end)?);
        let events = self.metric.events();
        let count = |name: &str| {
            let at = events.iter().position(|event| *event == name)?;
            Some(end.count_since(&begin, at))
        };
        if events.iter().all(|event| count(event) == Some(0)) {
            return Ok(1.0);
        }
        self.metric.value(count).map_err(CliError::refused)
    }
}
