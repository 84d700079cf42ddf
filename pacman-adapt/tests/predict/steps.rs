//! Predictors without a model, and what all of them refuse.

use pacman_adapt::ErrorKind;
use pacman_adapt::predict::{BestSeen, Configuration, HillClimb, Predictor, Sample, Step};
use proptest::prelude::*;

use super::{follow, on};

fn up_to(threads: u32) -> Vec<Configuration> {
    (1..=threads).map(|threads| Configuration::new(threads).unwrap()).collect()
}

proptest! {
    /// Against trying everything: a curve with one valley has one local minimum.
    #[test]
    fn climbing_finds_the_best_of_one_valley(
        most in 1u32..48,
        valley in 0u32..48,
        left in 0.01f64..2.0,
        right in 0.01f64..2.0,
    ) {
        let time = |on: Configuration| {
            let away = f64::from(on.threads()) - f64::from(valley);
            1.0 + if away < 0.0 { -away * left } else { away * right }
        };
        let search = HillClimb::new(up_to(most)).unwrap();
        let (decision, samples) = follow(&search, |on| Sample::new(on, time(on)).unwrap());
        let best = up_to(most).into_iter().map(time).fold(f64::INFINITY, f64::min);
        prop_assert_eq!(time(decision), best);
        let mut tried: Vec<_> = samples.iter().map(Sample::configuration).collect();
        tried.sort_unstable();
        tried.dedup();
        prop_assert_eq!(tried.len(), samples.len(), "no execution twice");
        // Two for each halving, and a move at each.
        let halvings = (f64::from(most).log2().ceil() as usize).max(1);
        prop_assert!(samples.len() <= 2 + 3 * halvings, "{} of {}", samples.len(), most);
    }

    /// For any curve, no predictor decides for an unmeasured configuration or for less than the best.
    #[test]
    fn decisions_are_the_best_that_was_measured(times in prop::collection::vec(0.1f64..9.0, 1..30)) {
        let on = up_to(times.len() as u32);
        let run = |on: Configuration| Sample::new(on, times[on.threads() as usize - 1]).unwrap();
        for predictor in [
            &HillClimb::new(on.clone()).unwrap() as &dyn Predictor,
            &BestSeen::new(on.clone()).unwrap(),
        ] {
            let (decision, samples) = follow(predictor, run);
            let best = samples.iter().map(Sample::seconds).fold(f64::INFINITY, f64::min);
            prop_assert_eq!(run(decision).seconds(), best);
            prop_assert_eq!(samples[0].configuration(), *on.last().unwrap(), "all contexts first");
        }
    }
}

#[test]
fn climbing_crosses_to_one_thread_a_core() {
    // Siblings only get in each other's way, and four cores saturate memory.
    let time = |on: Configuration| {
        let cores = f64::from(on.cores().unwrap());
        let sibling = f64::from(on.per_core().unwrap() - 1);
        1.0 / cores.min(4.0) + 0.01 * cores + 0.2 * sibling
    };
    let lattice = (1..=8)
        .flat_map(|cores| [1, 2].map(|per_core| Configuration::on_cores(cores, per_core).unwrap()));
    let search = HillClimb::new(lattice.collect()).unwrap();
    let (decision, _) = follow(&search, |on| Sample::new(on, time(on)).unwrap());
    assert_eq!(decision, on("4x1"));
}

#[test]
fn samples_from_elsewhere_are_refused() {
    let search = HillClimb::new(up_to(4)).unwrap();
    let error = search.step(&[Sample::new(on("5"), 1.0).unwrap()]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(error.to_string(), "a sample at 5: this machine's configurations are 1, 2, 3, 4");
    assert_eq!(HillClimb::new(Vec::new()).unwrap_err().kind(), ErrorKind::Empty);
}

#[test]
fn what_was_seen_is_used_and_nothing_asked_for_once_something_was() {
    let seen = BestSeen::new(up_to(4)).unwrap();
    assert!(
        matches!(seen.step(&[]).unwrap(), Step::Sample { configuration, .. } if configuration == on("4"))
    );
    let samples = [
        Sample::new(on("4"), 3.0).unwrap(),
        Sample::new(on("2"), 2.0).unwrap(),
        // The mean of the two at 4 is 1.9.
        Sample::new(on("4"), 0.8).unwrap(),
    ];
    assert_eq!(seen.step(&samples).unwrap().configuration(), on("4"));
    let forecasts = seen.forecast(&samples).unwrap();
    assert_eq!(forecasts.len(), 2);
    assert!(forecasts.iter().all(|one| one.measured));
}

#[test]
fn configurations_and_samples_refuse_nonsense() {
    for text in ["0", "-1", "1.5", "", "x", "0x2", "2x0", "70000", "60000x60000", "4x2x1"] {
        let error = text.parse::<Configuration>().unwrap_err();
        assert!(
            error.to_string().contains("is not a configuration: write 12 (threads)"),
            "{error}"
        );
    }
    for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Sample::new(on("1"), seconds).is_err(), "{seconds}");
    }
    for count in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(Sample::new(on("1"), 1.0).unwrap().with("branches", count).is_err(), "{count}");
    }
}
