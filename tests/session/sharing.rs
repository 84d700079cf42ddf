//! Threads that look at each other: slots, ages, reports of running sessions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use pacman_core::session::Sample;
use pacman_suite::Barrier;

use crate::session;

#[test]
fn a_slot_shows_the_latest_boundary_and_its_age() {
    let open = session("slot", "task-clock,page-faults");
    let phase = open.phase("phase").unwrap();
    let (to_owner, orders) = mpsc::channel::<()>();
    let (to_viewer, done) = mpsc::channel::<u64>();
    std::thread::scope(|scope| {
        let owner = &open;
        scope.spawn(move || {
            let thread = owner.attach().unwrap();
            to_viewer.send(thread.number() as u64).unwrap();
            for () in orders {
                thread.run(phase, || ()).unwrap();
                let mut sample = pacman_core::session::Sample::EMPTY;
                thread.sample(&mut sample).unwrap();
                to_viewer.send(sample.count(0)).unwrap();
            }
        });
        let number = done.recv().unwrap() as usize;
        let peer = open.peer(number).unwrap();
        assert!(peer.latest().is_none(), "no boundary yet");
        assert!(peer.is_attached());
        let mut last = 0;
        for _ in 0..100 {
            to_owner.send(()).unwrap();
            let later = done.recv().unwrap();
            let seen = peer.latest().unwrap();
            assert!(seen.count(0) > last, "the task clock of a later boundary");
            assert!(seen.count(0) <= later, "published before it was read again");
            assert!(peer.duration(seen.age()).as_secs() < 60);
            last = seen.count(0);
        }
        drop(to_owner);
    });
    assert!(!open.peer(0).unwrap().is_attached());
    assert!(open.peer(1).is_none());
}

#[test]
fn reports_of_a_running_session_are_whole() {
    const THREADS: usize = 3;
    let open = session("running", "task-clock,page-faults");
    let phase = open.phase("phase").unwrap();
    /// Ends the threads' work when the reports are read, or when one of them is wrong.
    struct Ending<'a>(&'a AtomicBool);
    impl Drop for Ending<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let (go, stop) = (Barrier::new(THREADS + 1), AtomicBool::new(false));
    let deadline = Instant::now() + Duration::from_secs(60);
    let (mut reports, mut executions) = (0, 0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let thread = open.attach().unwrap();
                go.wait();
                while !stop.load(Ordering::Relaxed) {
                    thread.run(phase, || ()).unwrap();
                }
            });
        }
        let _ending = Ending(&stop);
        go.wait();
        while reports < 200 || executions < 1_000 {
            assert!(Instant::now() < deadline, "{reports} reports, {executions} executions");
            let report = open.report();
            assert_eq!(report.threads.len(), THREADS);
            let now: u64 = report
                .threads
                .iter()
                .flat_map(|t| &t.phases)
                .map(|row| {
                    assert!(row.time.min <= row.time.max && row.time.max <= row.time.sum);
                    assert!(row.counts[0].raw.max <= row.counts[0].raw.sum);
                    row.executions
                })
                .sum();
            assert!(now >= executions, "executions never go back");
            (executions, reports) = (now, reports + 1);
        }
    });
}

#[test]
fn debugging_output_fits_on_a_line() {
    let open = session("debug", "task-clock,page-faults");
    let phase = open.phase("phase").unwrap();
    let thread = open.attach().unwrap();
    thread.run(phase, || ()).unwrap();
    let peer = open.peer(0).unwrap();
    let (latest, mut own) = (peer.latest().unwrap(), Sample::EMPTY);
    thread.sample(&mut own).unwrap();
    for text in [
        format!("{open:?}"),
        format!("{thread:?}"),
        format!("{peer:?}"),
        format!("{latest:?}"),
        format!("{own:?}"),
    ] {
        assert!(text.len() < 200, "{} characters: {text}", text.len());
    }
    let count = own.count(0).to_string();
    assert!(format!("{own:?}").contains(&count), "{own:?}");
}
