//! Counters, features, prediction, decision: the whole loop, on phases that no model has seen.

use std::sync::Arc;

use pacman_adapt::Result;
use pacman_adapt::phases::{Kind, Noise, Random, SimPhase, SmtMachine};
use pacman_adapt::predict::{Configuration, Forecast, Predictor, Sample, Step};
use pacman_adapt::{Candidates, Controller, Rules};
use pacman_topology::Topology;

#[path = "../../benches/adaptation/trained.rs"]
mod trained;

fn candidates(machine: SmtMachine) -> Candidates {
    let topology = Topology::synthetic(&machine.as_text()).expect("a machine");
    Candidates::of(&topology, None).expect("candidates")
}

/// The time of a phase beyond its best and beyond the default, less 1; the latter at its worst
/// over the bound.
struct Outcome {
    regret: f64,
    above: f64,
    first: Option<u64>,
}

fn play(machine: SmtMachine, rules: &Rules, law: &SimPhase, counts: bool) -> Outcome {
    let mut controller = Controller::new(candidates(machine), rules.clone());
    let default = controller.candidates().default();
    let best = law.best(machine.configurations()).expect("some").1;
    let (mut total, mut above, mut first) = (0.0, f64::NEG_INFINITY, None);
    let mut exact = Noise::new(0, 0.0);
    for number in 1..=100 {
        let (on, seconds) = (controller.next(), law.seconds(controller.next()));
        if counts && !controller.wanted().is_empty() {
            assert_eq!(on, default, "counts are wanted of the default alone");
            let sample = trained::counted(law, on, seconds, &mut exact).expect("a sample");
            controller.counted(sample);
        }
        controller.finished(on, seconds, seconds).expect("a valid time");
        first = first.or((on != default).then_some(number));
        total += seconds;
        let bound = if number < 120 { 1.05 } else { 1.01 };
        above = above.max(total / (law.seconds(default) * number as f64 * bound) - 1.0);
    }
    Outcome { regret: total / (100.0 * best) - 1.0, above, first }
}

#[test]
fn counts_at_the_default_lead_to_the_best_within_the_bound() {
    let machine = SmtMachine::new(4, 2);
    let rules = trained::rules(machine, 300, 0.0).expect("a model");
    let mut random = Random::new(200);
    let laws: Vec<SimPhase> = (0..200).map(|_| Kind::Any.draw(&mut random, machine)).collect();
    let mean = |rules: &Rules, counts: bool| {
        let outcomes: Vec<Outcome> =
            laws.iter().map(|law| play(machine, rules, law, counts)).collect();
        let above = outcomes.iter().filter(|one| one.above > 1e-9).count();
        (outcomes.iter().map(|one| one.regret).sum::<f64>() / outcomes.len() as f64, above)
    };
    let (predicted, above) = mean(&rules, true);
    let (searched, never) = mean(&Rules::default(), false);
    assert_eq!(never, 0, "the search by itself keeps the bound");
    // A prediction interval is no promise: one phase in a hundred may be off by more.
    assert!(above <= 2, "{above} of {} phases above the bound", laws.len());
    assert!(predicted <= 0.02, "{predicted} where the search has {searched}");
    assert!(predicted < 0.5 * searched, "{predicted} where the search has {searched}");
}

#[test]
fn a_sample_that_pays_comes_in_the_second_execution() {
    let machine = SmtMachine::new(4, 2);
    let rules = trained::rules(machine, 300, 0.0).expect("a model");
    // Two contexts have half a cache too much between them, and misses are dear.
    let law = SimPhase { data: 0.9, miss: 2.5, issue: 0.6, ..SimPhase::parallel() };
    let with = play(machine, &rules, &law, true);
    assert_eq!(with.first, Some(2));
    let without = play(machine, &rules, &law, false);
    assert_eq!(without.first, None, "a predictor without counts decides nothing");
    // The search waits for what half of the machine may cost: a hundred executions.
    let search = play(machine, &Rules::default(), &law, false);
    assert!(with.regret < 0.1 * search.regret, "{} and {}", with.regret, search.regret);
}

/// Promises a tenth of the time on one thread, and is sure of it.
#[derive(Debug)]
struct Liar(Vec<Configuration>);

impl Predictor for Liar {
    fn configurations(&self) -> &[Configuration] {
        &self.0
    }

    fn step(&self, samples: &[Sample]) -> Result<Step> {
        let configuration = self.0[0];
        Ok(match samples {
            [] => Step::Sample {
                configuration: self.0[self.0.len() - 1],
                events: vec!["cycles".into()],
                why: "to lie about".into(),
            },
            _ => Step::Verify { configuration, why: "sure".into() },
        })
    }

    fn forecast(&self, samples: &[Sample]) -> Result<Vec<Forecast>> {
        let lie = |configuration: &Configuration| Forecast {
            configuration: *configuration,
            seconds: samples[0].seconds() * 0.1,
            low: samples[0].seconds() * 0.09,
            high: samples[0].seconds() * 0.11,
            measured: samples.iter().any(|sample| sample.configuration() == *configuration),
        };
        Ok(self.0.iter().map(lie).collect())
    }
}

#[test]
fn a_predictor_that_lies_is_believed_once() {
    let machine = SmtMachine::new(4, 1);
    let all = candidates(machine);
    let mut rules = Rules::default();
    rules.predictor = Some(Arc::new(Liar(all.all().to_vec())));
    let mut controller = Controller::new(all, rules);
    let mut narrow = 0;
    for _ in 0..100 {
        let on = controller.next();
        let seconds = 1.0 / f64::from(on.threads());
        if !controller.wanted().is_empty() {
            let sample = Sample::new(on, seconds).unwrap().with("cycles", 1e9).unwrap();
            controller.counted(sample);
        }
        controller.finished(on, seconds, seconds).unwrap();
        narrow += u32::from(on.threads() < 4);
    }
    assert_eq!((narrow, controller.next().threads()), (1, 4), "{}", controller.why());
}
