//! Attaching and detaching: at any time, from any thread, with and without places.

use pacman_core::report::ThreadState;
use pacman_core::{Placement, Session, Topology};

use crate::session;

#[test]
fn a_thread_may_come_and_go() {
    let open = session("come-and-go", "task-clock");
    let phase = open.phase("phase").unwrap();
    for round in 0..3 {
        let thread = open.attach().unwrap();
        assert_eq!(thread.number(), round);
        thread.run(phase, || ()).unwrap();
        thread.detach();
    }
    let report = open.report();
    assert_eq!(report.threads.len(), 3);
    assert!(report.threads.iter().all(|t| t.state == ThreadState::Detached && t.tid > 0));
}

#[test]
fn a_thread_takes_part_in_several_sessions() {
    let (one, two) = (session("several-1", "task-clock"), session("several-2", "page-faults"));
    let (a, b) = (one.phase("a").unwrap(), two.phase("b").unwrap());
    one.attach_current_thread().unwrap();
    two.attach_current_thread().unwrap();
    for _ in 0..10 {
        one.begin(a).unwrap();
        two.begin(b).unwrap();
        one.end(a).unwrap();
        two.end(b).unwrap();
    }
    one.detach_current_thread().unwrap();
    two.begin(b).unwrap();
    two.end(b).unwrap();
    two.detach_current_thread().unwrap();
    assert_eq!(one.report().threads[0].phases[0].executions, 10);
    assert_eq!(two.report().threads[0].phases[0].executions, 11);
}

#[test]
fn places_are_handed_out_in_the_placement_s_order_and_come_back() {
    let here = Topology::detect().unwrap();
    let cpus: Vec<u32> = here.allowed().iter().collect();
    let places = Placement::Compact.places(&here, cpus.len()).unwrap();
    let open = Session::builder("placed")
        .events("task-clock")
        .placement(here, Placement::Compact)
        .start()
        .unwrap();
    for _ in 0..2 {
        let all_attached = pacman_suite::Barrier::new(places.len());
        std::thread::scope(|scope| {
            let mut taken: Vec<u32> = (0..places.len())
                .map(|_| {
                    scope.spawn(|| {
                        let thread = open.attach().unwrap();
                        let cpu = thread.place().unwrap().cpu();
                        assert_eq!(pacman_core::topology::current_cpu(), Some(cpu));
                        all_attached.wait();
                        cpu
                    })
                })
                .collect::<Vec<_>>()
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect();
            taken.sort_unstable();
            let mut expected: Vec<u32> = places.iter().map(|place| place.cpu()).collect();
            expected.sort_unstable();
            assert_eq!(taken, expected, "each place once");
        });
    }
    let report = open.report();
    assert!(report.threads.iter().all(|t| t.place.is_some_and(|place| place.bound)));
}

#[test]
fn an_explicit_place_binds_until_the_thread_detaches() {
    let here = Topology::detect().unwrap();
    let before = here.allowed();
    let last = here.allowed().last().unwrap();
    let place = here.place(last).unwrap();
    let open = session("explicit", "task-clock");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let thread = open.attach_at(&place).unwrap();
            assert_eq!(pacman_core::topology::current_cpu(), Some(last));
            drop(thread);
            assert_eq!(Topology::detect().unwrap().allowed(), before, "the old mask is back");
        });
    });
}

#[test]
fn a_pool_s_workers_attach_themselves_once() {
    let open = session("pool", "task-clock");
    let phase = open.phase("task").unwrap();
    let (sender, receiver) = std::sync::mpsc::channel::<u32>();
    let receiver = std::sync::Mutex::new(receiver);
    std::thread::scope(|scope| {
        let work = || {
            loop {
                let task = receiver.lock().unwrap().recv();
                let Ok(task) = task else { break };
                // A task knows nothing of its worker: attach if need be.
                match open.attach_current_thread() {
                    Ok(()) => {}
                    Err(e) => assert_eq!(e.kind(), pacman_core::ErrorKind::AlreadyAttached),
                }
                open.begin(phase).unwrap();
                std::hint::black_box(task);
                open.end(phase).unwrap();
            }
        };
        let workers: Vec<_> = (0..3).map(|_| scope.spawn(work)).collect();
        for task in 0..300 {
            sender.send(task).unwrap();
        }
        drop(sender);
        // Joined by hand: a scope waits for what threads do, not for their ends.
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
    let report = open.report();
    let executions: u64 =
        report.threads.iter().flat_map(|t| &t.phases).map(|row| row.executions).sum();
    assert_eq!(executions, 300);
    assert!(report.threads.len() <= 3);
    assert!(report.threads.iter().all(|t| t.state == ThreadState::Exited));
}
