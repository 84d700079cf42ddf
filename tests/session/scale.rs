//! Many threads: 1,024 attached at once, each with its own counts.

use std::sync::Barrier;

use crate::session;

#[test]
fn a_thousand_and_twenty_four_threads() {
    const THREADS: usize = 1_024;
    let open = session("crowd", "task-clock,page-faults");
    let phase = open.phase("phase").unwrap();
    let (attached, ended) = (Barrier::new(THREADS), Barrier::new(THREADS + 1));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            std::thread::Builder::new()
                .stack_size(128 * 1024)
                .spawn_scoped(scope, || {
                    let thread = open.attach().unwrap();
                    attached.wait();
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
