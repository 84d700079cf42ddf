//! Options for events that do not fit, where they do fit: software needs no counters.

use pacman_core::backend::Reading;
use pacman_core::session::{EventSetRotation, Sample};
use pacman_core::{ErrorKind, Session};

#[test]
fn events_that_fit_take_no_turns() {
    let session = Session::builder("no epochs")
        .events("task-clock,page-faults,context-switches")
        .rotate_event_sets(EventSetRotation::Staggered)
        .log(4)
        .start()
        .unwrap();
    assert_eq!(session.sets().len(), 1);
    assert_eq!(session.sets()[0].events, [0, 1, 2]);
    let thread = session.attach().unwrap();
    let (mut first, mut last) = (Sample::EMPTY, Sample::EMPTY);
    thread.sample(&mut first).unwrap();
    thread.run(session.phase("work").unwrap(), || ()).unwrap();
    thread.sample(&mut last).unwrap();
    thread.read(&mut Reading::EMPTY.clone()).unwrap();
    assert_eq!(last.counted_since(&first, 0), Some(last.count_since(&first, 0)));
    assert!((0..3).all(|event| last.is_counted(event)));
    assert_eq!(last.epoch(), 0);
    let latest = session.peer(0).unwrap().latest().unwrap();
    assert!(latest.is_counted(2) && latest.epoch() == 0);
    let report = session.report();
    assert_eq!((report.rotation, report.sets.len()), (None, 1));
    let row = &report.threads[0].phases[0];
    assert!(row.counts.iter().all(|count| count.samples == 1 && count.scaled.is_none()));
    assert_eq!((row.sets.len(), row.sets[0].executions), (1, 1));
    let logged = &report.threads[0].log[0];
    assert_eq!((logged.set, logged.count(&report, 0)), (0, Some(row.counts[0].raw.sum)));
    assert_eq!(logged.count(&report, 3), None, "there is no such event");
}

#[test]
fn two_ways_of_taking_turns_are_one_too_many() {
    let error = Session::builder("both ways")
        .events("task-clock")
        .multiplexed()
        .rotate_event_sets(EventSetRotation::PerExecution)
        .start()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(
        error.to_string(),
        "cannot rotate event sets and be multiplexed in session \"both ways\": estimates of \
         estimates mean nothing; choose one"
    );
}
