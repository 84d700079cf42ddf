//! Evidence from elsewhere: earlier runs, predictors, and changes of the machine.

use crate::candidates::Candidates;
use crate::evidence::Evidence;
use crate::posterior::{Hypothesis, Source};
use crate::predict::{Configuration, Predictor, Sample, Step};
use crate::reason::Reason;

use super::observe::is_measurable;
use super::{Controller, State};

/// Executions at the default whose counts are kept: more than any predictor has event sets.
const COUNTED: usize = 8;
/// The standard deviation of a recalled ratio, as a part of it, and the most that it may be off: five of them.
const RECALLED: f64 = 0.04;
const DISPROVES: f64 = 1.2;
/// The standard deviations from a prediction to the end of its interval of 90 %.
const HALF_WIDTH: f64 = 1.65;
/// The greatest error of a trusted prediction, in half-widths of that interval. One in twenty exceeds the
/// interval. With a normal distribution, one in two thousand exceeds twice its half-width.
const BEYOND: f64 = 2.0;
/// The part of their error that the predictions of a phase share. Tuned.
const SHARED: f64 = 0.7;

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

    /// The costs that this run has measured or recalled. `None` before an execution at the default and one
    /// elsewhere.
    pub fn evidence(&self) -> Option<Evidence> {
        let others = self.candidates().all().iter().enumerate();
        let others = others.filter(|(at, _)| *at != self.default_index());
        let ratios: Vec<_> =
            others.filter_map(|(at, &on)| Some((on, self.posterior.ratio(at)?))).collect();
        let default_cost = self.posterior.usual();
        let is_known = default_cost.is_finite() && !ratios.is_empty();
        is_known.then_some(Evidence { default_cost, ratios, is_same_work: false })
    }

    /// Enters the evidence of an earlier run, once an execution at the default shows that it is of the
    /// same work.
    pub(super) fn recall_if_alike(&mut self) {
        let usual = self.posterior.usual();
        let Some(found) = Evidence::nearest(&self.earlier, usual) else { return };
        // Where only the default was disturbed, then or now, the others cost what they did.
        let most = (found.default_cost / usual).max(1.0) * DISPROVES;
        for &(on, ratio) in found.ratios.iter().filter(|(_, ratio)| is_measurable(*ratio)) {
            let Some(at) = self.candidates().index(on) else { continue };
            self.posterior.hypotheses[at] = Some(Hypothesis {
                source: Source::Memory,
                cost: ratio,
                deviation: RECALLED * ratio,
                most: most * ratio,
            });
        }
        self.earlier = Vec::new();
    }

    /// The events that the predictor wants counted in the next execution; most often none.
    ///
    /// A program that counts them calls [`counted`](Self::counted). Without that call the phase goes on
    /// without predictions.
    pub fn wanted(&self) -> &[String] {
        if self.next == self.default_index() { &self.wanted } else { &[] }
    }

    /// Takes the counts of the execution that the next call of [`finished`](Self::finished)
    /// reports.
    ///
    /// It ignores counts at configurations other than the default, and counts that are no longer
    /// wanted.
    pub fn counted(&mut self, sample: Sample) {
        let is_wanted = !self.wanted.is_empty() && self.state == State::Sampling;
        let is_default = sample.configuration() == self.candidates().default();
        if is_wanted && is_default && self.counted.len() < COUNTED {
            self.counted.push(sample);
        }
    }

    /// Asks the predictor, whose forecasts become hypotheses. Returns its next step.
    pub(super) fn consult(&mut self) -> Option<Step> {
        let predictor = self.predictor.clone()?;
        let asked = self.ask(predictor.as_ref());
        Some(asked.unwrap_or_else(|error| {
            let (configuration, why) = (self.candidates().default(), error.to_string());
            Step::Decide { configuration, why: format!("the predictor gave up: {why}") }
        }))
    }

    /// Asks `predictor`. It gets the samples with counts of the default if there are some, otherwise the
    /// default's cost. Predictions are times. They also limit other costs, because on fewer threads no cost grows
    /// with a higher power of the time than the rules say.
    fn ask(&mut self, predictor: &dyn Predictor) -> crate::Result<Step> {
        let (default, usual) = (self.default_index(), self.posterior.usual());
        let mut samples = self.counted.clone();
        let seconds = samples.iter().map(Sample::seconds).sum::<f64>() / samples.len() as f64;
        let unit = if samples.is_empty() { usual } else { seconds };
        let is_new = |at: &usize| *at != default || self.counted.is_empty();
        for at in self.posterior.measured().filter(is_new) {
            let seconds = self.posterior.level(at) / usual * unit;
            samples.push(Sample::new(self.candidates().all()[at], seconds)?);
        }
        let step = predictor.step(&samples)?;
        self.wanted = self.events(&step);
        // A predictor that lacks a sample or a count still has a step.
        let forecasts = predictor.forecast(&samples).unwrap_or_default();
        self.posterior.forget(Source::Forecast);
        // Predictions share most of their errors. Once one has come true, the others differ from it by less
        // than their intervals.
        let has_samples = self.posterior.measured().count() > 1;
        let is_confirmed = has_samples && !matches!(step, Step::Sample { .. });
        let part = if is_confirmed { 1.0 - SHARED } else { 1.0 };
        for forecast in forecasts {
            let at = self.candidates().index(forecast.configuration);
            let Some(at) = at.filter(|&at| self.posterior.hypotheses[at].is_none()) else {
                continue;
            };
            if forecast.measured || !forecast.high.is_finite() {
                continue;
            }
            let [low, cost, high] = [forecast.low, forecast.seconds, forecast.high]
                .map(|time| (time / unit).powi(self.rules.cost_exponent));
            self.posterior.hypotheses[at] = Some(Hypothesis {
                source: Source::Forecast,
                cost,
                deviation: part * (cost - low) / HALF_WIDTH,
                most: cost + (high - cost) * BEYOND,
            });
        }
        Ok(step)
    }

    /// The events of a step that samples the default.
    fn events(&self, step: &Step) -> Vec<String> {
        match step {
            Step::Sample { configuration, events, .. }
                if *configuration == self.candidates().default() =>
            {
                events.clone()
            }
            _ => Vec::new(),
        }
    }

    /// Forgets counts and predictions. The predictor is asked anew.
    pub(super) fn forget_predictions(&mut self) {
        self.posterior.forget(Source::Forecast);
        self.predictor.clone_from(&self.rules.predictor);
        self.counted = Vec::new();
        let first = self.predictor.as_ref().and_then(|predictor| predictor.step(&[]).ok());
        self.wanted = first.map(|step| self.events(&step)).unwrap_or_default();
    }

    /// Continues with other candidates, and returns the old ones that are no longer there.
    ///
    /// Measurements stay valid if the default stays; otherwise the phase starts over.
    pub fn restrict(&mut self, candidates: Candidates) -> Vec<Configuration> {
        let old = self.candidates().clone();
        self.posterior.restrict(candidates);
        let is_gone = |on: &&Configuration| self.candidates().index(**on).is_none();
        let dropped: Vec<Configuration> = old.all().iter().filter(is_gone).copied().collect();
        self.gone += dropped.len();
        (self.next, self.best) = (self.default_index(), self.default_index());
        self.forget_predictions();
        if self.state == State::Off || self.state == State::LeftAlone {
            return dropped;
        }
        (self.state, self.due) = (State::Sampling, 0);
        if self.candidates().default() != old.default() {
            self.default_cost = f64::INFINITY;
        }
        let names: Vec<String> = dropped.iter().map(ToString::to_string).collect();
        self.reason = Reason::Said(match dropped.len() {
            0 => "the machine has changed".to_owned(),
            count => format!("{count} configurations are gone ({})", names.join(", ")),
        });
        dropped
    }
}
