//! Real pools on this machine.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use pacman_adapt::predict::{Configuration, Forecast, Predictor, Sample, Step};
use pacman_adapt::{Actuator, Adapter};
use pacman_core::{ErrorKind, Session, Topology};
use pacman_rayon::AdaptivePool;

fn here() -> Topology {
    Topology::detect().expect("a machine")
}

#[test]
fn every_worker_of_every_size_runs_on_its_own_context() {
    let pool = AdaptivePool::new(Adapter::builder(here())).unwrap();
    let candidates = pool.adapter().candidates();
    for &on in candidates.all() {
        let cpus = Mutex::new(BTreeSet::new());
        pool.install_at(on, || {
            rayon::broadcast(|_| {
                let cpu = pacman_core::topology::current_cpu().expect("a cpu");
                cpus.lock().unwrap().insert(cpu);
            })
        })
        .unwrap();
        let places = pool.adapter().places(on).unwrap();
        let expected: BTreeSet<u32> = places.iter().map(|place| place.cpu()).collect();
        assert_eq!(cpus.into_inner().unwrap(), expected, "{on}");
    }
    assert_eq!(pool.trouble(), Vec::<String>::new());
}

#[test]
fn a_session_has_a_row_for_each_worker() {
    let session = Session::builder("pools").events("task-clock").start().unwrap();
    let builder = Adapter::builder(here()).break_even(Duration::from_secs(3600));
    let pool = AdaptivePool::counted(builder, session.clone()).unwrap();
    let phase = pool.phase("sum").unwrap();
    let total: u64 = (0..3)
        .map(|_| phase.run(|| rayon::broadcast(|_| 1u64).into_iter().sum::<u64>()).unwrap())
        .sum();
    let workers = pool.adapter().candidates().default().threads();
    assert_eq!(total, 3 * u64::from(workers));
    let report = session.report();
    assert_eq!(report.threads.len(), workers as usize);
    for thread in &report.threads {
        assert_eq!(thread.phases[0].executions, 3);
    }
}

#[test]
fn results_come_back_and_panics_come_through() {
    let pool = AdaptivePool::new(Adapter::builder(here())).unwrap();
    let phase = pool.phase("work").unwrap();
    assert_eq!(phase.run(|| "done").unwrap(), "done");
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        phase.run(|| -> () { panic!("on purpose") })
    }));
    assert!(panicked.is_err());
    assert_eq!(phase.run(|| "again").unwrap(), "again");
}

#[test]
fn a_pool_is_an_actuator() {
    let pool = AdaptivePool::new(Adapter::builder(here())).unwrap();
    let places = pool.adapter().places(pool.adapter().candidates().default()).unwrap();
    let numbers = Mutex::new(BTreeSet::new());
    let work = |number| {
        numbers.lock().unwrap().insert(number);
    };
    pool.run(&places, &work).unwrap();
    assert_eq!(numbers.into_inner().unwrap(), (0..places.len()).collect());
}

/// The description of a model for four threads.
#[derive(Debug)]
struct Trained([Configuration; 1]);

impl Predictor for Trained {
    fn configurations(&self) -> &[Configuration] {
        &self.0
    }

    fn step(&self, _: &[Sample]) -> pacman_adapt::Result<Step> {
        Ok(Step::Decide { configuration: self.0[0], why: "the only one".into() })
    }

    fn forecast(&self, _: &[Sample]) -> pacman_adapt::Result<Vec<Forecast>> {
        Ok(Vec::new())
    }

    fn reference(&self) -> Option<Configuration> {
        Some(self.0[0])
    }
}

#[test]
fn a_model_for_more_threads_than_the_pool_may_have_is_refused() {
    let machine = || Adapter::builder(Topology::synthetic("4 cores").unwrap());
    let model = || Trained([Configuration::on_cores(4, 1).unwrap()]);
    let refused = AdaptivePool::new(machine().predictor(model()).max_threads(2)).err();
    let error = refused.expect("two threads are fewer than four");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("it predicts from 4x1"), "{error}");
    AdaptivePool::new(machine().predictor(model())).unwrap();
}
