//! Spans on a simulated machine, whose counters count everywhere.

use std::sync::{Arc, Barrier, Once};

use pacman_core::report::PhaseReport;
use pacman_core::{Report, Session};
use pacman_tracing::{Failures, PhaseLayer};
use tracing::{Dispatch, Span, info_span};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::prelude::*;

fn session(name: &str) -> Session {
    static MACHINE: Once = Once::new();
    MACHINE.call_once(|| pacman_sim::simulate("zen4").expect("it is built in"));
    Session::builder(name).events("INSTRUCTIONS,task-clock").start().expect("it counts everywhere")
}

fn observed(session: &Session) -> (Dispatch, Failures) {
    let layer = PhaseLayer::new(session);
    let failures = layer.failures();
    (Dispatch::new(tracing_subscriber::registry().with(layer)), failures)
}

fn work() -> u64 {
    (0..200_000u64).fold(1, |sum, number| std::hint::black_box(sum + number))
}

/// The executions of a phase on each thread that has it, by the thread's number.
fn executions(report: &Report, name: &str) -> Vec<(usize, u64)> {
    of(report, name).map(|(thread, phase)| (thread, phase.executions)).collect()
}

fn of<'a>(report: &'a Report, name: &str) -> impl Iterator<Item = (usize, &'a PhaseReport)> {
    let number = report.phases.iter().position(|phase| phase == name).expect("it is a phase");
    report.threads.iter().flat_map(move |thread| {
        let phases = thread.phases.iter().filter(move |phase| phase.phase == number);
        phases.map(|phase| (thread.number, phase))
    })
}

#[test]
fn spans_nest_and_each_has_its_own_counts() {
    let session = session("nested");
    let (dispatch, failures) = observed(&session);
    tracing::dispatcher::with_default(&dispatch, || {
        for _ in 0..3 {
            let _outer = info_span!("outer", field = 1).entered();
            work();
            info_span!("inner").in_scope(work);
        }
    });
    let report = session.report();
    assert_eq!(executions(&report, "outer"), [(0, 3)]);
    assert_eq!(executions(&report, "inner"), [(0, 3)]);
    let sum =
        |name: &str, event: usize| of(&report, name).next().expect("ran").1.counts[event].raw.sum;
    assert!(sum("inner", 0) > 0, "{report:?}");
    assert!(sum("outer", 0) > sum("inner", 0), "the outer span has the inner one's counts as well");
    assert_eq!((failures.count(), failures.first()), (0, None));
}

#[test]
fn a_span_counts_on_the_thread_that_enters_it() {
    let session = session("threads");
    let (dispatch, failures) = observed(&session);
    // Made on this thread, and entered on two others at the same time and here last.
    let span = tracing::dispatcher::with_default(&dispatch, || info_span!("moved"));
    let both = Arc::new(Barrier::new(2));
    let threads: Vec<_> = (0..2)
        .map(|turns| {
            let (span, both): (Span, _) = (span.clone(), Arc::clone(&both));
            std::thread::spawn(move || {
                let entered = span.enter();
                both.wait();
                (0..=turns).for_each(|_| assert!(work() > 0));
                drop(entered);
                span.in_scope(work)
            })
        })
        .collect();
    for thread in threads {
        assert!(thread.join().expect("it works") > 0);
    }
    span.in_scope(work);
    let report = session.report();
    let mut each: Vec<u64> = executions(&report, "moved").into_iter().map(|one| one.1).collect();
    each.sort_unstable();
    assert_eq!(each, [1, 2, 2], "{report:?}");
    assert!(of(&report, "moved").all(|(_, phase)| phase.open == 0 && phase.counts[0].raw.sum > 0));
    assert_eq!(failures.count(), 0, "{:?}", failures.first());
}

#[test]
fn spans_may_end_in_another_order() {
    let session = session("order");
    let (dispatch, failures) = observed(&session);
    tracing::dispatcher::with_default(&dispatch, || {
        let (first, second) = (info_span!("first"), info_span!("second"));
        let (one, two) = (first.enter(), second.enter());
        drop(one);
        work();
        drop(two);
    });
    let report = session.report();
    assert_eq!(executions(&report, "first"), [(0, 1)]);
    assert_eq!(executions(&report, "second"), [(0, 2)], "it was interrupted once");
    assert!(of(&report, "second").all(|(_, phase)| phase.open == 0));
    assert_eq!(failures.count(), 0, "{:?}", failures.first());
}

#[test]
fn layers_have_sessions_and_filters_of_their_own() {
    let (all, some) = (session("all"), session("some"));
    let subscriber = tracing_subscriber::registry()
        .with(PhaseLayer::new(&all))
        .with(PhaseLayer::new(&some).with_filter(LevelFilter::INFO));
    tracing::subscriber::with_default(subscriber, || {
        info_span!("coarse").in_scope(|| tracing::debug_span!("fine").in_scope(work));
    });
    assert_eq!(all.report().phases, ["coarse", "fine"]);
    let report = some.report();
    assert_eq!(report.phases, ["coarse"]);
    assert_eq!(executions(&report, "coarse"), [(0, 1)]);
}

#[test]
fn spans_that_are_not_counted_are_told() {
    let session = session("kept");
    let (dispatch, failures) = observed(&session);
    // The layer cannot use an attachment that is a value.
    let attached = session.attach().expect("it counts everywhere");
    tracing::dispatcher::with_default(&dispatch, || info_span!("lost").in_scope(work));
    drop(attached);
    assert_eq!(failures.count(), 1);
    let first = failures.first().expect("there is one");
    assert!(first.starts_with("span \"lost\": cannot attach this thread"), "{first}");
}
