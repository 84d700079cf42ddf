//! Faults of programs and machines: the program keeps running.

use std::sync::Arc;
use std::time::Duration;

use pacman_adapt::ErrorKind;
use pacman_adapt::predict::{Configuration, Forecast, HillClimb, Predictor, Sample, Step};
use pacman_adapt::{Adapter, Candidates, Objective, Rules, State};
use proptest::prelude::*;

use super::{controller, machine, on, run};

#[test]
fn times_that_are_none_are_left_out_and_three_turn_adaptation_off() {
    let mut phase = controller("8 cores", Rules::default());
    for seconds in [f64::NAN, 0.0] {
        let error = phase.finished(on("8x1"), seconds, seconds).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
    assert_eq!((phase.state(), phase.account().executions()), (State::Sampling, 0));
    phase.finished(on("8x1"), 1.0, 1.0).unwrap();
    for seconds in [f64::INFINITY, -1.0, 0.0] {
        phase.finished(on("8x1"), seconds, seconds).unwrap_err();
    }
    assert_eq!((phase.state(), phase.next()), (State::Off, on("8x1")));
    run(&mut phase, 100, |on| 1.0 / f64::from(on.threads().min(2)) + f64::from(on.threads()));
    assert_eq!(phase.next(), on("8x1"), "{}", phase.why());
    assert!(phase.why().contains("no valid time"));
}

#[test]
fn configurations_that_the_machine_lacks_are_refused() {
    let refusal = |builder: pacman_adapt::Builder| builder.build().unwrap_err().kind();
    let four = || Adapter::builder(machine("4 cores"));
    let foreign = HillClimb::new(vec![on("4x1"), on("4x2")]).unwrap();
    assert_eq!(refusal(four().predictor(foreign)), ErrorKind::NoSuchPlace);
    assert_eq!(refusal(four().max_threads(0)), ErrorKind::InvalidInput);
    assert_eq!(refusal(four().max_smt_gain(f64::NAN)), ErrorKind::InvalidInput);
    let mut phase = controller("4 cores", Rules::default());
    let error = phase.finished(on("16x4"), 1.0, 1.0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoSuchPlace);
    let narrow = Candidates::new(vec![on("1"), on("2")], on("1")).unwrap_err();
    assert_eq!(narrow.kind(), ErrorKind::InvalidInput);
}

#[test]
fn placements_that_the_machine_lacks_are_refused() {
    let build = |text: &str, placement: &str, limit: Option<usize>| {
        let builder = Adapter::builder(machine(text)).placement(placement.parse().unwrap());
        limit.into_iter().fold(builder, |builder, threads| builder.max_threads(threads)).build()
    };
    for (text, placement) in [
        ("4 cores, 2 threads", "siblings-together"),
        ("4 cores, 2 threads", "one-per-core"),
        ("2 p-cores, 2 threads, 4 e-cores", "scatter"),
        ("2 cores", "1,0"),
    ] {
        build(text, placement, None).unwrap_or_else(|error| panic!("{placement}: {error}"));
    }
    build("4 cores", "1,0", Some(2)).expect("as many as there are");
    for (text, placement, line) in [
        ("2 cores", "0-5", "cannot place a thread on cpu 2: "),
        (
            "2 cores",
            "siblings-together",
            "cannot place threads siblings-together: no core that this process may use has two contexts; use compact",
        ),
        (
            "4 cores",
            "1,0",
            "cannot place 3x1 1,0: 2 cores there have 1 or more contexts that the process may use; choose another",
        ),
    ] {
        let error = build(text, placement, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoSuchPlace, "{error}");
        assert!(error.to_string().starts_with(line), "{error}");
    }
}

#[test]
fn a_predictor_that_needs_counts_is_refused() {
    /// Searches, and asks for what no adapter measures.
    #[derive(Debug)]
    struct Counting(HillClimb);

    impl Predictor for Counting {
        fn configurations(&self) -> &[Configuration] {
            self.0.configurations()
        }
        fn step(&self, samples: &[Sample]) -> pacman_adapt::Result<Step> {
            self.0.step(samples)
        }
        fn forecast(&self, samples: &[Sample]) -> pacman_adapt::Result<Vec<Forecast>> {
            self.0.forecast(samples)
        }
        fn needs_counts(&self) -> Vec<String> {
            vec!["INSTRUCTIONS".to_owned(), "CYCLES".to_owned()]
        }
    }

    let search = || HillClimb::new(vec![on("1x1"), on("2x1"), on("4x1")]).unwrap();
    let build = |builder: pacman_adapt::Builder| builder.build();
    build(Adapter::builder(machine("4 cores")).predictor(search())).unwrap();
    // Also behind a pointer, as models come.
    for refused in [
        build(Adapter::builder(machine("4 cores")).predictor(Counting(search()))),
        build(Adapter::builder(machine("4 cores")).predictor(Arc::new(Counting(search())))),
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("counts of INSTRUCTIONS, CYCLES, and"), "{error}");
    }
}

#[test]
fn energy_is_refused_where_it_cannot_be_read() {
    let without = pacman_adapt::Rapl::under(std::path::Path::new("/nowhere")).unwrap_err();
    assert_eq!(without.kind(), ErrorKind::Unsupported);
    assert!(without.to_string().contains("measure time instead"), "{without}");
    if !std::path::Path::new("/sys/class/powercap").exists() {
        let adapter =
            Adapter::builder(machine("4 cores")).objective(Objective::EnergyDelay).build();
        assert_eq!(adapter.unwrap_err().kind(), ErrorKind::Unsupported);
    }
}

#[test]
fn contexts_that_go_take_their_configurations_along() {
    let adapter = Adapter::builder(machine("8 cores, 2 threads"))
        .max_smt_gain(0.45)
        .break_even(Duration::ZERO)
        .build()
        .unwrap();
    let phase = adapter.phase("phase").unwrap();
    let step = || {
        let choice = phase.begin();
        let millis = 100 * u64::from(choice.configuration().per_core().unwrap())
            + 400 / choice.threads() as u64;
        phase.end(choice, Duration::from_millis(millis)).unwrap();
    };
    (0..100).for_each(|_| step());
    assert_eq!(phase.begin().configuration(), on("8x1"));
    let stale = phase.begin();
    let dropped = adapter.machine_changed(machine("4 cores, 2 threads")).unwrap();
    assert!(dropped.contains(&on("8x1")) && !dropped.contains(&on("4x1")), "{dropped:?}");
    assert!(phase.why().contains("8x1"), "{}", phase.why());
    let error = phase.end(stale, Duration::from_millis(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoSuchPlace);
    assert_eq!(phase.begin().configuration(), on("4x2"), "the new default");
    (0..100).for_each(|_| step());
    assert_eq!(phase.begin().configuration(), on("4x1"));
    assert_eq!(adapter.machine_changed(machine("4 cores, 2 threads")).unwrap(), []);
}

#[test]
fn configurations_that_lose_their_places_go_too() {
    let adapter = |order: &str, threads: usize| {
        Adapter::builder(machine("8 cores"))
            .max_threads(threads)
            .placement(order.parse().unwrap())
            .break_even(Duration::ZERO)
            .build()
            .unwrap()
    };
    let all = adapter("4,5,3,2,6,7,1,0", 8);
    let phase = all.phase("phase").unwrap();
    let places = |text: &str| -> Vec<u32> {
        all.places(on(text)).unwrap().iter().map(|place| place.cpu()).collect()
    };
    assert_eq!((phase.begin().configuration(), places("2x1")), (on("8x1"), vec![4, 5]));
    let dropped = all.machine_changed(machine("4 cores")).unwrap();
    assert!(dropped.contains(&on("8x1")) && !dropped.contains(&on("4x1")), "{dropped:?}");
    assert_eq!(phase.begin().configuration(), on("4x1"));
    assert_eq!((places("2x1"), places("4x1")), (vec![3, 2], vec![3, 2, 1, 0]), "in its order");
    // A member that comes back has its place again.
    all.machine_changed(machine("8 cores")).unwrap();
    assert_eq!(places("8x1"), [4, 5, 3, 2, 6, 7, 1, 0]);

    // Four cores are left, and of those that were named one, and then none.
    let two = adapter("5,3", 2);
    let phase = two.phase("phase").unwrap();
    two.machine_changed(machine("4 cores")).unwrap();
    assert_eq!(phase.begin().configuration(), on("1x1"), "{}", phase.why());
    let error = two.machine_changed(machine("2 cores")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Empty, "{error}");
    assert_eq!(phase.begin().configuration(), on("1x1"), "as it was");
}

/// Costs at and near the limits of what a clock or a meter may give.
const EXTREMES: [f64; 10] =
    [0.0, -1.0, 5e-324, 1e-300, 1e-9, 1.0, 1e12, 1e300, f64::INFINITY, f64::NAN];

proptest! {
    #[test]
    fn extreme_costs_never_panic(draws in prop::collection::vec((0..10usize, 0..10usize, 0..5u8), 1..400)) {
        let mut controller = controller("4 cores, 2 threads", Rules::default());
        for (cost, other, what) in draws {
            let (on, cost, other) = (controller.next(), EXTREMES[cost], EXTREMES[other]);
            match what {
                0 => drop(controller.finished(on, cost, other)),
                1 => drop(controller.finished_together(on, &[cost, other, cost])),
                2 => controller.outlier(on, cost),
                3 => controller.defer_cost(on, cost, other > 1.0),
                _ => drop(controller.finished(on, cost, cost)),
            }
            prop_assert!(!controller.why().is_empty());
        }
    }
}
