//! The work of one execution of a region, decided once, at its begin.

use pacman_regions::arena::Nested;

use super::call::TeamMode;
use crate::plan::Plan;

/// The work of one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// How the members run the body, unless a controller chooses another team.
    pub(crate) mode: TeamMode,
    pub(crate) chooser: Chooser,
    /// Energy is read around it.
    pub(crate) meters: bool,
    /// The library's own work in the primary thread's part is none of the execution's.
    pub(crate) times_waits: bool,
    /// The primary thread is outside of other regions, and waits where it is outside of its part.
    pub(crate) waits_outside: bool,
}

/// The part of the library that chooses the team of an execution, or whether it is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chooser {
    /// None: the program's own team.
    Program,
    /// The controller of the region.
    Controller,
    /// The packing of threads onto fewer contexts.
    Packing,
    /// The overhead budget.
    Budget,
}

impl Decision {
    /// For a region that is not observed.
    pub(crate) const UNOBSERVED: Decision = Decision {
        mode: TeamMode::Unobserved,
        chooser: Chooser::Program,
        meters: false,
        times_waits: false,
        waits_outside: false,
    };

    /// The decision for an execution at that place among others. `is_own` says whether its team is the library's to
    /// choose: the members of a league are primary threads themselves, and OMPT and GCC's older interface show a team
    /// when it has started.
    pub(crate) fn of(plan: Plan, nested: Nested, is_own: bool) -> Decision {
        let is_outermost = nested == Nested::No;
        let is_own = is_own && is_outermost;
        let chooser = if plan.packs() {
            if is_own { Chooser::Packing } else { Chooser::Program }
        } else if plan.adapts() {
            Chooser::Controller
        } else if plan.samples_by_body() && is_own {
            Chooser::Budget
        } else {
            Chooser::Program
        };
        let mode = if nested == Nested::Within || chooser == Chooser::Budget {
            TeamMode::Sampled
        } else if plan.rotates_sets() {
            TeamMode::Rotating
        } else if plan.traces() {
            TeamMode::Traced
        } else if plan.times_waits() {
            TeamMode::Waits
        } else if chooser == Chooser::Packing {
            TeamMode::Packed
        } else {
            TeamMode::Observed
        };
        let times_waits = plan.times_waits();
        Decision {
            mode,
            chooser,
            meters: plan.meters() && is_outermost,
            times_waits,
            waits_outside: times_waits && is_outermost,
        }
    }
}
