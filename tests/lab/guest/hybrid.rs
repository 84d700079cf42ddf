//! Two threads that move between the core types of a hybrid while they count.

use std::collections::BTreeMap;
use std::sync::Barrier;

use pacman_core::topology::CoreType;
use pacman_core::{Error, ErrorKind, Result, Session, Topology};

use crate::doorbell::{known_loop, retired};

const MOVES: usize = 10;

/// Prints the read path, then a line for each thread, event and core type: counted, known.
pub(crate) fn run() -> Result<()> {
    let here = Topology::detect()?;
    let of = |wanted: CoreType| {
        let own = here.contexts().iter().filter(move |context| context.core_type == wanted);
        own.map(|context| context.cpu).collect::<Vec<u32>>()
    };
    let (performance, efficiency) = (of(CoreType::Performance), of(CoreType::Efficiency));
    println!("contexts {performance:?} {efficiency:?}");
    let session = Session::builder("hybrid").events("INSTRUCTIONS,task-clock").start()?;
    let phase = session.phase("moves")?;
    let together = Barrier::new(2);
    let known = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|number| {
                // Never two threads on one context: each begins on another core type.
                let mut route = [performance[number], efficiency[number]];
                route.rotate_left(number);
                let (session, together) = (&session, &together);
                scope.spawn(move || -> Result<(usize, [u64; 2])> {
                    move_to(route[0])?;
                    let thread = session.attach()?;
                    println!("reads {number} {:?}", thread.caps().read_path);
                    together.wait();
                    let mut known = [0; 2];
                    thread.begin(phase)?;
                    for step in 0..=MOVES {
                        if step > 0 {
                            move_to(route[step % 2])?;
                        }
                        let before = retired().0;
                        known_loop(50_000 + 7_000 * step as u64 + 100_000 * number as u64);
                        let core_type = usize::from((step + number) % 2 == 1);
                        known[core_type] += retired().0 - before;
                    }
                    thread.end(phase)?;
                    // The session numbers threads in the order in which they attach.
                    Ok((thread.number(), known))
                })
            })
            .collect();
        let known = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        known.collect::<Result<BTreeMap<usize, [u64; 2]>>>()
    })?;
    let report = session.report();
    for thread in &report.threads {
        for (column, counts) in report.events.iter().zip(&thread.phases[0].counts) {
            let [core, atom] = known[&thread.number];
            let known = match column.core_pmu.as_deref() {
                _ if !column.hardware => continue,
                Some("cpu_core") => core,
                Some(_) => atom,
                None => core + atom,
            };
            println!("counted {} {} {} {known}", thread.number, column.name, counts.raw.sum);
        }
    }
    Ok(())
}

fn move_to(cpu: u32) -> Result<()> {
    // SAFETY: an all-zero set is a valid one, in which one bit is set.
    let moved = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu as usize, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    // SAFETY: the call only returns a number.
    if moved == 0 && unsafe { libc::sched_getcpu() } == cpu as i32 {
        return Ok(());
    }
    Err(Error::new(ErrorKind::System, format!("cannot move to CPU {cpu}")))
}
