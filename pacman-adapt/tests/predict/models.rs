//! Trained models: what they predict, what their files refuse, what training refuses.

use pacman_adapt::ErrorKind;
use pacman_adapt::predict::training::{
    Contender, Dataset, LinearOptions, Plan, RidgeOptions, Row, evaluate, linear, ridge,
};
use pacman_adapt::predict::{Method, Model, Predictor, Sample, Step, Target};

use super::{execution, follow, model, on, rows, seconds};

fn data() -> Dataset {
    Dataset::of("m", &rows(12), None).unwrap()
}

/// A mix that no program of the training data has.
const UNSEEN: f64 = 0.33;

#[test]
fn both_models_predict_a_program_that_they_have_not_seen() {
    for target in [Target::Time, Target::Ipc] {
        let options = RidgeOptions { target, ..RidgeOptions::default() };
        let ridge = ridge(&data(), &options).unwrap();
        let linear = linear(&data(), &LinearOptions { target, events: None }).unwrap();
        for (predictor, bound) in [(&ridge as &dyn Predictor, 0.03), (&linear, 0.15)] {
            let (_, samples) = follow(predictor, |on| execution(UNSEEN, on));
            let forecasts = predictor.forecast(&samples).unwrap();
            assert_eq!(forecasts.len(), 16);
            for one in forecasts {
                let truth = seconds(UNSEEN, one.configuration.threads());
                assert!((one.seconds / truth - 1.0).abs() < bound, "{target}: {one:?}, {truth}");
                assert!(one.low <= one.seconds && one.seconds <= one.high, "{one:?}");
            }
        }
    }
}

#[test]
fn the_plan_starts_at_all_contexts_and_ends_in_at_most_one_verification() {
    let plan = vec![on("16"), on("8"), on("2")];
    let options = RidgeOptions { plan: Plan::At(plan.clone()), ..RidgeOptions::default() };
    let ridge = ridge(&data(), &options).unwrap();
    assert_eq!(ridge.plan()[0], on("16"));
    let mut planned = ridge.plan().to_vec();
    planned.sort_unstable();
    assert_eq!(planned, [on("2"), on("8"), on("16")]);
    for mix in [0.0, 0.1, 0.5, 0.9, 1.0] {
        let (decision, samples) = follow(&ridge, |on| execution(mix, on));
        assert!((3..=4).contains(&samples.len()), "{}", samples.len());
        let best = samples.iter().map(Sample::seconds).fold(f64::INFINITY, f64::min);
        assert_eq!(seconds(mix, decision.threads()), best);
    }
    // Intervals are there from the first sample on.
    for count in 1..=3 {
        let samples: Vec<_> =
            ridge.plan()[..count].iter().map(|&on| execution(UNSEEN, on)).collect();
        let forecasts = ridge.forecast(&samples).unwrap();
        assert_eq!(forecasts.iter().filter(|one| one.measured).count(), count);
        assert_eq!(forecasts.len(), 16);
    }
}

#[test]
fn the_papers_model_samples_two_event_sets_with_all_contexts() {
    let mut rows = rows(12);
    for (index, row) in rows.iter_mut().enumerate() {
        let branches = 1e8 + 1e6 * (index * index % 97) as f64;
        row.sample = row.sample.clone().with("branches", branches).unwrap();
    }
    let data = Dataset::of("m", &rows, None).unwrap();
    let linear = linear(&data, &LinearOptions { target: Target::Ipc, events: None }).unwrap();
    assert_eq!(linear.event_sets(), [vec!["branches".to_owned()], vec!["llc_misses".to_owned()]]);
    let mut samples = Vec::new();
    for set in ["branches", "llc_misses"] {
        let Step::Sample { configuration, events, .. } = linear.step(&samples).unwrap() else {
            panic!("{set} is to be counted");
        };
        assert_eq!(configuration, on("16"));
        assert!(events.iter().any(|event| event == set), "{events:?}");
        let full = rows[15].sample.clone();
        let counted = events.iter().fold(Sample::new(on("16"), full.seconds()), |sample, event| {
            sample?.with(event.as_str(), full.count(event).expect("counted in training"))
        });
        samples.push(counted.unwrap());
    }
    assert!(!matches!(linear.step(&samples).unwrap(), Step::Sample { .. }));
}

#[test]
fn a_models_file_gives_back_the_same_model() {
    let ridge = ridge(&data(), &RidgeOptions::default()).unwrap();
    let linear = linear(&data(), &LinearOptions::default()).unwrap();
    for method in [Method::Ridge(ridge), Method::Linear(linear)] {
        let model = model(method, &data());
        let text = model.to_text().unwrap();
        assert_eq!(Model::from_text(&text).unwrap(), model);
        let error = model.on("n").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(
            error.to_string(),
            "the model is for machine \"m\", not for \"n\": train one on data from there"
        );
    }
}

#[test]
fn a_file_that_was_cut_or_edited_is_refused() {
    let ridge = ridge(&data(), &RidgeOptions::default()).unwrap();
    let text = model(Method::Ridge(ridge), &data()).to_text().unwrap();
    for length in (0..text.len() - 2).step_by(97) {
        let error = Model::from_text(&text[..length]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{length}: {error}");
    }
    // Any digit but those of the version, which has an answer of its own.
    let start = text.find("checksum").unwrap();
    let digits = text.char_indices().filter(|(at, c)| *at > start && c.is_ascii_digit());
    for (at, digit) in digits.step_by(41) {
        let other = if digit == '7' { "3" } else { "7" };
        let edited = format!("{}{other}{}", &text[..at], &text[at + 1..]);
        let error = Model::from_text(&edited).unwrap_err();
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    for (from, to, kind, why) in [
        ("\"version\": 2", "\"version\": 1", ErrorKind::Unsupported, "its version is 1"),
        ("pacman-prediction-model", "other", ErrorKind::InvalidInput, "its format is \"other\""),
        ("\"machine\": \"m\"", "\"machine\": \"n\"", ErrorKind::InvalidInput, "changed after"),
    ] {
        let error = Model::from_text(&text.replacen(from, to, 1)).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(why), "{error}");
    }
    for other in ["", "machine,app", "{}", "[1]", "\u{0}"] {
        assert!(Model::from_text(other).is_err(), "{other:?}");
    }
}

#[test]
fn a_missing_count_or_sample_is_named() {
    let linear = linear(&data(), &LinearOptions::default()).unwrap();
    let bare = Sample::new(on("16"), 1.0).unwrap().with("instructions", 1e9).unwrap();
    let error = linear.forecast(&[bare]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the sample at 16 has no count of llc_misses, which the model needs"
    );
    let ridge = ridge(&data(), &RidgeOptions::default()).unwrap();
    let error = ridge.forecast(&[execution(0.5, on("1"))]).unwrap_err();
    assert!(error.to_string().contains("needs a sample at 16 first"), "{error}");
}

#[test]
fn evaluation_never_shows_a_model_the_program_that_it_is_asked_about() {
    // A program unlike all others: a model that had seen it would do better.
    let mut rows = rows(8);
    for threads in 1..=16u32 {
        let time = 1.0 + 0.2 * f64::from(threads);
        let sample = Sample::new(on(&threads.to_string()), time).unwrap();
        let sample = sample.with("instructions", 1e9).unwrap().with("llc_misses", 5e8).unwrap();
        let (machine, program) = ("m".into(), "odd".into());
        rows.push(Row { line: 900, machine, program, phase: None, run: None, sample });
    }
    let data = Dataset::of("m", &rows, None).unwrap();
    let contender = Contender::Ridge(RidgeOptions::default());
    let found = evaluate(&data, &contender, &mut || ()).unwrap();
    let odd = found.scores.last().unwrap();

    // The same by hand, from the other programs only.
    let others: Vec<Row> = rows.iter().filter(|row| row.program != "odd").cloned().collect();
    let model = ridge(&Dataset::of("m", &others, None).unwrap(), &RidgeOptions::default()).unwrap();
    let truth = |on| rows.iter().rev().find(|row| row.sample.configuration() == on).unwrap();
    let planned: Vec<_> = model.plan().iter().map(|&on| truth(on).sample.clone()).collect();
    let forecasts = model.forecast(&planned).unwrap();
    let errors: Vec<f64> = forecasts
        .iter()
        .filter(|one| !one.measured)
        .map(|one| (one.seconds / truth(one.configuration).sample.seconds() - 1.0).abs())
        .collect();
    let error = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!((odd.error.unwrap() - error).abs() < 1e-12);
    assert_eq!(errors.len(), 13);

    let shares: f64 = found.scores.iter().filter_map(|score| found.share(score)).sum();
    assert!((shares - 1.0).abs() < 1e-9);
    let mean: f64 = found.scores.iter().map(|score| score.error.unwrap()).sum::<f64>() / 9.0;
    assert!((found.accuracy().unwrap() - (1.0 - mean)).abs() < 1e-12);
}

#[test]
fn bad_training_data_is_refused_with_its_line() {
    let complete = rows(5);
    let refused = |rows: &[Row]| {
        let error = Dataset::of("m", rows, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        error.to_string()
    };
    let one: Vec<Row> = complete[..16].to_vec();
    let why =
        "m: 1 complete program to learn from, and 4 are the least, phases counted: measure more";
    assert_eq!(refused(&one), why);
    let words = refused(&complete[..48]);
    assert!(words.starts_with("m: 3 complete programs to learn from, and 4"), "{words}");

    let mut twice = complete.clone();
    twice.push(Row { line: 99, ..complete[3].clone() });
    let why = "line 99: p0 on m at 4 stands in line 5 already; number the runs in a column run, or \
               keep one row";
    assert_eq!(refused(&twice), why);

    let mut slip = complete.clone();
    slip.push(Row { line: 98, sample: execution(0.0, on("17")), ..complete[0].clone() });
    let words = refused(&slip);
    assert!(
        words.starts_with("line 98: 17 is a configuration that 4 of 5 programs were not"),
        "{words}"
    );

    let other = Dataset::of("k", &complete, None).unwrap_err();
    assert_eq!(other.to_string(), "no row of machine \"k\"; there is m");

    // A hole costs the program, and that is said.
    let mut hole = complete.clone();
    hole.remove(20);
    let data = Dataset::of("m", &hole, None).unwrap();
    assert_eq!(data.programs().len(), 4);
    assert_eq!(data.left_out(), ["p1 (not measured at 5)"]);
    evaluate(&data, &Contender::Search, &mut || ()).unwrap();

    // Two events, an intercept and the instruction rate.
    let mut four = complete[..64].to_vec();
    for row in &mut four {
        row.sample = row.sample.clone().with("branches", 1e8).unwrap();
    }
    let four = Dataset::of("m", &four, None).unwrap();
    let error = linear(&four, &LinearOptions::default()).unwrap_err();
    assert!(error.to_string().contains("4 programs for 4 coefficients"), "{error}");
}

#[test]
fn the_fingerprint_is_of_everything_that_training_sees() {
    let print = |rows: &[Row]| Dataset::of("m", rows, None).unwrap().fingerprint();
    let before = rows(4);
    let mut time = before.clone();
    time[7].sample = execution(0.77, time[7].sample.configuration());
    let mut name = before.clone();
    name.iter_mut().filter(|row| row.program == "p2").for_each(|row| row.program = "q".into());
    assert_ne!(print(&before), print(&time));
    assert_ne!(print(&before), print(&name));
    assert_eq!(print(&before), print(&rows(4)));
}
