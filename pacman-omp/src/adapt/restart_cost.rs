//! The cost of ending and restarting threads under libgomp.
//!
//! libgomp ends the threads that a smaller team leaves over, except for a team of one, which lets
//! them wait. It starts them again for the next larger team. The end falls into the first smaller
//! execution, and costs later ones nothing. The start falls into the larger region, and is
//! charged to the region whose smaller team caused it.

use std::sync::OnceLock;
use std::time::Instant;

use crate::adapted::{Adapted, Change};
use crate::once::once;
use crate::worker::Worker;

impl Change {
    /// The part of an execution's `seconds` that starting or ending threads takes; at most half.
    pub(super) fn seconds(self, seconds: f64) -> f64 {
        let takes = match self {
            Change::None => 0.0,
            Change::Narrower(ended) => f64::from(ended) * thread_cost().end,
            // Creation is sequential; the threads come up at the same time.
            Change::Wider(created, _) => {
                f64::from(created) * thread_cost().create + thread_cost().start
            }
        };
        takes.min(seconds / 2.0)
    }

    /// The seconds that ending the threads took, where this execution starts them again.
    pub(super) fn ending(self) -> f64 {
        match self {
            Change::Wider(created, _) => f64::from(created) * thread_cost().end,
            _ => 0.0,
        }
    }
}

/// Charges `seconds` that a smaller team of `cause`, which is decided alone, cost elsewhere: `recurring` in
/// another region.
pub(super) fn charge_alone(cause: &Adapted, seconds: f64, recurring: bool) {
    if let Some(Some(phase)) = cause.phase.try_lock().as_deref_mut() {
        phase.charge(seconds, recurring);
    }
}

/// The cost of one thread, in seconds.
#[derive(Clone, Copy)]
pub(super) struct ThreadCost {
    create: f64,
    /// From its creation until it works.
    start: f64,
    end: f64,
}

impl ThreadCost {
    pub(super) fn total(self) -> f64 {
        self.create + self.start + self.end
    }
}

/// The cost of a thread, measured once.
pub(super) fn thread_cost() -> ThreadCost {
    static COST: OnceLock<ThreadCost> = OnceLock::new();
    *once(&COST, || {
        let rounds: Vec<[f64; 3]> = (0..9)
            .map(|_| {
                let begun = Instant::now();
                // The thread opens its counters, as a worker does in its first region.
                let thread = std::thread::Builder::new().spawn(move || {
                    Worker::here().prepared();
                    begun.elapsed()
                });
                let created = begun.elapsed();
                // Where no thread can be created, no team grows either.
                let works = thread.map(std::thread::JoinHandle::join);
                let works = works.map_or(Ok(created), |works| works).unwrap_or(created);
                let ended = begun.elapsed().saturating_sub(works);
                [created, works.saturating_sub(created), ended].map(|taken| taken.as_secs_f64())
            })
            .collect();
        let median = |of: usize| {
            let mut seconds: Vec<f64> = rounds.iter().map(|round| round[of]).collect();
            seconds.sort_unstable_by(f64::total_cmp);
            seconds[seconds.len() / 2]
        };
        ThreadCost { create: median(0), start: median(1), end: median(2) }
    })
}
