//! Sessions on a machine whose kernel's driver is not trusted.

use std::sync::Barrier;

use pacman_core::export::{self, TableStyle};
use pacman_core::platform::Processors;
use pacman_core::session::SessionBuilder;
use pacman_core::{ErrorKind, Report, Session};
use pacman_sim::{Fault, Machine};

fn distrusted(machine: &str) -> Machine {
    let machine = Machine::scripted(machine).unwrap();
    machine.distrust_driver();
    machine
}

fn builder(machine: &Machine, name: &str, events: &str) -> SessionBuilder {
    Session::builder(name).on(machine).events(events)
}

fn refusal(builder: SessionBuilder) -> pacman_core::Error {
    builder.start().map(drop).unwrap_err()
}

fn written(report: &Report) -> [String; 3] {
    let mut texts = [Vec::new(), Vec::new(), Vec::new()];
    let [table, csv, json] = &mut texts;
    export::table(report, &TableStyle::default(), table).unwrap();
    export::csv(report, csv).unwrap();
    export::json(report, json).unwrap();
    texts.map(|text| String::from_utf8(text).unwrap())
}

/// The calling thread's id.
fn tid() -> i32 {
    // SAFETY: gettid takes nothing and cannot fail.
    unsafe { libc::gettid() }
}

#[test]
fn threads_without_a_placement_count_by_registers_on_a_context_of_their_own() {
    let machine = distrusted("p4");
    let before = machine.registers_in_use();
    let session =
        builder(&machine, "own context", "INSTRUCTIONS,task-clock,CYCLES").start().unwrap();
    let work = session.phase("work").unwrap();
    let together = Barrier::new(4);
    let cpus: Vec<u32> = std::thread::scope(|scope| {
        let thread = |number: u64| {
            let (machine, session, together) = (&machine, &session, &together);
            scope.spawn(move || {
                let home = machine.cpu_of(tid());
                let thread = session.attach().unwrap();
                let bound = thread.place().expect("bound while it is attached").cpu();
                assert_eq!(machine.cpu_of(tid()), Some(bound));
                together.wait();
                for _ in 0..10 {
                    thread.run(work, || machine.execute(1000 * (number + 1))).unwrap();
                }
                together.wait();
                drop(thread);
                assert_eq!(machine.cpu_of(tid()), home, "its place is given back");
                bound
            })
        };
        let threads: Vec<_> = (0..4).map(thread).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut each = cpus.clone();
    each.sort_unstable();
    assert_eq!(each, [0, 1, 2, 3], "a context each");
    let report = session.report();
    let mut counted: Vec<u64> =
        report.threads.iter().map(|thread| thread.phases[0].counts[0].raw.sum).collect();
    counted.sort_unstable();
    assert_eq!(counted, [10_000, 20_000, 30_000, 40_000]);
    assert!(report.events.iter().all(|event| event.doubt.is_none()));
    assert!(report.notes[0].starts_with("each thread was bound to one hardware context"));
    drop(session);
    assert_eq!(machine.registers_in_use(), before);
}

#[test]
fn more_threads_than_contexts_are_refused() {
    let machine = distrusted("p4");
    let session = builder(&machine, "crowd", "INSTRUCTIONS").start().unwrap();
    let together = Barrier::new(5);
    let refused: Vec<ErrorKind> = std::thread::scope(|scope| {
        let thread = || {
            scope.spawn(|| {
                let first = session.attach();
                together.wait();
                first.err().map(|error| error.kind())
            })
        };
        let threads: Vec<_> = (0..5).map(|_| thread()).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(refused, [ErrorKind::NoSuchPlace]);
    session.attach().unwrap();
}

#[test]
fn without_registers_hardware_is_refused_and_software_is_not() {
    let machine = distrusted("p4");
    for (errno, kind, remedy) in [
        (libc::EACCES, ErrorKind::Permission, "run as root"),
        (libc::ENOENT, ErrorKind::Unsupported, "modprobe msr"),
    ] {
        machine.inject_fault(0, Fault::Errno(errno));
        let error = refusal(builder(&machine, "no registers", "task-clock,INSTRUCTIONS"));
        assert_eq!(error.kind(), kind);
        let said = error.to_string();
        for part in ["cannot count INSTRUCTIONS: ", "/dev/cpu/0/msr says", remedy, "TRUST_DRIVER=1"]
        {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(machine.met_all_faults());
    }
    let shared = builder(&machine, "shared", "INSTRUCTIONS").multiplexed();
    assert_eq!(refusal(shared).kind(), ErrorKind::Unsupported);
    let session = builder(&machine, "software", "task-clock").start().unwrap();
    assert!(session.attach().unwrap().place().is_none(), "software events bind no thread");
}

#[test]
fn counts_of_the_driver_are_marked_wherever_they_are_shown() {
    let machine = distrusted("p4");
    let session =
        builder(&machine, "marked", "INSTRUCTIONS,task-clock").trust_driver().start().unwrap();
    let thread = session.attach().unwrap();
    assert!(thread.caps().doubt.is_some() && thread.place().is_none());
    thread.run(session.phase("work").unwrap(), || machine.execute(1000)).unwrap();
    let report = session.report();
    let doubts: Vec<bool> = report.events.iter().map(|event| event.doubt.is_some()).collect();
    assert_eq!(doubts, [true, false]);
    let [table, csv, json] = written(&report);
    for (text, mark) in [
        (&table, "INSTRUCTIONS?"),
        (&table, "?  may be wrong, and the rates made of it: this machine's driver is set to be"),
        (&csv, "INSTRUCTIONS? [instructions],INSTRUCTIONS? min [instructions]"),
        (&json, r#""doubt":"this machine's driver is set to be wrong""#),
    ] {
        assert!(text.contains(mark), "{mark}:\n{text}");
    }
    assert!(csv.contains(",task-clock [ns],"), "{csv}");
}

#[test]
fn sets_take_turns_by_registers_too() {
    use pacman_core::session::EventSetRotation;
    let machine = distrusted("haswell");
    let session = builder(&machine, "turns", "r0108,r0149,r0151,r01c4,r01c5,INSTRUCTIONS")
        .rotate_event_sets(EventSetRotation::PerExecution)
        .start()
        .unwrap();
    assert!(session.sets().len() > 1);
    let (thread, work) = (session.attach().unwrap(), session.phase("work").unwrap());
    assert!(thread.place().is_some());
    for _ in 0..6 {
        thread.run(work, || machine.execute(1000)).unwrap();
    }
    let row = &session.report().threads[0].phases[0];
    assert_eq!((row.executions, row.counts[5].raw.sum), (6, 6000));
}
