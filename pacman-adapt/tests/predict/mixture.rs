//! Programs that are mixtures of known ones.

use pacman_adapt::Adapter;
use pacman_adapt::ErrorKind;
use pacman_adapt::phases::{Kind, Random, SmtMachine};
use pacman_adapt::predict::training::{Contender, Dataset, MixtureOptions, Row, evaluate, mixture};
use pacman_adapt::predict::{Configuration, Method, Mixture, Model, Predictor, Sample, Step};

use super::{execution, follow, model, on, rows, seconds};

fn data() -> Dataset {
    Dataset::of("m", &rows(12), None).unwrap()
}

fn trained() -> Mixture {
    mixture(&data(), MixtureOptions::default()).unwrap()
}

#[test]
fn a_program_between_two_known_ones_is_predicted() {
    let mixture = trained();
    for mix in [0.05, 0.33, 0.6, 0.95] {
        let (_, samples) = follow(&mixture, |on| execution(mix, on));
        let forecasts = mixture.forecast(&samples).unwrap();
        assert_eq!(forecasts.len(), 16);
        for one in forecasts {
            let truth = seconds(mix, one.configuration.threads());
            assert!((one.seconds / truth - 1.0).abs() < 0.05, "{mix}: {one:?}, {truth}");
            assert!((one.low..=one.high).contains(&truth), "{mix}: {one:?}, {truth}");
        }
    }
}

/// Amdahl's law is no program of the training, and a mixture of two laws.
#[test]
fn a_program_that_follows_a_law_is_predicted_where_none_of_the_known_ones_does() {
    let amdahl =
        |on: Configuration| Sample::new(on, 0.02 + 0.98 / f64::from(on.threads())).unwrap();
    let mixture = trained();
    let (decision, samples) = follow(&mixture, amdahl);
    assert_eq!(decision, on("16"));
    for one in mixture.forecast(&samples).unwrap() {
        let truth = amdahl(one.configuration).seconds();
        assert!((one.seconds / truth - 1.0).abs() < 0.05, "{one:?}, {truth}");
    }
}

#[test]
fn samples_begin_at_all_contexts_and_end_in_at_most_three_verifications() {
    let mixture = trained();
    let mut thirds = Vec::new();
    for mix in [0.0, 0.1, 0.5, 0.9, 1.0] {
        let (decision, samples) = follow(&mixture, |on| execution(mix, on));
        assert_eq!(samples[0].configuration(), on("16"));
        assert!((3..=6).contains(&samples.len()), "{}", samples.len());
        let best = samples.iter().map(Sample::seconds).fold(f64::INFINITY, f64::min);
        assert_eq!(seconds(mix, decision.threads()), best);
        thirds.push(samples[2].configuration());
    }
    // The third depends on what the first two took.
    thirds.dedup();
    assert!(thirds.len() > 1, "{thirds:?}");

    let Step::Sample { configuration, events, why } = mixture.step(&[]).unwrap() else {
        panic!("nothing was sampled yet");
    };
    assert_eq!((configuration, events.as_slice()), (on("16"), [].as_slice()));
    assert_eq!(why, "sample 1 of 3: all others are predicted from it");
    let error = mixture.forecast(&[execution(0.5, on("1"))]).unwrap_err();
    assert!(error.to_string().contains("needs a sample at 16 first"), "{error}");
}

/// With contexts of cores: times of machines that have both, drawn from another model than the
/// laws of mixtures.
#[test]
fn intervals_hold_on_smt_machines() {
    let machine = SmtMachine::new(4, 2);
    let mut random = Random::new(5);
    let mut rows = Vec::new();
    for program in 0..16 {
        let phase = Kind::Any.draw(&mut random, machine);
        for on in machine.configurations() {
            let sample = Sample::new(on, phase.seconds(on)).unwrap();
            let (machine, program) = ("m".into(), format!("p{program}"));
            rows.push(Row { line: 0, machine, program, phase: None, run: None, sample });
        }
    }
    let data = Dataset::of("m", &rows, None).unwrap();
    let contender = Contender::Mixture(MixtureOptions::default());
    let found = evaluate(&data, &contender, &mut || ()).unwrap();
    let (accuracy, coverage) = (found.accuracy().unwrap(), found.coverage().unwrap());
    assert!(accuracy > 0.9, "{accuracy}");
    assert!((0.8..=0.98).contains(&coverage), "{coverage}");
    assert!(found.samples() <= 4.0);
}

#[test]
fn wide_samples_have_half_of_all_threads_at_least() {
    let options = MixtureOptions { samples: 4, wide: true };
    let mixture = mixture(&data(), options).unwrap();
    for mix in [0.0, 0.5, 1.0] {
        let (_, samples) = follow(&mixture, |on| execution(mix, on));
        assert!(samples.len() >= 4);
        assert!(samples.iter().all(|one| one.configuration().threads() >= 8), "{samples:?}");
    }
}

#[test]
fn all_configurations_may_be_sampled_and_no_more() {
    let few: Vec<Row> = rows(5)
        .into_iter()
        .filter(|row| [8, 16].contains(&row.sample.configuration().threads()))
        .collect();
    let data = Dataset::of("m", &few, None).unwrap();
    let mixture = mixture(&data, MixtureOptions::default()).unwrap();
    let (_, samples) = follow(&mixture, |on| execution(0.5, on));
    assert_eq!(samples.len(), 2);
}

#[test]
fn samples_are_one_to_sixteen() {
    for samples in [0, 17] {
        let options = MixtureOptions { samples, wide: false };
        let error = mixture(&data(), options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(
            error.to_string(),
            format!("a mixture model of {samples} samples: 1 to 16 are possible")
        );
    }
}

#[test]
fn times_that_nothing_explains_leave_what_was_measured() {
    let mixture = trained();
    let odd = |on: Configuration| {
        Sample::new(on, if on.threads() == 16 { 1e-300 } else { 1e300 }).unwrap()
    };
    let (decision, samples) = follow(&mixture, odd);
    assert_eq!(decision, on("16"));
    for one in mixture.forecast(&samples).unwrap() {
        assert!(!one.seconds.is_nan() && !one.low.is_nan() && !one.high.is_nan(), "{one:?}");
    }
}

#[test]
fn a_file_gives_back_the_same_model_or_a_refusal() {
    let model = model(Method::Mixture(trained()), &data());
    let text = model.to_text().unwrap();
    assert_eq!(Model::from_text(&text).unwrap(), model);
    let edited = text.replacen("\"samples\": 3", "\"samples\": 4", 1);
    let error = Model::from_text(&edited).unwrap_err();
    assert!(error.to_string().contains("changed after training"), "{error}");
    for length in (0..text.len() - 2).step_by(997) {
        let error = Model::from_text(&text[..length]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{length}: {error}");
    }

    // Values that no training wrote, below the checksum's guard.
    let parts = serde_json::to_value(trained()).unwrap();
    assert_eq!(serde_json::from_value::<Mixture>(parts.clone()).unwrap(), trained());
    for (field, odd) in [
        ("samples", serde_json::json!(0)),
        ("noise", serde_json::json!(0.0)),
        ("unexplained", serde_json::json!([])),
        ("unexplained", serde_json::json!([{"spread": -0.1, "share": 1.0}])),
        ("unexplained", serde_json::json!([{"spread": 0.1, "share": 0.5}])),
        ("configurations", serde_json::json!(["2", "1"])),
        ("configurations", serde_json::json!(["1"])),
        ("shapes", serde_json::json!([[1.0, 0.0]])),
    ] {
        let mut parts = parts.clone();
        parts[field] = odd;
        let error = serde_json::from_value::<Mixture>(parts).unwrap_err();
        assert_eq!(error.to_string(), "a mixture's parts do not fit together", "{field}");
    }
}

#[test]
fn an_adapter_takes_it() {
    let predictor = model(Method::Mixture(trained()), &data()).adapting("m").unwrap();
    let topology = pacman_topology::Topology::synthetic("16 cores").unwrap();
    let adapter = Adapter::builder(topology)
        .predictor(predictor)
        .break_even(std::time::Duration::ZERO)
        .build()
        .unwrap();
    let phase = adapter.phase("memory").unwrap();
    for _ in 0..2000 {
        let choice = phase.begin();
        let took = seconds(1.0, choice.configuration().threads());
        phase.end(choice, std::time::Duration::from_secs_f64(took)).unwrap();
    }
    // Memory serves three threads, and each more is in the way.
    let last = phase.begin().configuration();
    let best = (1..=16).map(|threads| seconds(1.0, threads)).fold(f64::INFINITY, f64::min);
    assert!(seconds(1.0, last.threads()) < 1.03 * best, "{last}: {}", phase.why());
    assert!(1.1 * seconds(1.0, last.threads()) < seconds(1.0, 16));
}
