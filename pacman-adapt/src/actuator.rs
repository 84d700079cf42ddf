//! Runs work on the chosen number of threads.

use std::time::{Duration, Instant};

use pacman_events::{Error, Result};
use pacman_topology::Binding;
use pacman_topology::Place;
use pacman_topology::Topology;

/// Runs work on a chosen number of threads: a pool, a runtime, new threads.
pub trait Actuator {
    /// Runs `work` once for each place, each on a thread of its own with its number from 0, and
    /// waits for all.
    ///
    /// # Errors
    /// If a thread could not be bound. Its work has run nevertheless, on another context.
    fn run(&self, places: &[Place], work: &(dyn Fn(usize) + Sync)) -> Result<()>;

    /// The cost of a change of the number of threads from one execution to the next.
    fn switch_cost(&self) -> Duration;
}

/// New threads for every execution, bound to their places.
///
/// The simplest actuator. It starts new threads each time, so phases should last
/// milliseconds.
#[derive(Debug)]
pub struct ScopedThreads {
    topology: Topology,
    cost: Duration,
}

impl ScopedThreads {
    /// An actuator for the machine of `topology`; measures the cost of starting a thread.
    pub fn new(topology: Topology) -> ScopedThreads {
        const TRIES: u32 = 8;
        let begun = Instant::now();
        (0..TRIES).for_each(|_| std::thread::scope(|scope| drop(scope.spawn(|| ()))));
        let cost = begun.elapsed() / TRIES;
        ScopedThreads { topology, cost }
    }
}

impl Actuator for ScopedThreads {
    fn run(&self, places: &[Place], work: &(dyn Fn(usize) + Sync)) -> Result<()> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..places.len())
                .map(|number| {
                    scope.spawn(move || {
                        let bound = Binding::bind(&self.topology, &places[number]);
                        work(number);
                        bound.map(drop)
                    })
                })
                .collect();
            let ends = threads.into_iter().map(|thread| match thread.join() {
                Ok(end) => end,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            ends.collect::<Vec<Result<(), Error>>>().into_iter().collect()
        })
    }

    fn switch_cost(&self) -> Duration {
        self.cost
    }
}
