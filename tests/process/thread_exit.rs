//! Threads that end without detaching, or by a panic: nothing stays behind, and
//! the report says what happened.

use pacman_core::Session;
use pacman_core::report::ThreadState;
use pacman_suite::process::perf_descriptors;

#[test]
fn ended_threads_leave_nothing_but_their_counts() {
    let session = Session::builder("exit").events("task-clock,page-faults").start().unwrap();
    let (work, doomed) = (session.phase("work").unwrap(), session.phase("doomed").unwrap());
    let held = perf_descriptors();

    std::thread::scope(|scope| {
        // Joined by hand: a scope waits for what threads do, not for their ends.
        let mut threads = Vec::new();
        // Leaves its attachment with the thread and ends.
        threads.push(scope.spawn(|| {
            session.attach_current_thread().unwrap();
            session.begin(work).unwrap();
            session.end(work).unwrap();
        }));
        // Ends inside a phase.
        threads.push(scope.spawn(|| {
            session.attach_current_thread().unwrap();
            session.begin(doomed).unwrap();
        }));
        // Panics inside a guarded phase.
        let panicked = scope.spawn(|| {
            let thread = session.attach().unwrap();
            let _inside = thread.enter(doomed).unwrap();
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert!(panicked.join().is_err());
        // Detaches as it should.
        threads.push(scope.spawn(|| {
            session.attach_current_thread().unwrap();
            session.begin(work).unwrap();
            session.end(work).unwrap();
            session.detach_current_thread().unwrap();
        }));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });

    assert_eq!(perf_descriptors(), held, "no thread's group is left");
    let report = session.report();
    assert_eq!(report.threads.len(), 4);
    let mut states: Vec<ThreadState> = report.threads.iter().map(|t| t.state).collect();
    states.sort_by_key(|state| *state as u8);
    assert_eq!(
        states,
        [ThreadState::Detached, ThreadState::Detached, ThreadState::Exited, ThreadState::Exited]
    );
    let executions = |name: &str| -> (u64, u64) {
        let phase = report.phases.iter().position(|p| p == name).unwrap();
        let rows = report.threads.iter().flat_map(|t| &t.phases).filter(|p| p.phase == phase);
        rows.fold((0, 0), |(n, panics), row| (n + row.executions, panics + row.panics))
    };
    assert_eq!(executions("work"), (2, 0));
    assert_eq!(executions("doomed"), (1, 1), "the panicked execution is counted, and as such");
    let notes: Vec<&String> = report.threads.iter().flat_map(|t| &t.notes).collect();
    assert_eq!(notes, ["detached inside phase \"doomed\": that execution is not counted"]);
    drop(session);
    assert_eq!(perf_descriptors().len(), 0);
}
