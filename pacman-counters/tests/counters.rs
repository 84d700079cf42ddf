//! Counting by name, on machines whose counts are known.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use pacman_core::Session;
use pacman_counters::{Counters, ErrorKind};
use pacman_sim::Machine;

fn on(name: &str, machine: &Machine, events: &str) -> Counters {
    Session::builder(name).on(machine).events(events).start().expect("it counts").into()
}

#[test]
fn counts_are_those_of_the_work() {
    let machine = Machine::scripted("haswell").expect("a machine");
    let pmu = on("work", &machine, "INSTRUCTIONS,CYCLES");
    let value = pmu.count("outer", || {
        machine.execute(1_000);
        pmu.count("inner", || machine.execute(500));
        pmu.count("inner", || machine.execute(500));
        7
    });
    assert_eq!(value, 7);
    thread::scope(|all| {
        all.spawn(|| pmu.count("outer", || machine.execute(3_000)));
    });
    let report = pmu.report();
    let outer = report.get("outer", "instructions").expect("the name in small letters");
    assert_eq!((outer.sum(), outer.executions(), outer.is_estimated()), (5_000, 2, false));
    assert_eq!(outer.threads().collect::<Vec<_>>(), [(0, 2_000), (1, 3_000)]);
    let inner = report.get("inner", "INSTRUCTIONS").expect("counted");
    assert_eq!((inner.sum(), inner.executions()), (1_000, 2));
    assert!(pmu.to_string().contains("inner"), "{pmu}");
}

#[test]
fn a_panic_ends_its_execution() {
    let machine = Machine::scripted("skylake").expect("a machine");
    let pmu = on("panic", &machine, "INSTRUCTIONS");
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        pmu.count("work", || {
            machine.execute(100);
            panic!("as a test has it");
        })
    }));
    assert!(panicked.is_err());
    pmu.count("work", || machine.execute(10));
    let work = pmu.report().get("work", "INSTRUCTIONS").expect("counted");
    assert_eq!((work.sum(), work.executions()), (110, 2));
}

#[test]
fn figures_that_are_not_there_are_errors_that_say_so() {
    let pmu = Counters::start("task-clock").expect("the kernel counts it");
    let none = pmu.report().get("sweep", "task-clock").expect_err("no phase ran");
    assert_eq!(none.kind(), ErrorKind::InvalidInput);
    assert!(none.to_string().ends_with("no finished phase \"sweep\"; there is nothing"), "{none}");
    pmu.count("sweep", || ());
    let other = pmu.report().get("swoop", "task-clock").expect_err("no such phase");
    assert!(other.to_string().ends_with("there is sweep"), "{other}");
    let other = pmu.report().get("sweep", "CYCLES").expect_err("not counted");
    assert!(other.to_string().ends_with("no event CYCLES; there is task-clock"), "{other}");
    let wrong = Counters::start("page-fault").expect_err("no such event");
    assert_eq!(wrong.kind(), ErrorKind::UnknownEvent);
}

#[test]
fn work_runs_where_nothing_is_counted_and_the_report_says_why() {
    let pmu = Counters::start("task-clock").expect("the kernel counts it");
    assert_eq!(pmu.count("two\nlines", || 7), 7);
    let report = pmu.report();
    assert_eq!(report.threads.iter().map(|one| one.phases.len()).sum::<usize>(), 0);
    assert!(report.notes.iter().any(|note| note.contains("did not count")), "{:?}", report.notes);
}

#[test]
fn the_defaults_are_of_the_machine_or_say_why_not() {
    let pmu = Counters::default_events().expect("every kernel has software events");
    pmu.count("work", || std::hint::black_box((0..100_000u64).sum::<u64>()));
    let report = pmu.report();
    let time = report.get("work", "task-clock").expect("on every machine");
    assert!(time.sum() > 0 && time.executions() == 1);
    let has_counters = report.events.iter().any(|event| event.hardware);
    let says = report.notes.iter().any(|note| note.starts_with("the kernel's events only: "));
    assert!(has_counters != says, "{:?}", report.notes);
}

#[test]
fn counters_of_a_thread_that_had_others_are_its_own() {
    for round in 1..=5 {
        let pmu = Counters::start("task-clock").expect("the kernel counts it");
        (0..round).for_each(|_| pmu.count("same name", || ()));
        assert_eq!(
            pmu.report().get("same name", "task-clock").expect("counted").executions(),
            round
        );
    }
}
