//! Starts a search from what an earlier run of the program measured.
//!
//! The records of the search get the earlier ratios, multiplied by the present cost of the default. The
//! first execution of a configuration replaces its recalled cost. The best recalled configuration runs
//! first, and is verified as any other. If it costs clearly more than is recalled, the controller forgets
//! all recalled costs.

use super::rules::State;
use super::state_machine::Controller;
use crate::evidence::Evidence;
use crate::record::Record;
use crate::search::Move;

/// An execution above this multiple of its recalled cost disproves the evidence.
const DISPROVES: f64 = 1.2;

impl Controller {
    /// Takes what earlier runs measured. It counts where the work is the same.
    ///
    /// It changes nothing after the first execution. It ignores configurations that the phase does not
    /// have, and ratios that are not finite and above 0.
    ///
    /// ```
    /// use pacman_adapt::{Candidates, Controller, Rules};
    /// use pacman_topology::Topology;
    ///
    /// let candidates = Candidates::of(&Topology::synthetic("4 cores")?, None)?;
    /// let mut first = Controller::new(candidates.clone(), Rules::default());
    /// let run = |phase: &mut Controller| {
    ///     let on = phase.next();
    ///     let seconds = 0.1 * f64::from(on.threads());
    ///     phase.finished(on, seconds, seconds).map(|()| on.threads())
    /// };
    /// for _ in 0..500 {
    ///     run(&mut first)?;
    /// }
    /// let mut next = Controller::new(candidates, Rules::default());
    /// next.recall(first.evidence().into_iter().collect());
    /// assert_eq!((run(&mut next)?, run(&mut next)?), (4, 1));
    /// # Ok::<(), pacman_adapt::Error>(())
    /// ```
    pub fn recall(&mut self, earlier: Vec<Evidence>) {
        if self.account.executions() == 0 {
            self.earlier = earlier;
        }
    }

    /// The costs of this search, measured or recalled. `None` before an execution at the default and one
    /// elsewhere.
    pub fn evidence(&self) -> Option<Evidence> {
        let default = self.candidates.default_index();
        let default_cost = self.records[default].level();
        // What is only recalled keeps its ratio, however the default's cost has changed since.
        let over = |record: &Record| match record.is_recalled() {
            true => record.level() / self.recalled_default,
            false => record.level() / default_cost,
        };
        let ratios = self.candidates.all().iter().zip(&self.records).enumerate();
        let ratios: Vec<_> = ratios
            .filter(|(at, (_, record))| *at != default && record.is_measured())
            .map(|(_, (&on, record))| (on, over(record)))
            .collect();
        (default_cost.is_finite() && !ratios.is_empty()).then_some(Evidence {
            default_cost,
            ratios,
            is_same_work: false,
        })
    }

    /// Enters the evidence of an earlier run, once an execution at the default shows that it is of the
    /// same work.
    pub(super) fn recall_if_alike(&mut self) {
        let default = self.records[self.candidates.default_index()].level();
        let Some(found) = Evidence::nearest(&self.earlier, default) else { return };
        // Where only the default was disturbed, then or now, the others cost what they did.
        self.recalled_default = default;
        self.recalled_most = (found.default_cost / default).max(1.0) * DISPROVES;
        for &(on, ratio) in &found.ratios {
            let Some(at) = self.candidates.index(on) else { continue };
            if ratio.is_finite() && ratio > 0.0 && !self.records[at].is_measured() {
                self.records[at].recall(ratio * default);
                self.recalls = true;
            }
        }
        self.earlier.clear();
    }

    /// The move to the best configuration, if only an earlier run has measured it.
    pub(super) fn try_recalled(&self, credit: f64) -> Option<Move> {
        let known = self.known();
        let at = known.best();
        if !self.records[at].is_recalled() || at == known.default {
            return None;
        }
        let risk = known.level(at) * self.recalled_most - known.level(known.default);
        Some(match risk <= credit {
            true => Move::Run { at, why: "it was the best in an earlier run".into() },
            false => Move::Wait { at, risk },
        })
    }

    /// The most that a sample may cost without disproving what an earlier run measured there.
    pub(super) fn recalled_ceiling(&self, at: usize) -> f64 {
        let record = &self.records[at];
        if record.is_recalled() { record.level() * self.recalled_most } else { f64::INFINITY }
    }

    /// Forgets all that is recalled if the latest sample disproves it.
    pub(super) fn doubt_recalled(&mut self) {
        let sample = &self.records[self.next];
        let is_first = self.state == State::Sampling && sample.count() == 1;
        if self.recalls && is_first && sample.level() > self.recalled_limit {
            self.forget_recalled();
        }
        self.recalled_limit = f64::INFINITY;
    }

    /// Forgets all that only an earlier run has measured.
    pub(super) fn forget_recalled(&mut self) {
        self.records.iter_mut().filter(|record| record.is_recalled()).for_each(Record::forget);
        self.recalls = false;
    }
}
