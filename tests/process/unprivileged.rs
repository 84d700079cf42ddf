//! An unprivileged user's context switches and migrations are true, not zero.
//!
//! The kernel's own counters of these stay 0 for whoever may not count the
//! kernel; the library then takes the figures from the kernel's ledgers.

use std::sync::mpsc::sync_channel;

use pacman_core::{Binding, Session, Topology};
use pacman_suite::process::{become_nobody, is_root, paranoid};

const SWITCHES: u64 = 50;

#[test]
fn switches_faults_and_migrations_are_true() {
    if is_root() {
        become_nobody();
    }
    if paranoid() > 2 {
        // Not even the task clock may be opened then; the doctor's tests cover it.
        pacman_suite::skipped(format_args!("perf_event_paranoid is {}", paranoid()));
        return;
    }
    let session = Session::builder("nobody")
        .events("context-switches,cpu-migrations,page-faults,task-clock")
        .start()
        .unwrap();
    let (ping, hop, touch) = (
        session.phase("ping-pong").unwrap(),
        session.phase("hop").unwrap(),
        session.phase("touch").unwrap(),
    );
    let thread = session.attach().unwrap();

    // A rendezvous with another thread, on one CPU, switches at least once each.
    let here = Topology::detect().unwrap();
    let cpus: Vec<u32> = here.allowed().iter().collect();
    let place = here.place(cpus[0]).unwrap();
    {
        let _bound = Binding::bind(&here, &place).unwrap();
        let (sender, receiver) = sync_channel::<()>(0);
        let other = std::thread::spawn(move || while receiver.recv().is_ok() {});
        thread
            .run(ping, || {
                for _ in 0..SWITCHES {
                    sender.send(()).unwrap();
                }
            })
            .unwrap();
        drop(sender);
        other.join().unwrap();
    }

    // A bound thread that moves from CPU to CPU migrates each time.
    thread
        .run(hop, || {
            for cpu in cpus.iter().cycle().take(20) {
                let place = here.place(*cpu).unwrap();
                let _bound = Binding::bind(&here, &place).unwrap();
            }
        })
        .unwrap();

    // Fresh memory faults once a page.
    const PAGES: usize = 256;
    thread
        .run(touch, || {
            let mut memory = vec![0u8; PAGES * 4096];
            for page in memory.chunks_mut(4096) {
                page[0] = 1;
            }
            std::hint::black_box(memory);
        })
        .unwrap();

    let report = session.report();
    let count = |phase: usize, event: usize| {
        let row = report.threads[0].phases.iter().find(|p| p.phase == phase).unwrap();
        row.counts[event].value().unwrap()
    };
    let switches = count(0, 0);
    assert!(
        (SWITCHES / 2..SWITCHES * 20).contains(&switches),
        "{SWITCHES} rendezvous on one CPU, {switches} switches"
    );
    if cpus.len() > 1 {
        let migrations = count(1, 1);
        assert!((10..200).contains(&migrations), "20 hops, {migrations} migrations");
    }
    let faults = count(2, 2);
    assert!(
        (PAGES as u64 / 2..PAGES as u64 * 4).contains(&faults),
        "{PAGES} fresh pages, {faults} faults"
    );
}
