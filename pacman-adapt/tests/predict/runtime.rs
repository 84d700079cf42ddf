//! From recorded runs to a model's file to an adapter that samples by it.

use std::time::Duration;

use pacman_adapt::ErrorKind;
use pacman_adapt::phases::{Kind, Noise, Random, SimPhase, SmtMachine};
use pacman_adapt::predict::training::{
    Dataset, LinearOptions, Plan, RidgeOptions, Row, linear, ridge,
};
use pacman_adapt::predict::{Configuration, HillClimb, Method, Model, Sample, machine_name};
use pacman_adapt::{Adapter, Builder, Candidates, Objective};
use pacman_topology::Topology;

use super::{model, on, rows};

fn topology(machine: SmtMachine) -> Topology {
    Topology::synthetic(&machine.as_text()).unwrap()
}

fn configurations(machine: SmtMachine) -> Vec<Configuration> {
    Candidates::of(&topology(machine), None).unwrap().all().to_vec()
}

/// Phases that differ from draw to draw.
fn phases(machine: SmtMachine, seed: u64, count: usize) -> Vec<SimPhase> {
    let mut random = Random::new(seed);
    (0..count).map(|_| Kind::Any.draw(&mut random, machine)).collect()
}

/// Records of phases by `pacman-pmu record`: three runs everywhere, each a little off.
fn recorded(machine: SmtMachine, phases: &[SimPhase]) -> Vec<Row> {
    let name = machine_name(&topology(machine));
    let mut noise = Noise::new(11, 0.01);
    let mut recorded = Vec::new();
    for run in 1..=3 {
        for (number, phase) in phases.iter().enumerate() {
            for on in configurations(machine) {
                let sample = Sample::new(on, phase.seconds(on) * noise.factor()).unwrap();
                let (machine, program) = (name.clone(), format!("p{number}"));
                let line = recorded.len() as u64 + 2;
                let (phase, run) = (Some("sweep".into()), Some(run));
                recorded.push(Row { line, machine, program, phase, run, sample });
            }
        }
    }
    recorded
}

/// Configurations sampled, and regret of what is run in the end.
fn run(adapter: &Adapter, phase: &SimPhase, seed: u64) -> (usize, f64) {
    let mut noise = Noise::new(seed, 0.005);
    let adapted = adapter.phase(&format!("phase {seed}")).unwrap();
    let mut seen = Vec::new();
    for _ in 0..1500 {
        let choice = adapted.begin();
        let on = choice.configuration();
        if !seen.contains(&on) {
            seen.push(on);
        }
        let took = phase.seconds(on) * noise.factor();
        adapted.end(choice, Duration::from_secs_f64(took)).unwrap();
    }
    let last = adapted.begin().configuration();
    let (_, best) = phase.best(adapter.candidates().all().iter().copied()).unwrap();
    (seen.len(), phase.seconds(last) / best - 1.0)
}

/// The figures that `docs/research/prediction.md` has for decisions at run time.
#[test]
fn an_adapter_samples_less_with_a_model_and_decides_as_well() {
    for (cores, contexts) in [(2, 2), (4, 2), (8, 2), (2, 1), (4, 1), (8, 1)] {
        let machine = SmtMachine::new(cores, contexts);
        let name = machine_name(&topology(machine));
        let data = Dataset::of(&name, &recorded(machine, &phases(machine, 1, 24)), None).unwrap();
        assert_eq!(data.configurations(), configurations(machine));
        let options = RidgeOptions { plan: Plan::Wide(2), ..RidgeOptions::default() };
        let ridge = ridge(&data, &options).unwrap();
        assert!(
            ridge.plan().iter().all(|on| 2 * on.threads() >= cores * contexts),
            "{:?}",
            ridge.plan()
        );
        let text = model(Method::Ridge(ridge), &data).to_text().unwrap();
        let predictor = Model::from_text(&text).unwrap().adapting(&name).unwrap();

        let adapter = || Adapter::builder(topology(machine)).break_even(Duration::ZERO);
        let with = adapter().predictor(predictor).build().unwrap();
        let without = adapter().build().unwrap();
        // None of these was trained on.
        let others = phases(machine, 1001, 40);
        let mean = |adapter: &Adapter| {
            let runs = others.iter().zip(1u64..).map(|(phase, seed)| run(adapter, phase, seed));
            let add = |(n, regret), one: (usize, f64)| (n + one.0 as f64, regret + one.1);
            let (samples, regret) = runs.fold((0.0, 0.0), add);
            (samples / 40.0, regret / 40.0)
        };
        let ((samples, regret), (climbed, climbing)) = (mean(&with), mean(&without));
        println!("{cores}x{contexts}: {samples}, regret {regret}; search: {climbed}, {climbing}");
        // Without SMT there is little to predict, and a model is to do no harm.
        if contexts > 1 {
            assert!(samples < climbed, "{samples} samples with the model, {climbed} without");
        }
        assert!(regret < 0.01, "{regret}, and {climbing} without");
    }
}

#[test]
fn a_model_of_another_machine_or_with_counts_is_refused() {
    let data = Dataset::of("m", &rows(12), None).unwrap();
    let times = RidgeOptions { events: Some(Vec::new()), ..RidgeOptions::default() };
    let times = model(Method::Ridge(ridge(&data, &times).unwrap()), &data);
    assert!(times.counts().is_empty());
    let other = times.clone().adapting("n").unwrap_err();
    assert_eq!(other.kind(), ErrorKind::Unsupported);
    assert!(other.to_string().contains("machine \"m\", not for \"n\""), "{other}");

    let counted = model(Method::Linear(linear(&data, &LinearOptions::default()).unwrap()), &data);
    let error = counted.adapting("m").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "the model needs counts of instructions, llc_misses, and adaptation measures times alone: \
         train one with --method ridge --events none"
    );

    // Its 16 threads are more than this machine has contexts.
    let small = Topology::synthetic("4 cores").unwrap();
    let predictor = times.adapting("m").unwrap();
    assert_eq!(predictor.configurations().last(), Some(&on("16")));
    let error = Adapter::builder(small).predictor(predictor).build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoSuchPlace);
    assert!(error.to_string().contains("which this machine does not have"), "{error}");
}

#[test]
fn a_model_is_refused_at_build_where_it_cannot_predict() {
    let data = Dataset::of("m", &rows(12), None).unwrap();
    let options = RidgeOptions { events: Some(Vec::new()), ..RidgeOptions::default() };
    let ridge = ridge(&data, &options).unwrap();
    let predictor = model(Method::Ridge(ridge), &data).adapting("m").unwrap();
    let on = |machine: &str| {
        let topology = Topology::synthetic(machine).unwrap();
        Adapter::builder(topology).predictor(predictor.clone())
    };
    let refused = |builder: Builder| {
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        error.to_string()
    };
    // It predicts from 16 threads.
    on("16 cores").build().unwrap();
    on("32 cores").max_threads(16).build().unwrap();
    assert_eq!(
        refused(on("16 cores").max_threads(15)),
        "cannot adapt within 15 threads with this predictor: it predicts from 16; set max_threads \
         to 16, or train a model on runs with 15 threads at most"
    );
    let wide = refused(on("32 cores"));
    assert!(wide.starts_with("cannot adapt within 32 threads"), "{wide}");

    // The error precedes the search for energy counters, which not every machine has.
    for objective in [
        Objective::Energy,
        Objective::EnergyDelay,
        Objective::EnergyDelaySquared,
        Objective::custom(2, |execution| execution.seconds * execution.seconds),
    ] {
        let text = refused(on("16 cores").objective(objective.clone()));
        assert_eq!(
            text,
            format!(
                "cannot adapt for {objective} with this predictor: it predicts times; adapt for \
                 time, or leave the predictor out"
            )
        );
    }
}

#[test]
fn a_search_takes_any_objective_and_any_limit() {
    let all = [1, 2, 4, 8].map(|threads| Configuration::new(threads).unwrap());
    let search = HillClimb::new(all.to_vec()).unwrap();
    let adapter = Adapter::builder(Topology::synthetic("8 cores").unwrap())
        .predictor(search)
        .objective(Objective::custom(1, |execution| execution.seconds))
        .max_threads(2)
        .build()
        .unwrap();
    assert_eq!(adapter.candidates().all(), &all[..2]);
}

#[test]
fn a_models_file_that_cannot_be_read_is_named() {
    let missing = Model::from_file("/no/such/model.json".as_ref()).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::System);
    assert!(missing.to_string().starts_with("/no/such/model.json: cannot read the model: "));
    let other = Model::from_file(std::env::current_exe().unwrap().as_ref()).unwrap_err();
    assert_eq!(other.kind(), ErrorKind::InvalidInput);
    assert!(other.to_string().ends_with(": it is not a model: it is not text in UTF-8"), "{other}");
}
