//! Busy and idle times of real workers.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pacman_adapt::Adapter;
use pacman_core::{ErrorKind, Session, Topology};
use pacman_rayon::{AdaptivePool, worker_times};

/// A pool that stays on all contexts, counted by a session of this name and these events.
fn pool(name: &str, events: &str) -> (AdaptivePool, Session) {
    let session = Session::builder(name).events(events).start().unwrap();
    let topology = Topology::detect().expect("a machine");
    let builder = Adapter::builder(topology).break_even(Duration::from_secs(3600));
    (AdaptivePool::counted(builder, session.clone()).unwrap(), session)
}

fn spin(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        black_box(());
    }
}

#[test]
fn one_long_task_leaves_the_other_workers_idle() {
    let (pool, session) = pool("one", "task-clock,context-switches");
    let workers = pool.adapter().candidates().default().threads();
    if workers < 2 {
        return pacman_suite::skipped("one processor has one worker");
    }
    let long = pool.phase("long").unwrap();
    long.run(|| spin(Duration::from_millis(300))).unwrap();
    assert_eq!(pool.trouble(), Vec::<String>::new());
    let mut times = worker_times(&session.report(), "long").unwrap();
    assert_eq!(times.len(), workers as usize);
    times.sort_by_key(|worker| worker.busy);
    let (busiest, others) = times.split_last().unwrap();
    for worker in others {
        assert!(worker.busy * 4 < busiest.busy, "{worker:?}, and the busiest {busiest:?}");
        assert!(worker.idle > worker.busy, "{worker:?}");
    }
    for worker in &times {
        // All take part from the begin to the end of the execution.
        assert!(worker.busy + worker.idle > Duration::from_millis(290), "{worker:?}");
        assert_eq!(worker.executions, 1);
        assert!(worker.place.is_some(), "{worker:?}");
        let clock = worker.counts.iter().find(|(event, _)| event == "task-clock").unwrap();
        assert_eq!(u128::from(clock.1), worker.busy.as_nanos(), "{worker:?}");
        assert_eq!(worker.counts.len(), 2);
    }
}

#[test]
fn work_for_all_keeps_all_busy() {
    let (pool, session) = pool("all", "task-clock");
    let even = pool.phase("even").unwrap();
    // Each worker has to have run so long, whatever else the machine does.
    even.run(|| drop(rayon::broadcast(|_| spin(Duration::from_millis(100))))).unwrap();
    for worker in worker_times(&session.report(), "even").unwrap() {
        assert!(worker.busy > Duration::from_millis(10), "{worker:?}");
    }
}

/// Executions that last less than reading the counters: the report has the time that was counted, and by
/// how much it is too large.
#[test]
fn busy_time_beyond_the_executions_is_reported() {
    let (pool, session) = pool("tiny", "task-clock");
    let tiny = pool.phase("tiny").unwrap();
    for _ in 0..200 {
        tiny.run(|| ()).unwrap();
    }
    let report = session.report();
    for worker in worker_times(&report, "tiny").unwrap() {
        let row = report.threads.iter().find(|thread| thread.name.as_ref() == Some(&worker.worker));
        let row = &row.expect("a worker has a row").phases[0];
        let wall = Duration::from_nanos(row.time.sum);
        assert_eq!(worker.busy.as_nanos(), u128::from(row.counts[0].raw.sum), "{worker:?}");
        assert_eq!(worker.busy + worker.idle, wall + worker.excess, "{worker:?}");
        assert!(worker.idle.is_zero() || worker.excess.is_zero(), "{worker:?}");
    }
}

#[test]
fn an_observer_without_busy_time_is_an_error() {
    let (pool, session) = pool("blind", "context-switches");
    pool.phase("short").unwrap().run(|| ()).unwrap();
    let error = worker_times(&session.report(), "short").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Empty);
    assert!(error.to_string().contains("does not count task-clock"), "{error}");
}

#[test]
fn an_unknown_phase_is_an_error() {
    let (pool, session) = pool("unknown", "task-clock");
    pool.phase("short").unwrap().run(|| ()).unwrap();
    let error = worker_times(&session.report(), "shorter").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().ends_with("it has short"), "{error}");
}
