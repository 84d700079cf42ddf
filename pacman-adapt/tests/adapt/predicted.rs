//! Predictions, and their fate where they are wrong.

use std::sync::Arc;

use pacman_adapt::predict::{Configuration, Forecast, Predictor, Sample, Step};
use pacman_adapt::{Candidates, Controller, Rules, State};

use super::{bold, controller, machine, on, run};

/// Always expects the same, relative to the sample with the most threads, and recommends what it
/// expects to be least.
#[derive(Debug)]
struct Sure {
    all: Vec<Configuration>,
    expects: fn(Configuration) -> f64,
    /// Half of its intervals.
    reach: f64,
}

impl Predictor for Sure {
    fn configurations(&self) -> &[Configuration] {
        &self.all
    }

    fn step(&self, samples: &[Sample]) -> pacman_adapt::Result<Step> {
        let forecasts = self.forecast(samples)?;
        let best = forecasts.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let Some(best) = best else {
            let configuration = self.all[self.all.len() - 1];
            return Ok(Step::Sample { configuration, events: Vec::new(), why: "first".into() });
        };
        let (configuration, why) = (best.configuration, "expected to be best".to_owned());
        Ok(match best.measured {
            true => Step::Decide { configuration, why },
            false => Step::Verify { configuration, why },
        })
    }

    fn forecast(&self, samples: &[Sample]) -> pacman_adapt::Result<Vec<Forecast>> {
        let Some(reference) = samples.iter().max_by_key(|one| one.configuration().threads()) else {
            return Ok(Vec::new());
        };
        let forecast = |&configuration: &Configuration| {
            let sample = samples.iter().find(|one| one.configuration() == configuration);
            let expected = reference.seconds() * (self.expects)(configuration);
            let seconds = sample.map_or(expected, Sample::seconds);
            let reach = if sample.is_some() { 0.0 } else { reference.seconds() * self.reach };
            let (low, high) = (seconds - reach, seconds + reach);
            Forecast { configuration, seconds, low, high, measured: sample.is_some() }
        };
        Ok(self.all.iter().map(forecast).collect())
    }
}

fn phase(
    text: &str,
    mut rules: Rules,
    expects: fn(Configuration) -> f64,
    reach: f64,
) -> Controller {
    let candidates = Candidates::of(&machine(text), None).unwrap();
    let all = candidates.all().to_vec();
    rules.predictor = Some(Arc::new(Sure { all, expects, reach }));
    Controller::new(candidates, rules)
}

/// One context a core is expected to take a quarter; two do, and one takes half as much again.
#[test]
fn a_search_goes_on_where_a_prediction_was_wrong() {
    let truth = |on: Configuration| match (on.cores(), on.per_core()) {
        (Some(4), Some(2)) => 0.23,
        (Some(4), Some(1)) => 0.38,
        (Some(4), Some(contexts)) => 0.5 + 0.06 * f64::from(contexts),
        _ => 2.0,
    };
    let expects = |on: Configuration| if on == "4x1".parse().unwrap() { 0.25 } else { 1.0 };
    let mut phase = phase("4 cores, 8 threads", bold(), expects, 0.05);
    let places = run(&mut phase, 60, truth);
    let expected = [on("4x8"), on("4x8"), on("4x1")];
    assert_eq!(places[..3], expected, "the default is measured twice, then it is as predicted");
    assert_eq!((phase.next(), phase.state()), (on("4x2"), State::Holding), "{}", phase.why());
    // As soon as without it.
    let mut alone = controller("4 cores, 8 threads", bold());
    let without = run(&mut alone, 60, truth);
    let first = |places: &[Configuration]| places.iter().position(|&place| place == on("4x2"));
    assert!(first(&places) <= first(&without), "{places:?} {without:?}");
}

/// A sample is taken when the budget covers its possible loss. A prediction bounds that loss, as far as
/// it is credible: by twice its intervals.
#[test]
fn a_sample_that_is_dearer_than_predicted_keeps_the_bound() {
    for beyond in [0.0f64, 0.25, 0.5, 0.75, 1.0] {
        let truth = |on: Configuration| match on.threads() {
            8 => 1.0,
            // No more than the share of those that went.
            threads => (0.97 + 0.1 + 0.1 * beyond).min(8.0 / f64::from(threads)),
        };
        let mut phase = phase("8 cores", Rules::default(), |_| 0.97, 0.1);
        let (mut total, mut sampled) = (0.0, false);
        for number in 1..=300 {
            let on = phase.next();
            sampled |= on.threads() < 8;
            phase.finished(on, truth(on), truth(on)).unwrap();
            total += truth(on);
            let bound = if number < 120 { 1.05 } else { 1.01 };
            assert!(total <= f64::from(number) * bound + 1e-9, "{beyond}: {number}, {total}");
        }
        assert!(sampled, "{}", phase.why());
    }
}
