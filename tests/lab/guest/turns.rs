//! Sessions whose sets rotate, on two siblings that ring known numbers.

use std::sync::Barrier;

use pacman_core::backend::msr::DevMsr;
use pacman_core::session::{Attached, EventSetRotation, Sample};
use pacman_core::{Error, Placement, Result, Session, Topology};
use pacman_events::partition::Partition;

use crate::doorbell::ring;
use crate::siblings::THREADS;

const RUNS: u64 = 7;
const PHASES: [&str; 3] = ["work", "inner", "other"];

/// Events with the doorbell's name of each; no two have a bell in common.
const ALL: [(&str, u64); 9] = [
    ("r412e", 0x412e),
    ("r0151", 0x0151),
    ("r01c4", 0x01c4),
    ("r01c5", 0x01c5),
    ("r0108", 0x0108),
    ("r0149", 0x0149),
    ("r0187", 0x0187),
    ("r01a2", 0x01a2),
    ("r0148", 0x0148),
];

/// Six for four general counters, on Arm nine for six.
const EVENTS: &[(&str, u64)] = match cfg!(target_arch = "aarch64") {
    true => &ALL,
    false => ALL.split_at(6).0,
};

/// Prints the sets, then a line for each logged run and event that was counted, what
/// samples saw from within, and the report's sums.
pub(crate) fn run(how: &str, by: &str) -> Result<()> {
    let turns = if how == "staggered" {
        EventSetRotation::Staggered
    } else {
        EventSetRotation::PerExecution
    };
    let here = Topology::detect()?;
    let names: Vec<&str> = EVENTS.iter().map(|(name, _)| *name).collect();
    let mut builder = Session::builder("turns")
        .events(names.join(","))
        .placement(here, Placement::Compact)
        .rotate_event_sets(turns)
        .log(4 * RUNS as usize);
    if by == "registers" {
        DevMsr::new().allow_user_rdpmc().expect("the lab's guest is root");
        builder = builder.registers(Partition::ByDemand);
    }
    let session = builder.start()?;
    for name in PHASES {
        session.phase(name)?;
    }
    let together = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| scope.spawn(|| one_thread(&session, &together).unwrap_or_else(give_up)))
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    });
    print(&session)
}

fn one_thread(session: &Session, together: &Barrier) -> Result<()> {
    let [work, inner, other] = PHASES.map(|name| session.phase(name).expect("a name"));
    let thread = session.attach()?;
    let number = thread.number() as u64;
    println!("reads {number} {:?}", thread.caps().read_path);
    let mut before = Sample::EMPTY;
    thread.sample(&mut before)?;
    for run in 0..RUNS {
        together.wait();
        thread.begin(work)?;
        ring_all(rings(0, number, run));
        if run == 0 {
            look(&thread, number, "since-before", &before)?;
            thread.sample(&mut before)?;
        }
        thread.run(inner, || ring_all(rings(1, number, run)))?;
        if run == 0 {
            look(&thread, number, "within", &before)?;
        }
        thread.end(work)?;
        if run % 2 == 0 {
            // Keeps out of step with the other phase's sets.
            thread.run(other, || ring_all(rings(2, number, run / 2)))?;
        }
    }
    Ok(())
}

/// Ends the program: the other thread would wait for this one for ever.
pub(crate) fn give_up(error: Error) {
    println!("error {:?}: {error}", error.kind());
    std::process::exit(1);
}

/// How often event 0 is rung in a run; event *n* is rung *n* times 1000 more often.
fn rings(phase: u64, thread: u64, run: u64) -> u64 {
    100 * (phase + 1) + 10 * run + thread + 1
}

fn ring_all(times: u64) {
    for (event, (_, selector)) in EVENTS.iter().enumerate() {
        ring(*selector, 1000 * event as u64 + times);
    }
}

/// The counts of a sample taken now over the interval since an earlier one.
fn look(thread: &Attached, number: u64, what: &str, earlier: &Sample) -> Result<()> {
    let mut now = Sample::EMPTY;
    thread.sample(&mut now)?;
    for event in 0..EVENTS.len() {
        let counted = now.counted_since(earlier, event).map(|count| count as i64).unwrap_or(-1);
        println!("{what} {number} {event} {} {counted}", now.is_counted(event));
    }
    Ok(())
}

fn print(session: &Session) -> Result<()> {
    let report = session.report();
    for (set, events) in report.sets.iter().enumerate() {
        let events: Vec<String> = events.events.iter().map(usize::to_string).collect();
        println!("set {set} {}", events.join(" "));
    }
    for thread in &report.threads {
        let mut runs = vec![0u64; report.phases.len()];
        for sample in &thread.log {
            let run = runs[sample.phase];
            runs[sample.phase] += 1;
            let sum = rings(sample.phase as u64, thread.number as u64, run);
            for event in 0..EVENTS.len() {
                let Some(counted) = sample.count(&report, event) else { continue };
                let mut rung = 1000 * event as u64 + sum;
                if sample.phase == 0 {
                    // The inner phase's are the outer one's too.
                    rung += 1000 * event as u64 + rings(1, thread.number as u64, run);
                }
                let (number, phase, set) = (thread.number, sample.phase, sample.set);
                println!("sample {number} {phase} {run} {set} {event} {counted} {rung}");
            }
        }
        for row in &thread.phases {
            for (event, count) in row.counts.iter().enumerate() {
                println!(
                    "sum {} {} {event} {} {} {} {}",
                    thread.number,
                    row.phase,
                    row.executions,
                    count.samples,
                    count.raw.sum,
                    count.value().map_or(-1, |value| value as i64)
                );
            }
        }
    }
    Ok(())
}
