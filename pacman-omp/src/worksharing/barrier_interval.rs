//! The barrier intervals of a region: their order, and the threads of each.

use std::collections::BTreeMap;

use pacman_adapt::predict::Configuration;
use pacman_adapt::{Candidates, Controller, Rules};
use pacman_core::Topology;
use pacman_regions::Loop;

use super::partition::Division;
use super::schedule::Indivisible;

/// Facts that all regions of the process share.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) seconds_per_tick: f64,
    pub(crate) rules: Rules,
    pub(crate) topology: Topology,
    /// Widths to apply in a cycle, at any cost; for tests.
    pub(crate) forced: Vec<u16>,
}

/// Runs of an interval in one execution after which the region counts as one with a time loop inside.
/// Other regions are better adapted as a whole.
const REPEATED: u32 = 8;

/// Executions without such an interval after which the region counts as one without a time loop.
const PATIENCE: u32 = 64;

/// A region's intervals. The thread that runs the region as thread 0 holds them.
#[derive(Debug, Default)]
pub(crate) struct BarrierIntervals {
    all: Vec<BarrierInterval>,
    by_site: BTreeMap<u64, usize>,
    /// The first interval of the latest execution.
    first: Option<usize>,
    /// Some interval ran [`REPEATED`] times within one execution.
    repeats: bool,
    /// The number of the region's execution.
    execution: u32,
    /// The size of the latest team.
    threads: u16,
    /// The candidates for teams of that size.
    candidates: Option<(u16, Candidates)>,
}

/// The loops between two barriers.
#[derive(Debug)]
struct BarrierInterval {
    /// The return address of its first loop's `__kmpc_for_static_init_*`.
    site: u64,
    source: Option<String>,
    /// The interval that came next last time.
    next: Option<usize>,
    executions: u64,
    /// The region's execution that it ran in last, and its runs in that execution.
    execution: u32,
    rounds: u32,
    loops: Kinds,
    control: Control,
}

/// The kinds of loops of an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Kinds {
    /// Some loop that fewer threads can share.
    divided: bool,
    refused: Option<Indivisible>,
}

#[derive(Debug)]
enum Control {
    /// Not adapted so far.
    Watched,
    /// Never adapted, for this reason.
    Refused(&'static str),
    /// Adapted in teams of that size.
    Adapted(u16, Box<Controller>),
}

pub(super) const ASKS: &str = "the region asks for its thread's number, and may keep data by it";

impl BarrierIntervals {
    /// An execution of the region begins.
    pub(super) fn begin(&mut self) {
        self.execution = self.execution.wrapping_add(1);
    }

    /// Whether the region has no time loop inside.
    pub(super) fn never_repeat(&self) -> bool {
        !self.repeats && self.execution >= PATIENCE
    }

    /// The interval whose first loop is at `site`, after interval `before` in the same execution.
    #[inline]
    pub(super) fn at(
        &mut self,
        site: u64,
        before: Option<usize>,
        source: impl FnOnce() -> Option<String>,
    ) -> usize {
        let expected = self.after(before);
        if let Some(expected) = expected.filter(|&at| self.all[at].site == site) {
            return expected;
        }
        let found = self.found(site, source);
        match before {
            Some(before) => self.all[before].next = Some(found),
            None => self.first = Some(found),
        }
        found
    }

    #[cold]
    fn found(&mut self, site: u64, source: impl FnOnce() -> Option<String>) -> usize {
        *self.by_site.entry(site).or_insert_with(|| {
            self.all.push(BarrierInterval {
                site,
                source: source(),
                next: None,
                executions: 0,
                execution: 0,
                rounds: 0,
                loops: Kinds::default(),
                control: Control::Watched,
            });
            self.all.len() - 1
        })
    }

    /// The interval that is expected after `before`, or first.
    #[inline]
    pub(super) fn after(&self, before: Option<usize>) -> Option<usize> {
        before.map_or(self.first, |before| self.all[before].next)
    }

    /// Notes a loop of the interval.
    #[inline]
    pub(super) fn has(&mut self, at: usize, division: Result<Division, Indivisible>) {
        let loops = &mut self.all[at].loops;
        match division {
            Ok(_) => loops.divided = true,
            Err(indivisible) => loops.refused = Some(indivisible),
        }
    }

    /// The width of the interval's loops; `None` for all threads.
    #[inline]
    pub(super) fn width(&self, at: usize) -> Option<u16> {
        match &self.all[at].control {
            Control::Adapted(_, controller) => Some(controller.next().threads() as u16),
            Control::Watched | Control::Refused(_) => None,
        }
    }

    /// The interval ran, and took `seconds`.
    pub(super) fn ran(&mut self, at: usize, seconds: f64, ran: &Ran<'_>) {
        let execution = self.execution;
        self.threads = ran.threads;
        let interval = &mut self.all[at];
        interval.executions += 1;
        interval.rounds = if interval.execution == execution { interval.rounds + 1 } else { 1 };
        interval.execution = execution;
        self.repeats |= interval.rounds >= REPEATED;
        if let Control::Adapted(team, controller) = &mut interval.control {
            if *team == ran.threads {
                if let Some(on) = configuration(controller, ran.width.min(ran.threads)) {
                    // The controller leaves out a refused execution; nothing else is to be done.
                    let _ = controller.finished(on, seconds, seconds);
                }
                if !ran.asks {
                    return;
                }
            }
        }
        if self.repeats && ran.setup.forced.is_empty() {
            self.decide(at, ran);
        }
    }

    /// Gives the interval a controller, or a reason against one. Runs again when a condition changes.
    #[cold]
    fn decide(&mut self, at: usize, ran: &Ran<'_>) {
        let interval = &mut self.all[at];
        let loops = interval.loops;
        let refused = match (ran.refused, loops.refused) {
            (Some(why), _) => Some(why),
            (None, _) if ran.asks => Some(ASKS),
            (None, Some(indivisible)) if !loops.divided => Some(indivisible.why()),
            _ => None,
        };
        if let Some(why) = refused {
            interval.control = Control::Refused(why);
            return;
        }
        if self.candidates.as_ref().is_none_or(|(threads, _)| *threads != ran.threads) {
            let team = usize::from(ran.threads);
            // The region's threads stay where they are.
            let list = Candidates::for_team(&ran.setup.topology, team, None);
            let list = list.and_then(Candidates::on_any_nodes).ok();
            self.candidates = list.map(|list| (ran.threads, list));
        }
        let Some((_, candidates)) = &self.candidates else { return };
        match &mut interval.control {
            Control::Adapted(team, controller) => {
                *team = ran.threads;
                controller.restrict(candidates.clone());
            }
            control => {
                let controller = Controller::new(candidates.clone(), ran.setup.rules.clone());
                *control = Control::Adapted(ran.threads, Box::new(controller));
            }
        }
    }

    /// Whether some interval has fewer threads than the team, or may get fewer.
    pub(super) fn adapts(&self) -> bool {
        use pacman_adapt::State::{LeftAlone, Off};
        self.all.iter().any(|interval| match &interval.control {
            Control::Adapted(_, controller) => !matches!(controller.state(), LeftAlone | Off),
            Control::Watched | Control::Refused(_) => false,
        })
    }

    /// The intervals for the recording; none for a region without a time loop inside.
    pub(super) fn recorded(&self, place: impl Fn(u64) -> String) -> Vec<Loop> {
        let intervals = self.all.iter().filter(|_| self.repeats);
        let recorded = intervals.map(|interval| {
            let (threads, why) = match &interval.control {
                Control::Adapted(_, controller) => (controller.next().threads(), controller.why()),
                Control::Refused(why) => (u32::from(self.threads), (*why).to_owned()),
                Control::Watched => (u32::from(self.threads), "too few executions yet".to_owned()),
            };
            let source = interval.source.clone().unwrap_or_else(|| place(interval.site));
            Loop { source, executions: interval.executions, threads, why }
        });
        recorded.collect()
    }
}

/// A run of an interval: its width in a team of `threads`.
pub(super) struct Ran<'a> {
    pub(super) setup: &'a Setup,
    pub(super) width: u16,
    pub(super) threads: u16,
    /// The reason against all adaptation in this execution.
    pub(super) refused: Option<&'static str>,
    /// The region asks for its thread's number.
    pub(super) asks: bool,
}

/// The controller's configuration that an interval ran on: usually the one that it chose. Of several with
/// that number of threads, the first, because threads do not move for a loop.
fn configuration(controller: &Controller, width: u16) -> Option<Configuration> {
    let is = |on: &Configuration| on.threads() == u32::from(width);
    let next = controller.next();
    if is(&next) { Some(next) } else { controller.candidates().all().iter().copied().find(is) }
}
