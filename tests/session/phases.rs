//! Phases: nested, re-entered, recursive, by the thousand; sums, extremes, logs.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pacman_core::backend::ReadPath;
use pacman_core::export::{self, TableStyle};
use pacman_core::report::{PhaseReport, Report};
use pacman_core::session::Sample;
use pacman_core::{Attached, Phase, Session};

use crate::session;

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        black_box(0);
    }
}

/// Has the thread run for so long, however long others have its processor.
fn work(time: Duration) {
    let ran = || {
        let mut ran = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes the time.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut ran) };
        Duration::new(ran.tv_sec as u64, ran.tv_nsec as u32)
    };
    let start = ran();
    while ran() - start < time {
        black_box(0);
    }
}

fn row<'a>(report: &'a Report, name: &str) -> &'a PhaseReport {
    let phase = report.phases.iter().position(|phase| phase == name).unwrap();
    report.threads[0].phases.iter().find(|row| row.phase == phase).unwrap()
}

/// The lines below a report's table.
fn footnotes(report: &Report) -> String {
    let (mut text, mut style) = (Vec::new(), TableStyle::default());
    style.width = 200;
    export::table(report, &style, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn a_forgotten_end_is_said_and_nothing_else_is_called_open() {
    let open = session("forgotten", "task-clock");
    let phase = |name| open.phase(name).unwrap();
    let (solve, fine, once) = (phase("solve"), phase("fine"), phase("once"));
    phase("idle");
    let thread = open.attach().unwrap();
    thread.run(fine, || ()).unwrap();
    let text = footnotes(&open.report());
    assert!(!text.contains("not ended") && !text.contains("is not in it"), "{text}");
    thread.run(once, || ()).unwrap();
    thread.begin(solve).unwrap();
    thread.begin(once).unwrap();
    thread.begin(solve).unwrap();
    for _ in 0..2 {
        let report = open.report();
        assert_eq!((row(&report, "solve").open, row(&report, "solve").executions), (2, 0));
        assert_eq!((row(&report, "once").open, row(&report, "once").executions), (1, 1));
        assert_eq!(row(&report, "fine").open, 0);
        let text = footnotes(&report);
        for line in [
            "\"solve\" on thread 0 was begun 2 times and not ended: what is open is not in it",
            "\"once\" on thread 0 was begun 1 time and not ended: what is open is not in it",
            "named but never run: \"idle\"",
        ] {
            assert!(text.lines().any(|is| is == line), "{line}\n{text}");
        }
    }
    drop(thread);
    let report = open.report();
    assert_eq!(row(&report, "solve").open, 2, "detaching ends no phase");
}

#[test]
fn nested_phases_are_inclusive() {
    let open = session("nested", "task-clock");
    let (outer, inner) = (open.phase("outer").unwrap(), open.phase("inner").unwrap());
    let thread = open.attach().unwrap();
    for _ in 0..3 {
        let around = thread.enter(outer).unwrap();
        for _ in 0..2 {
            thread.run(inner, || work(Duration::from_millis(1))).unwrap();
        }
        around.end().unwrap();
    }
    let report = open.report();
    let (outer, inner) = (row(&report, "outer"), row(&report, "inner"));
    assert_eq!((outer.executions, inner.executions), (3, 6));
    assert!(outer.time.sum >= inner.time.sum, "{outer:?} holds {inner:?}");
    assert!(outer.counts[0].raw.sum >= inner.counts[0].raw.sum);
    assert!(inner.time.min >= 1_000_000 && inner.time.min <= inner.time.max);
    assert!(inner.time.sum >= 6 * inner.time.min && inner.time.sum <= 6 * inner.time.max);
    // The time that the thread ran is in its task clock, and that in the time that passed.
    let cpu = inner.counts[0].raw.sum as f64;
    let times = (cpu / 6e6, cpu / inner.time.sum as f64);
    assert!(times.0 > 0.99 && times.1 < 1.05, "{times:?}");
}

#[test]
fn recursion_counts_its_cost_once() {
    fn descend(thread: &Attached, phase: Phase, depth: u32) {
        let _here = thread.enter(phase).unwrap();
        spin(Duration::from_micros(200));
        if depth > 1 {
            descend(thread, phase, depth - 1);
        }
    }
    let open = session("recursion", "task-clock");
    let phase = open.phase("descend").unwrap();
    let thread = open.attach().unwrap();
    let start = Instant::now();
    descend(&thread, phase, 40);
    let real = start.elapsed().as_nanos() as u64;
    let report = open.report();
    let row = row(&report, "descend");
    assert_eq!((row.executions, row.recursions), (1, 39));
    assert!(row.time.sum <= real + 1_000_000, "{} of {real}", row.time.sum);
}

#[test]
fn thousands_of_phases() {
    const PHASES: usize = 5_000;
    let open = session("thousands", "task-clock,page-faults");
    let phases: Vec<Phase> =
        (0..PHASES).map(|n| open.phase(&format!("phase {n}")).unwrap()).collect();
    assert_eq!(open.phase("phase 17").unwrap(), phases[17], "a name is one phase");
    let thread = open.attach().unwrap();
    for (n, phase) in phases.iter().enumerate() {
        for _ in 0..=n % 3 {
            thread.run(*phase, || ()).unwrap();
        }
    }
    let report = open.report();
    assert_eq!(report.threads[0].phases.len(), PHASES);
    for (n, row) in report.threads[0].phases.iter().enumerate() {
        assert_eq!((row.phase, row.executions), (n, n as u64 % 3 + 1));
    }
}

#[test]
fn a_log_keeps_single_samples_and_counts_what_it_drops() {
    let open = Session::builder("log").events("task-clock").log(10).start().unwrap();
    let (a, b) = (open.phase("a").unwrap(), open.phase("b").unwrap());
    let thread = open.attach().unwrap();
    for _ in 0..4 {
        thread.begin(a).unwrap();
        thread.run(b, || spin(Duration::from_micros(50))).unwrap();
        thread.end(a).unwrap();
    }
    let full = open.report();
    assert_eq!((full.threads[0].log.len(), full.threads[0].log_dropped), (8, 0));
    for pair in full.threads[0].log.chunks(2) {
        let (inner, outer) = (&pair[0], &pair[1]);
        assert_eq!((inner.phase, outer.phase), (1, 0), "the inner one ends first");
        assert!(outer.begin <= inner.begin && inner.end <= outer.end);
        assert!(inner.counts[0] <= outer.counts[0]);
    }
    for _ in 0..5 {
        thread.run(b, || ()).unwrap();
    }
    let over = open.report();
    assert_eq!((over.threads[0].log.len(), over.threads[0].log_dropped), (10, 3));
    let note = "3 samples did not fit into the log of 10 samples per thread; sums are complete";
    assert!(over.notes.iter().any(|other| other == note), "{:?}", over.notes);
    assert_eq!(row(&over, "b").executions, 9, "sums do not depend on the log");
}

#[test]
fn samples_grow_and_differ_by_what_was_done() {
    let open = session("samples", "task-clock,page-faults");
    let thread = open.attach().unwrap();
    let (mut before, mut after) = (Sample::EMPTY, Sample::EMPTY);
    thread.sample(&mut before).unwrap();
    let pages = 64;
    let mut memory = vec![0u8; pages * 4096];
    for page in memory.chunks_mut(4096) {
        page[0] = 1;
    }
    black_box(&memory);
    spin(Duration::from_millis(2));
    thread.sample(&mut after).unwrap();
    let wall = open.clock().duration(after.ticks_since(&before));
    assert!(wall >= Duration::from_millis(2), "{wall:?}");
    assert!(after.count_since(&before, 0) > 0);
    assert!(after.count_since(&before, 1) >= pages as u64 / 2);
    assert_eq!(thread.caps().read_path, ReadPath::ReadCall, "software events need the kernel");
}
