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
        .events("INSTRUCTIONS,CYCLES,uop_queue_writes:FROM_TC_BUILD")
        .placement(here, Placement::Compact)
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

/// The same without a placement or a word about registers.
pub(crate) fn unplaced() -> Result<()> {
    DevMsr::new().allow_user_rdpmc().expect("the lab's guest is root");
    let siblings = Topology::detect()?.contexts().len();
    let session =
        Session::builder("unplaced").events("INSTRUCTIONS,CYCLES").log(PHASES as usize).start()?;
    let phase = session.phase("known")?;
    let together = Barrier::new(siblings);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..siblings)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    let before = mask();
                    let thread = session.attach()?;
                    let number = thread.number() as u64;
                    for n in 0..PHASES {
                        together.wait();
                        thread.begin(phase)?;
                        known_loop(iterations(number, n));
                        thread.end(phase)?;
                        std::thread::yield_now();
                    }
                    println!(
                        "bound {}",
                        thread.place().is_some_and(|place| mask() == place.cpu().to_string())
                    );
                    drop(thread);
                    println!("given back {}", mask() == before);
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    for thread in &session.report().threads {
        let number = thread.number as u64;
        for (n, sample) in thread.log.iter().enumerate() {
            let [retired, cycles] = sample.counts[..] else { panic!("two events") };
            let known = 2 * iterations(number, n as u64) + 1;
            println!("sample {number} {retired} {cycles} 0 {known}");
        }
    }
    Ok(())
}

/// The message to a user without privilege.
pub(crate) fn unprivileged() -> Result<()> {
    const NOBODY: u32 = 65_534;
    // SAFETY: the calls take numbers, and this process has one thread.
    unsafe {
        assert_eq!((libc::setgid(NOBODY), libc::setuid(NOBODY)), (0, 0), "the guest is root");
    }
    let refused = Session::builder("unprivileged").events("INSTRUCTIONS").start().err();
    println!("refused {}", refused.map_or_else(String::new, |error| error.to_string()));
    let session = Session::builder("trusting").events("INSTRUCTIONS").trust_driver().start()?;
    let doubt = session.attach()?.caps().doubt;
    println!("doubt {}", doubt.unwrap_or_default());
    Ok(())
}

/// The message where no registers can be programmed.
pub(crate) fn refused() -> Result<()> {
    let here = Topology::detect()?;
    for partition in [Partition::Even, Partition::ByDemand, Partition::Whole { owner: 0 }] {
        let session = Session::builder("refused")
            .events("r0151")
            .placement(here.clone(), Placement::Compact)
            .registers(partition)
            .start();
        let refused = session.err().map_or_else(String::new, |error| error.to_string());
        println!("refused {refused}");
    }
    Ok(())
}

/// The CPUs that the calling thread may use.
fn mask() -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("a thread has one");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.expect("Linux tells").trim().to_owned()
}

/// Different work for each sibling and phase, so that a mix-up would show.
fn iterations(cpu: u64, phase: u64) -> u64 {
    60_000 + 3_000 * phase + 40_000 * cpu
}
