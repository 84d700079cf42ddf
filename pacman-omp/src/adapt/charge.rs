//! What a narrowed region costs those after it under libgomp.
//!
//! libgomp ends the threads that a narrower team leaves over (but for a team of one, which leaves
//! them waiting), and starts them again for the next wider one. That time falls into the wider
//! region; here it goes back to the region that caused it.

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
pub(crate) struct Pool {
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

    #[cold]
    fn ask(&self, runtime: &'static Runtime, changes: u32) -> Option<u32> {
        let threads = runtime.ask(Function::omp_get_max_threads)?;
        self.usual.set(Some((runtime, changes, threads)));
        Some(threads)
    }

    /// Whether a team of `size` has other threads than the one before it.
    #[inline]
    pub(crate) fn changes_to(&self, size: u32) -> bool {
        size >= 2 && size != self.size.get()
    }

    /// A team of `size` has run. Answers the seconds of it that went into starting threads that
    /// another region's narrowing had ended, and charges that region.
    pub(crate) fn team_of(&self, region: &'static Region, size: u32, narrowed: bool) -> f64 {
        if !self.changes_to(size) {
            return 0.0;
        }
        let before = self.size.replace(size);
        if size < before {
            self.narrowed_by.set(narrowed.then_some(region));
            return 0.0;
        }
        let Some(cause) = self.narrowed_by.take() else { return 0.0 };
        let seconds = f64::from(size - before) * of_a_thread();
        if let Some(Some(phase)) = cause.adapted.phase.try_lock().as_deref_mut() {
            phase.charged += seconds;
        }
        seconds
    }
}

/// What a thread takes to start and to end, in seconds: measured here, once.
pub(crate) fn of_a_thread() -> f64 {
    static COST: OnceLock<f64> = OnceLock::new();
    *fork::once(&COST, || {
        let mut seconds: Vec<f64> = (0..9)
            .map(|_| {
                let begun = Instant::now();
                // It opens its counters, as a worker does in its first region.
                let thread = std::thread::Builder::new().spawn(|| {
                    crate::worker::Worker::here().measured();
                });
                // Without another thread to be had no team is widened either.
                let _ = thread.map(std::thread::JoinHandle::join);
                begun.elapsed().as_secs_f64()
            })
            .collect();
        seconds.sort_by(f64::total_cmp);
        seconds[4]
    })
}
