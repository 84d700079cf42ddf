//! A region with teams of one default size, and the controller that chooses among smaller ones.

use pacman_adapt::predict::Configuration;
use pacman_adapt::{Controller, Execution, Objective, State};

use super::useful::UsefulShare;

/// Executions during which a search may change the size of teams often.
const NEW: u64 = 50;

#[derive(Debug)]
pub(crate) struct Phase {
    pub(crate) controller: Controller,
    /// Whether members are placed, so that there is a choice between cores and siblings.
    pub(crate) places: bool,
    /// The exponent of time in the cost.
    degree: i32,
    /// The configuration, seconds and cost of its latest execution on fewer threads.
    reduced: Option<(Configuration, f64, f64)>,
    /// The configuration that it is held at, if it is held.
    pub(crate) held: Option<Configuration>,
    /// Whether its latest execution had new threads.
    renewed: bool,
    /// Teams that did not get the chosen size.
    pub(crate) refused: u64,
    /// The part of its threads' time that is useful.
    pub(crate) useful: UsefulShare,
}

impl Phase {
    pub(crate) fn new(places: bool, degree: i32, controller: Controller) -> Phase {
        Phase {
            degree,
            controller,
            places,
            reduced: None,
            held: None,
            renewed: false,
            refused: 0,
            useful: UsefulShare::default(),
        }
    }

    /// The default size of its teams.
    #[inline]
    pub(crate) fn default(&self) -> u32 {
        self.controller.candidates().default().threads()
    }

    /// Whether this phase is for teams of `default` threads, placed or not.
    pub(crate) fn is_for(&self, default: u32, places: bool) -> bool {
        (self.default(), self.places) == (default, places)
    }

    /// Whether the search has just begun, so that the region may soon change its size again.
    pub(crate) fn is_new(&self) -> bool {
        let is_searched = matches!(self.controller.state(), State::Sampling | State::Verifying);
        is_searched && self.controller.account().executions() < NEW
    }

    /// The region's own part of the `seconds` of an execution at `on`, and whether the execution is
    /// typical. `besides` is the cost of starting or ending threads. `renewed` is true if threads started.
    ///
    /// The kernel has not yet placed new threads well. So their first execution takes longer, by more than
    /// the time of their start. If the next execution also has new threads, every execution has them. Then
    /// some threads start while others work, which takes less time.
    pub(crate) fn itself(
        &mut self,
        on: Configuration,
        (seconds, besides): (f64, f64),
        renewed: bool,
        objective: &Objective,
    ) -> (f64, bool) {
        let own = seconds - besides;
        let is_typical = !renewed || self.renewed;
        self.renewed = renewed;
        let usual = self.controller.level(on).filter(|_| renewed && objective.is_time());
        let least = if is_typical { own } else { 0.0 };
        (usual.map_or(own, |usual| usual.clamp(least, seconds)), is_typical)
    }

    /// Charges `seconds` that the latest execution on fewer threads cost elsewhere. If `recurring`, another
    /// region that keeps its team size had that cost. Otherwise this region's next execution had it.
    pub(crate) fn charge(&mut self, seconds: f64, recurring: bool) {
        let Some((on, took, cost)) = self.reduced else { return };
        let longer = (1.0 + seconds / took).powi(self.degree);
        self.controller.defer_cost(on, cost * (longer - 1.0), recurring);
    }

    /// Reports an execution at `on`.
    pub(crate) fn enter(
        &mut self,
        objective: &Objective,
        on: Configuration,
        execution: &Execution,
    ) {
        let cost = objective.cost(execution).unwrap_or(f64::NAN);
        // The controller names a refused execution in `why`.
        let _ = self.controller.finished_with(on, cost, execution);
        self.note_reduced(on, execution.seconds, cost);
    }

    /// Reports an execution at `on` that does not predict later ones.
    pub(crate) fn outlier(
        &mut self,
        objective: &Objective,
        on: Configuration,
        execution: &Execution,
    ) {
        self.controller.outlier(on, objective.cost(execution).unwrap_or(f64::NAN));
    }

    pub(crate) fn note_reduced(&mut self, on: Configuration, seconds: f64, cost: f64) {
        if on.threads() < self.default() {
            self.reduced = Some((on, seconds, cost));
        }
    }
}

#[cfg(test)]
mod tests {
    use pacman_adapt::{Candidates, Rules};
    use pacman_core::Topology;

    use super::*;

    /// A phase of teams of two that ran three times for a second each.
    fn known() -> Phase {
        let machine = Topology::synthetic("2 cores").expect("a machine");
        let candidates = Candidates::of(&machine, None).expect("one and two threads");
        let mut controller = Controller::new(candidates, Rules::default());
        let on = controller.next();
        let mut run = || controller.finished(on, 1.0, 1.0).expect("a valid execution");
        (0..3).for_each(|_| run());
        Phase::new(false, 1, controller)
    }

    #[test]
    fn the_first_execution_with_new_threads_is_not_typical() {
        let mut phase = known();
        let on = phase.controller.candidates().default();
        let mut itself = |seconds, renewed| {
            let besides = if renewed { 0.5 } else { 0.0 };
            phase.itself(on, (seconds, besides), renewed, &Objective::Time)
        };
        assert_eq!(itself(7.0, false), (7.0, true), "perhaps a time slice: nothing explains it");
        assert_eq!(itself(7.0, true), (1.0, false), "its usual time");
        assert_eq!(itself(1.25, true), (1.0, true), "the threads have started meanwhile");
        assert_eq!(itself(0.75, true), (0.75, true), "quicker than usual all the same");
        assert_eq!(itself(7.0, true), (6.5, true), "it takes longer now");
        assert_eq!(itself(1.0, false), (1.0, true));
        assert_eq!(itself(0.75, true), (0.75, false));
    }

    #[test]
    fn without_a_usual_time_the_measured_start_is_subtracted() {
        let mut phase = known();
        let alone = phase.controller.candidates().all()[0];
        let energy = Objective::Energy;
        for (on, objective) in [(alone, &Objective::Time), (phase.controller.next(), &energy)] {
            assert_eq!(phase.itself(on, (7.0, 0.5), true, objective), (6.5, false));
            assert_eq!(phase.itself(on, (7.0, 0.5), true, objective), (6.5, true));
            phase.renewed = false;
        }
    }
}
