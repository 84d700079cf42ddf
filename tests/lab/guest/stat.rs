//! Programs for `stat`: threads of known work, which know nothing of counters.

use std::sync::{Arc, Barrier};
use std::thread;

use pacman_core::{Binding, Result, Topology};

use crate::doorbell::known_loop;

/// Iterations of each thread's loop, two instructions each; the first does nothing, so that
/// its count is what beginning and ending a thread costs.
pub(crate) const THREADS: [u64; 3] = [0, 3_000_000, 8_000_000];

/// Runs the threads, wherever they are put.
pub(crate) fn threads() -> Result<()> {
    // The first threads pay for what the linker looks up once, and for stacks and arenas
    // that later ones find ready.
    let together = Arc::new(Barrier::new(THREADS.len()));
    let first: Vec<_> = THREADS
        .iter()
        .map(|_| {
            let together = Arc::clone(&together);
            thread::spawn(move || together.wait())
        })
        .collect();
    // Their places are free again when they are joined; a scope would end before they do.
    for thread in first {
        thread.join().expect("no panic");
    }
    let threads: Vec<_> = THREADS
        .iter()
        .map(|iterations| {
            let work = || {
                if *iterations > 0 {
                    known_loop(*iterations);
                }
            };
            thread::Builder::new().name(format!("loop-{iterations}")).spawn(work).expect("a thread")
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    Ok(())
}

/// Runs a known loop on each sibling of a core, bound there.
pub(crate) fn bound() -> Result<()> {
    let here = Arc::new(Topology::detect()?);
    let core = here.cores()[0].cpus.clone();
    let together = Arc::new(Barrier::new(core.len()));
    let threads: Vec<_> = core
        .iter()
        .map(|&cpu| {
            let (here, together) = (Arc::clone(&here), Arc::clone(&together));
            thread::spawn(move || -> Result<()> {
                let _bound = Binding::bind(&here, &here.place(cpu)?)?;
                together.wait();
                known_loop(THREADS[1 + cpu as usize]);
                Ok(())
            })
        })
        .collect();
    threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
}
