//! The intervals of a region, which follows which, and how many threads each gets.

use std::collections::HashMap;

use pacman_core::Topology;
use pacman_core::adapt::{Candidates, Controller, Rules};
use pacman_core::predict::Configuration;
use pacman_regions::Loop;

use super::partition::Division;
use super::schedule::Indivisible;

/// What is the same for all regions of the process.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) seconds_per_tick: f64,
    pub(crate) rules: Rules,
    pub(crate) topology: Topology,
    /// Widths to go through in turn, whatever they cost: for tests.
    pub(crate) forced: Vec<u16>,
}

/// A region counts as one with a time loop inside when an interval has run so often in one
/// execution. Other regions are better adapted as a whole, threads and all.
const REPEATED: u32 = 8;

/// A region that has run so often without such an interval has no time loop inside.
const PATIENCE: u32 = 64;

/// A region's intervals; whoever runs the region's thread 0 has them.
#[derive(Debug, Default)]
pub(crate) struct BarrierIntervals {
    all: Vec<BarrierInterval>,
    by_site: HashMap<u64, usize>,
    /// What began the latest execution.
    first: Option<usize>,
    /// Some interval was run again and again within one execution.
    repeats: bool,
    /// Counts the region's executions.
    execution: u32,
    /// Threads of the latest team.
    threads: u16,
    /// What there is to choose from in teams of that many threads.
    candidates: Option<(u16, Candidates)>,
}

/// The loops between two barriers.
#[derive(Debug)]
struct BarrierInterval {
    /// The address that its first loop's `__kmpc_for_static_init_*` returns to.
    site: u64,
    source: Option<String>,
    /// What came after it last.
    next: Option<usize>,
    executions: u64,
    /// The region's execution it ran in last, and how often in that one.
    execution: u32,
    rounds: u32,
    loops: Kinds,
    control: Control,
}

/// What loops an interval was seen to have.
#[derive(Clone, Copy, Debug, Default)]
struct Kinds {
    /// Some that fewer threads can share.
    divided: bool,
    refused: Option<Indivisible>,
}

#[derive(Debug)]
enum Control {
    /// Not adapted, or not yet.
    Watched,
    /// Why it never is.
    Refused(&'static str),
    /// In teams of so many threads.
    Adapted(u16, Box<Controller>),
}

pub(super) const ASKS: &str =
    "the region asks for its thread's number, and may keep what it does by it";

impl BarrierIntervals {
    /// An execution of the region begins.
    pub(super) fn begin(&mut self) {
        self.execution = self.execution.wrapping_add(1);
    }

    /// Whether it is time to give the region up.
    pub(super) fn never_repeat(&self) -> bool {
        !self.repeats && self.execution >= PATIENCE
    }

    /// The interval whose first loop is at `site`, after `before` in the same execution.
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

    /// What is expected after `before`, or first.
    #[inline]
    pub(super) fn after(&self, before: Option<usize>) -> Option<usize> {
        before.map_or(self.first, |before| self.all[before].next)
    }

    /// The interval has such a loop.
    #[inline]
    pub(super) fn has(&mut self, at: usize, division: Result<Division, Indivisible>) {
        let loops = &mut self.all[at].loops;
        match division {
            Ok(_) => loops.divided = true,
            Err(indivisible) => loops.refused = Some(indivisible),
        }
    }

    /// How many threads the interval's loops should get; `None` for all.
    #[inline]
    pub(super) fn width(&self, at: usize) -> Option<u16> {
        match &self.all[at].control {
            Control::Adapted(_, controller) => Some(controller.next().threads() as u16),
            Control::Watched | Control::Refused(_) => None,
        }
    }

    /// The interval ran on `width` threads of a team of `threads`, and took so long.
    ///
    /// `refused` says why nothing may be adapted; `asks` that the region asks for its thread's
    /// number.
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
                    // What it refuses it leaves out, which is all there is to do about it.
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

    /// Puts the interval under control, or says why not; also when something has changed.
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
            let list = Candidates::for_team(&ran.setup.topology, team, None).ok();
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

    /// Whether some interval gets fewer threads than the team has, or may come to it.
    pub(super) fn adapts(&self) -> bool {
        use pacman_core::adapt::State::{LeftAlone, Off};
        self.all.iter().any(|interval| match &interval.control {
            Control::Adapted(_, controller) => !matches!(controller.state(), LeftAlone | Off),
            Control::Watched | Control::Refused(_) => false,
        })
    }

    /// For the recording; nothing for a region without a time loop inside.
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

/// How an interval ran.
pub(super) struct Ran<'a> {
    pub(super) setup: &'a Setup,
    pub(super) width: u16,
    pub(super) threads: u16,
    pub(super) refused: Option<&'static str>,
    pub(super) asks: bool,
}

/// Which of the controller's configurations an interval ran on: what it asked for, most likely. Of
/// several with as many threads the first, because threads are not moved for a loop.
fn configuration(controller: &Controller, width: u16) -> Option<Configuration> {
    let is = |on: &Configuration| on.threads() == u32::from(width);
    let next = controller.next();
    if is(&next) { Some(next) } else { controller.candidates().all().iter().copied().find(is) }
}
