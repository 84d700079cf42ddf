//! The PMU's counts on every context of every core.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use pacman_core::backend::perf::{Sharing, backend_on};
use pacman_core::backend::{self, Backend, Target};
use pacman_core::platform::PlatformRef;
use pacman_core::topology::Core;
use pacman_core::{ErrorKind, Event, Topology};
use pacman_metrics::language::named;
use pacman_metrics::smt::{ContextReading, Recipe};

use super::source::{Basis, Done, Reading, Source};
use super::tsc::Tsc;
use crate::error::{CliError, CliResult};

/// The open counters of a machine.
pub(super) struct Counters {
    recipe: Rc<Recipe>,
    tsc: Tsc,
    /// The contexts of each core.
    cores: Vec<Vec<Context>>,
    choice: Option<String>,
}

pub(super) struct Context {
    pub(super) cpu: u32,
    pub(super) counters: Box<dyn backend::Counters>,
}

/// The counts of all contexts at about one moment.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    at: Instant,
    recipe: Rc<Recipe>,
    /// By logical CPU; a line about those that could not be read.
    contexts: BTreeMap<u32, CliResult<Shown>>,
}

/// The counts of one context.
#[derive(Clone, Copy, Debug)]
struct Shown {
    /// The TSC before and after it was read.
    tsc: [u64; 2],
    counts: backend::Reading,
}

impl Counters {
    /// Opens the counters of all contexts, by the first recipe that this machine takes.
    ///
    /// The error is one line that names the missing counter, privilege or PMU.
    pub(super) fn open(topology: &Topology, platform: &PlatformRef) -> CliResult<Counters> {
        let tsc = Tsc::of(platform)
            .ok_or_else(|| CliError::refused("this processor has no time stamp counter"))?;
        let recipes = Recipe::all(platform.cpu_model(), tsc.clocks()).map_err(CliError::refused)?;
        let mut refused = None;
        for recipe in recipes {
            match open_all(topology, platform, &|place| recipe.events(place)) {
                Ok(cores) => {
                    let recipe = Rc::new(recipe);
                    return Ok(Counters { recipe, tsc, cores, choice: None });
                }
                // Without permission for one event there is none for the other.
                Err(error) if error.kind() == ErrorKind::Permission => {
                    return Err(forbidden(platform, &error));
                }
                Err(error) => refused = refused.or(Some(CliError::refused(error))),
            }
        }
        Err(refused.expect("a model that can be split has a recipe"))
    }

    /// Has the report say why it is not the other method.
    pub(super) fn because(mut self, choice: Option<&str>) -> Counters {
        self.choice = choice.map(str::to_owned);
        self
    }

    #[cfg(test)]
    pub(super) fn by(
        topology: &Topology,
        platform: &PlatformRef,
        recipe: Recipe,
    ) -> pacman_core::Result<Counters> {
        let cores = open_all(topology, platform, &|place| recipe.events(place))?;
        let tsc = Tsc::of(platform).expect("it has a TSC");
        Ok(Counters { recipe: Rc::new(recipe), tsc, cores, choice: None })
    }

    fn read_now(&mut self) -> Counts {
        let begin = Instant::now();
        let wide = (self.recipe.scale().base_hz * WIDE) as u64;
        let mut contexts = BTreeMap::new();
        for core in &mut self.cores {
            // A thread that loses its processor between two reads reads the siblings at different
            // times. Counts only grow, so the closest of a few tries is as good as the first.
            let mut best = read_core(core, &self.tsc);
            for _ in 1..TRIES {
                if width(&best).is_none_or(|width| width <= wide) {
                    break;
                }
                let again = read_core(core, &self.tsc);
                if width(&again).is_some_and(|again| Some(again) < width(&best)) {
                    best = again;
                }
            }
            contexts.extend(core.iter().map(|context| context.cpu).zip(best));
        }
        let at = begin + begin.elapsed() / 2;
        Counts { at, recipe: Rc::clone(&self.recipe), contexts }
    }
}

/// Reads siblings, one right after the other.
fn read_core(core: &mut [Context], tsc: &Tsc) -> Vec<CliResult<Shown>> {
    let mut all = Vec::with_capacity(core.len());
    for context in core {
        let mut counts = backend::Reading::EMPTY;
        let before = tsc.now();
        let done = context.counters.read(&mut counts);
        let shown = Shown { tsc: [before, tsc.now()], counts };
        all.push(done.map(|()| shown).map_err(CliError::refused));
    }
    all
}

/// The ticks that reading a core took; `None` if one of its contexts could not be read.
fn width(core: &[CliResult<Shown>]) -> Option<u64> {
    let shown: Option<Vec<&Shown>> = core.iter().map(|shown| shown.as_ref().ok()).collect();
    let shown = shown?;
    Some(shown.last()?.tsc[1].saturating_sub(shown.first()?.tsc[0]))
}

impl Source for Counters {
    type Reading = Counts;

    fn read(&mut self) -> CliResult<Counts> {
        let counts = self.read_now();
        match counts.contexts.values().find_map(|shown| shown.as_ref().err()) {
            Some(problem) if counts.contexts.values().all(Result::is_err) => Err(problem.clone()),
            _ => Ok(counts),
        }
    }

    fn basis(&self) -> Basis {
        let scale = self.recipe.scale();
        Basis {
            source: scale.event.to_owned(),
            method: self.recipe.method(),
            step: scale.step_ns() / 1e9,
            simulated: self.tsc.simulated(),
            choice: self.choice.clone(),
        }
    }
}

impl Reading for Counts {
    fn at(&self) -> Instant {
        self.at
    }

    fn until(&self, later: &Counts, core: &Core, notes: &mut Vec<String>) -> Option<Done> {
        let told = self.between(later, core);
        told.map_err(|problem| notes.push(format!("core {}: {problem}", core.core))).ok()
    }
}

impl Counts {
    fn between(&self, later: &Counts, core: &Core) -> CliResult<Done> {
        let mut readings = Vec::with_capacity(core.cpus.len());
        let mut of_core = Vec::new();
        for (place, cpu) in core.cpus.iter().enumerate() {
            let (begin, end) = (self.shown(*cpu)?, later.shown(*cpu)?);
            let reading = begin.until(end);
            self.check_running(begin, end, &reading)?;
            if self.recipe.tells_of_core(place) {
                of_core.push(end.counts.count_since(&begin.counts, 1));
            }
            readings.push(reading);
        }
        let split = self.recipe.split(&readings, &of_core).map_err(CliError::refused)?;
        let utilisation = named("core-utilisation").expect("it is built in");
        let active = readings.iter().enumerate().map(|(place, reading)| {
            let part = utilisation.figure(|name| match name {
                "REF_CYCLES:uk" => {
                    Some((self.recipe.own_ticks(place) * reading.reference as f64).into())
                }
                "TSC" => Some(split.elapsed.into()),
                _ => None,
            });
            part.map_or(0.0, |part| part.value.min(1.0))
        });
        Ok(Done { active: active.collect(), split })
    }

    fn shown(&self, cpu: u32) -> CliResult<&Shown> {
        match self.contexts.get(&cpu) {
            Some(Ok(shown)) => Ok(shown),
            Some(Err(problem)) => Err(problem.clone()),
            None => Err(CliError::Refused(format!("CPU {cpu} was not counted"))),
        }
    }

    /// The kernel stops the counters of a context that goes offline, and still answers with their
    /// last values. Their enabled time stops too.
    fn check_running(&self, begin: &Shown, end: &Shown, reading: &ContextReading) -> CliResult<()> {
        let hz = self.recipe.scale().base_hz;
        let passed = reading.end.saturating_sub(reading.begin + reading.slack) as f64 / hz;
        let enabled = end.counts.enabled_ns.wrapping_sub(begin.counts.enabled_ns);
        let enabled = Duration::from_nanos(enabled).as_secs_f64();
        if enabled < passed * (1.0 - RATES_DIFFER) - CLOCKS_DIFFER {
            return Err(CliError::Refused(format!(
                "its counters ran for {enabled:.3} of {passed:.3} s: a context was offline, or \
                 another profiler took its counters"
            )));
        }
        Ok(())
    }
}

impl Shown {
    /// The counters are read somewhere between the two times.
    fn until(&self, end: &Shown) -> ContextReading {
        let width = |[before, after]: [u64; 2]| after.saturating_sub(before);
        let middle = |tsc: [u64; 2]| tsc[0] + width(tsc) / 2;
        let half = |tsc: [u64; 2]| width(tsc).div_ceil(2);
        ContextReading {
            begin: middle(self.tsc),
            end: middle(end.tsc),
            slack: half(self.tsc) + half(end.tsc),
            reference: end.counts.count_since(&self.counts, 0),
        }
    }
}

/// Opens the counters of all contexts, core by core: the events of a context by its place in the core.
pub(super) fn open_all(
    topology: &Topology,
    platform: &PlatformRef,
    events: &dyn Fn(usize) -> String,
) -> pacman_core::Result<Vec<Vec<Context>>> {
    let mut prepared: BTreeMap<String, Box<dyn Backend>> = BTreeMap::new();
    let mut cores = Vec::with_capacity(topology.cores().len());
    for core in topology.cores() {
        let mut contexts = Vec::with_capacity(core.cpus.len());
        for (place, number) in core.cpus.iter().enumerate() {
            let list = events(place);
            if !prepared.contains_key(&list) {
                let events = Event::parse_list_on(platform.cpu_model(), &list)?;
                let backend =
                    backend_on(platform, &events, Sharing::Pinned, platform.permissions())?;
                prepared.insert(list.clone(), backend);
            }
            let counters = prepared[&list].open(Target::Context(*number))?;
            contexts.push(Context { cpu: *number, counters });
        }
        cores.push(contexts);
    }
    Ok(cores)
}

/// Names the missing privilege. Events are tried on the calling thread first, which needs less
/// privilege than whole contexts. Advice for the thread alone would not be enough.
pub(super) fn forbidden(platform: &PlatformRef, error: &pacman_core::Error) -> CliError {
    let permissions = platform.permissions();
    CliError::Refused(match (permissions.paranoid, permissions.capability, permissions.seccomp) {
        (Some(level @ 1..), None, 0) => format!(
            "cannot count whole CPUs: permission denied: perf_event_paranoid is {level}; 0 or less \
             (sysctl kernel.perf_event_paranoid), or CAP_PERFMON, is needed"
        ),
        _ => error.to_string(),
    })
}

/// Seconds that reading a core takes at most, if nothing comes between.
const WIDE: f64 = 100e-6;
/// How often a core is read to have that.
const TRIES: usize = 3;
/// How much the kernel's clock of counting and the TSC may differ in rate.
const RATES_DIFFER: f64 = 0.01;
/// Seconds by which they may differ in steps.
const CLOCKS_DIFFER: f64 = 5e-3;
