//! What a narrowed region costs those after it under libgomp.
//!
//! libgomp ends the threads that a narrower team leaves over (but for a team of one, which leaves
//! them waiting), and starts them again for the next wider one. The one falls into the first
//! narrower execution, and is no cost of those that follow; the other falls into the wider region,
//! and goes back to the region that caused it.

use std::cell::Cell;
use std::ptr;
use std::sync::OnceLock;
use std::time::Instant;

use crate::fork;
use crate::function::Function;
use crate::process;
use crate::region::Region;
use crate::runtime::Runtime;

/// The threads that a runtime keeps for one thread that starts teams.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Pool {
    /// Of the latest team of two or more; first, where the [worker](crate::worker::Worker)'s first
    /// cache line ends.
    size: Cell<u32>,
    /// Which runtime has last said how many threads a team gets, and after how many changes.
    usual: Cell<Option<(&'static Runtime, u32, u32)>>,
    narrowed_by: Cell<Option<&'static Region>>,
}

impl Pool {
    /// How many threads `runtime` gives a team of the calling thread, outside of regions, if nobody
    /// says otherwise. libomp takes longer to answer that than all else here.
    #[inline]
    pub(crate) fn usual(&self, runtime: &'static Runtime) -> Option<u32> {
        let changes = process::changes();
        match self.usual.get() {
            Some((said, then, threads)) if then == changes && ptr::eq(said, runtime) => {
                Some(threads)
            }
            _ => self.ask(runtime, changes),
        }
    }

    /// The same as it was answered last; 1 if never.
    pub(crate) fn usual_size(&self) -> u32 {
        self.usual.get().map_or(1, |(_, _, threads)| threads)
    }

    #[cold]
    fn ask(&self, runtime: &'static Runtime, changes: u32) -> Option<u32> {
        let threads = runtime.ask(Function::omp_get_max_threads)?;
        self.usual.set(Some((runtime, changes, threads)));
        Some(threads)
    }

    /// Whether a team of `size` has other threads than the one before it.
    #[inline(always)]
    pub(crate) fn changes_to(&self, size: u32) -> bool {
        size >= 2 && size != self.size.get()
    }

    /// A team of `size` has run, of `region`; `narrowed` if that was chosen.
    pub(crate) fn team_of(&self, region: &'static Region, size: u32, narrowed: bool) -> Change {
        if !self.changes_to(size) {
            return Change::None;
        }
        let before = self.size.replace(size);
        if size < before {
            self.narrowed_by.set(narrowed.then_some(region));
            return Change::Narrower(before - size);
        }
        match self.narrowed_by.take() {
            Some(cause) => Change::Wider(size - before, cause),
            None => Change::None,
        }
    }
}

/// What became of the threads that a runtime keeps.
#[derive(Clone, Copy)]
pub(crate) enum Change {
    None,
    /// So many have ended.
    Narrower(u32),
    /// So many were started, which the narrowing of that region had ended.
    Wider(u32, &'static Region),
}

impl Change {
    /// The seconds that starting threads, or ending them, takes of an execution's `seconds`: half of
    /// them at most.
    pub(crate) fn seconds(self, seconds: f64) -> f64 {
        let takes = match self {
            Change::None => 0.0,
            Change::Narrower(ended) => f64::from(ended) * thread_cost().end,
            // One after the other is created; they come up at the same time.
            Change::Wider(created, _) => {
                f64::from(created) * thread_cost().create + thread_cost().start
            }
        };
        takes.min(seconds / 2.0)
    }

    /// What has ended the threads before that are started now.
    pub(crate) fn ending(self) -> f64 {
        match self {
            Change::Wider(created, _) => f64::from(created) * thread_cost().end,
            _ => 0.0,
        }
    }
}

/// What a thread takes, in seconds.
#[derive(Clone, Copy)]
pub(crate) struct ThreadCost {
    create: f64,
    /// From then until it works.
    start: f64,
    end: f64,
}

impl ThreadCost {
    pub(crate) fn whole(self) -> f64 {
        self.create + self.start + self.end
    }
}

/// Measured here, once.
pub(crate) fn thread_cost() -> ThreadCost {
    static COST: OnceLock<ThreadCost> = OnceLock::new();
    *fork::once(&COST, || {
        let rounds: Vec<[f64; 3]> = (0..9)
            .map(|_| {
                let begun = Instant::now();
                // It opens its counters, as a worker does in its first region.
                let thread = std::thread::Builder::new().spawn(move || {
                    crate::worker::Worker::here().prepared();
                    begun.elapsed()
                });
                let created = begun.elapsed();
                // Without another thread to be had no team is widened either.
                let works = thread.map(std::thread::JoinHandle::join);
                let works = works.map_or(Ok(created), |works| works).unwrap_or(created);
                let ended = begun.elapsed().saturating_sub(works);
                [created, works.saturating_sub(created), ended].map(|taken| taken.as_secs_f64())
            })
            .collect();
        let median = |of: usize| {
            let mut seconds: Vec<f64> = rounds.iter().map(|round| round[of]).collect();
            seconds.sort_by(f64::total_cmp);
            seconds[seconds.len() / 2]
        };
        ThreadCost { create: median(0), start: median(1), end: median(2) }
    })
}
