//! Two threads on the two siblings of one core, or on two cores without SMT, both counting at the same time.

use std::sync::Barrier;

use pacman_core::{Placement, Result, Session, Topology};

use crate::doorbell::known_loop;

pub(crate) const THREADS: usize = 2;
const PHASES: usize = 50;

/// Prints a line a thread and phase: counted, expected, begin, end, cycles.
pub(crate) fn run() -> Result<()> {
    let here = Topology::detect()?;
    let session = Session::builder("siblings")
        .events("INSTRUCTIONS,CYCLES")
        .placement(here, Placement::Compact)
        .log(PHASES)
        .start()?;
    let phase = session.phase("known")?;
    let together = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    let thread = session.attach()?;
                    let cpu = thread.place().expect("a placement binds").cpu();
                    for n in 0..PHASES as u64 {
                        together.wait();
                        thread.begin(phase)?;
                        known_loop(iterations(cpu, n));
                        thread.end(phase)?;
                    }
                    println!("reads {cpu} {:?}", thread.caps().read_path);
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    for thread in &session.report().threads {
        let cpu = thread.place.expect("bound").cpu;
        for (n, sample) in thread.log.iter().enumerate() {
            println!(
                "sample {cpu} {} {} {} {} {}",
                sample.counts[0],
                2 * iterations(cpu, n as u64) + 1,
                sample.begin,
                sample.end,
                sample.counts[1]
            );
        }
    }
    Ok(())
}

/// The contexts that a compact placement takes first: siblings, or without SMT two cores.
pub(crate) fn first_two(here: &Topology) -> [u32; THREADS] {
    let mut contexts = here.cores().iter().flat_map(|core| &core.cpus);
    std::array::from_fn(|_| *contexts.next().expect("two contexts"))
}

/// Different work for each sibling and phase, so that a mix-up would show.
fn iterations(cpu: u32, phase: u64) -> u64 {
    100_000 + 7_000 * phase + if cpu == 0 { 0 } else { 50_000 }
}
