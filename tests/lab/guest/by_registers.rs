//! A session on both threads of a Pentium 4, which programs the registers itself.

use std::sync::Barrier;

use pacman_core::backend::msr::DevMsr;
use pacman_core::{Placement, Result, Session, Topology};
use pacman_events::partition::Partition;

use crate::doorbell::known_loop;

const PHASES: u64 = 50;

/// Prints a line a thread and phase: instructions, cycles, writes, the known loop.
pub(crate) fn run() -> Result<()> {
    DevMsr::new().allow_user_rdpmc().expect("the lab's guest is root");
    let here = Topology::detect()?;
    let siblings = here.cores()[0].cpus.len();
    let session = Session::builder("by registers")
        .events("INSTRUCTIONS,CYCLES,uop_queue_writes:FROM_TC_BUILD")?
        .placement(here, Placement::Compact)?
        .registers(Partition::ByDemand)
        .log(PHASES as usize)
        .start()?;
    let phase = session.phase("known")?;
    let together = Barrier::new(siblings);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..siblings)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    let thread = session.attach()?;
                    let cpu = u64::from(thread.place().expect("a placement binds").cpu());
                    for n in 0..PHASES {
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
        let cpu = u64::from(thread.place.expect("bound").cpu);
        for (n, sample) in thread.log.iter().enumerate() {
            let [retired, cycles, writes] = sample.counts[..] else { panic!("three events") };
            println!(
                "sample {cpu} {retired} {cycles} {writes} {}",
                2 * iterations(cpu, n as u64) + 1
            );
        }
    }
    Ok(())
}

/// Different work for each sibling and phase, so that a mix-up would show.
fn iterations(cpu: u64, phase: u64) -> u64 {
    60_000 + 3_000 * phase + 40_000 * cpu
}
