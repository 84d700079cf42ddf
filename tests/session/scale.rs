//! Many threads: 1,024 attached at once, each with its own counts.

use pacman_core::Session;
use pacman_core::session::Sample;
use pacman_suite::process::allow_descriptors;
use pacman_suite::{Barrier, skipped};

use crate::session;

#[test]
fn a_thousand_and_twenty_four_threads() {
    const THREADS: usize = 1_024;
    // One for each thread and event, and what the test has besides.
    let (need, most) = (2 * THREADS as u64 + 128, allow_descriptors());
    if most < need {
        skipped(format_args!("{need} open files are needed, the hard limit is {most}"));
        return;
    }
    let open = session("crowd", "task-clock,page-faults");
    let phase = open.phase("phase").unwrap();
    let (attached, ended) = (Barrier::new(THREADS), Barrier::new(THREADS + 1));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            std::thread::Builder::new()
                .stack_size(128 * 1024)
                .spawn_scoped(scope, || {
                    let thread = open.attach();
                    // All come, also those that fail.
                    attached.wait();
                    let thread = thread.unwrap();
                    for _ in 0..=thread.number() % 4 {
                        thread.run(phase, || std::hint::black_box([0u8; 1024])).unwrap();
                    }
                    ended.wait();
                })
                .unwrap();
        }
        ended.wait();
    });
    let report = open.report();
    assert_eq!(report.threads.len(), THREADS);
    for thread in &report.threads {
        assert_eq!(thread.phases[0].executions, thread.number as u64 % 4 + 1);
        assert!(thread.phases[0].counts[0].raw.sum > 0, "thread {}", thread.number);
    }
}

#[test]
fn a_million_executions_lose_nothing() {
    const EACH: u64 = 500_000;
    let events = "task-clock,page-faults";
    let builder = Session::builder("million").events(events);
    let open = builder.log(EACH as usize).start().unwrap();
    let (even, odd) = (open.phase("even").unwrap(), open.phase("odd").unwrap());
    let together = Barrier::new(2);
    let spans: Vec<[u64; 2]> = std::thread::scope(|scope| {
        let threads = [0, 1].map(|_| {
            scope.spawn(|| {
                let thread = open.attach().unwrap();
                let (mut first, mut last) = (Sample::EMPTY, Sample::EMPTY);
                together.wait();
                thread.sample(&mut first).unwrap();
                for n in 0..EACH {
                    let phase = if n % 5 == 0 { odd } else { even };
                    thread.begin(phase).unwrap();
                    thread.end(phase).unwrap();
                }
                thread.sample(&mut last).unwrap();
                [0, 1].map(|event| last.counted_since(&first, event).unwrap())
            })
        });
        threads.map(|thread| thread.join().unwrap()).into()
    });
    let report = open.report();
    assert_eq!(report.threads.len(), 2);
    for thread in &report.threads {
        let executions: Vec<u64> = thread.phases.iter().map(|row| row.executions).collect();
        let implausible: Vec<_> = thread.phases.iter().map(|row| &row.implausible).collect();
        assert_eq!(
            executions,
            [EACH / 5 * 4, EACH / 5],
            "thread {}: {implausible:?}",
            thread.number
        );
        assert_eq!((thread.log.len() as u64, thread.log_dropped), (EACH, 0));
        for (phase, row) in thread.phases.iter().enumerate() {
            for event in 0..2 {
                let logged = || {
                    let samples = thread.log.iter().filter(|sample| sample.phase == phase);
                    samples.map(|sample| sample.counts[event])
                };
                let counted = row.counts[event];
                assert_eq!(counted.raw.sum, logged().sum::<u64>(), "{phase} {event}");
                assert_eq!(Some(counted.raw.min), logged().min(), "{phase} {event}");
                assert_eq!(Some(counted.raw.max), logged().max(), "{phase} {event}");
                assert_eq!((counted.samples, counted.scaled), (row.executions, None));
            }
            assert!(row.counts[0].raw.min > 0, "the clock stood still in an execution");
        }
        // The phases are a part of what the thread did meanwhile.
        let sum = |event: usize| -> u64 {
            thread.phases.iter().map(|row| row.counts[event].raw.sum).sum()
        };
        let [clock, faults] = spans[thread.number];
        assert!(sum(0) < clock && sum(1) <= faults, "{} ns of {clock} ns", sum(0));
    }
}
