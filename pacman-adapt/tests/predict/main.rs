//! Predictors on machines whose truth is known.

mod mixture;
mod models;
mod runtime;
mod steps;

use pacman_adapt::predict::training::{Dataset, Row};
use pacman_adapt::predict::{
    Configuration, CrossValidation, Method, Model, Predictor, Sample, Step,
};

fn on(text: &str) -> Configuration {
    text.parse().expect("a configuration")
}

/// Runs the requests of a predictor until it decides; returns the decision and all samples.
fn follow(
    predictor: &dyn Predictor,
    run: impl Fn(Configuration) -> Sample,
) -> (Configuration, Vec<Sample>) {
    let mut samples = Vec::new();
    loop {
        let step = predictor.step(&samples).expect("a step");
        assert!(!step.why().is_empty() && !step.why().contains('\n'));
        if let Step::Decide { configuration, .. } = step {
            return (configuration, samples);
        }
        assert!(samples.len() < 100, "{predictor:?} does not end");
        samples.push(run(step.configuration()));
    }
}

/// Eight cores with two contexts each: a serial part, a part that the cores do, and memory that
/// a few threads saturate. `mix` goes from 0, all computing, to 1, all memory.
fn seconds(mix: f64, threads: u32) -> f64 {
    let threads = f64::from(threads);
    let capacity = threads.min(8.0) + 0.3 * (threads - 8.0).max(0.0);
    0.01 + (1.0 - mix) / capacity + mix / threads.min(3.0) + 0.004 * mix * threads
}

fn execution(mix: f64, on: Configuration) -> Sample {
    let time = seconds(mix, on.threads());
    let sample = Sample::new(on, time).expect("a time");
    let sample = sample.with("instructions", 1e9).expect("a count");
    // Not in proportion to time, or its rate would say what the instruction rate says.
    let sample = sample.with("llc_misses", 1e7 * mix * mix + 1e4).expect("a count");
    sample.with("cycles", time * f64::from(on.threads()) * 2e9).expect("a count")
}

/// Programs of that machine, at every thread count from 1 to 16.
fn rows(programs: u32) -> Vec<Row> {
    let mut rows = Vec::new();
    for program in 0..programs {
        let mix = f64::from(program) / f64::from(programs - 1);
        for threads in 1..=16 {
            let sample = execution(mix, Configuration::new(threads).expect("threads"));
            let line = rows.len() as u64 + 2;
            let (machine, program) = ("m".into(), format!("p{program}"));
            rows.push(Row { line, machine, program, phase: None, run: None, sample });
        }
    }
    rows
}

/// A model that was trained on `data`; its cross-validation is made up.
fn model(method: Method, data: &Dataset) -> Model {
    let cross_validation = CrossValidation {
        accuracy: 0.9,
        worst_accuracy: 0.8,
        regret: 0.1,
        worst_regret: 0.2,
        samples: 3.25,
        coverage: 0.9,
    };
    let (machine, fingerprint) = (data.machine().to_owned(), data.fingerprint());
    let programs = data.programs().iter().map(|program| program.name.clone()).collect();
    Model { machine, programs, fingerprint, cross_validation, method }
}
