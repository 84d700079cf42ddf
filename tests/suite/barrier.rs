//! A barrier that fails where the standard library's waits for ever.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Far more than any test needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Threads that wait for each other, and not for one that has panicked.
#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    patience: Duration,
    /// Those that have come, and how often all have.
    state: Mutex<(usize, usize)>,
    all_came: Condvar,
}

impl Barrier {
    /// A barrier for that many threads.
    pub const fn new(threads: usize) -> Barrier {
        Barrier::within(threads, PATIENCE)
    }

    /// A barrier at which threads wait no longer than that.
    pub const fn within(threads: usize, patience: Duration) -> Barrier {
        Barrier { threads, patience, state: Mutex::new((0, 0)), all_came: Condvar::new() }
    }

    /// Waits until all threads have come.
    ///
    /// # Panics
    /// If one does not come in a minute.
    pub fn wait(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        let round = state.1;
        if state.0 == self.threads {
            *state = (0, round + 1);
            self.all_came.notify_all();
            return;
        }
        let waits = |state: &mut (usize, usize)| state.1 == round;
        let waited = self.all_came.wait_timeout_while(state, self.patience, waits);
        let (state, late) = waited.unwrap_or_else(PoisonError::into_inner);
        let came = state.0;
        // Let go of first, so that the others find it whole.
        drop(state);
        let (threads, patience) = (self.threads, self.patience);
        assert!(!late.timed_out(), "{came} of {threads} threads came to a barrier in {patience:?}");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::Barrier;

    #[test]
    fn all_go_on_together_each_time() {
        const THREADS: usize = 4;
        let (barrier, came) = (Barrier::new(THREADS), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for round in 1..=100 {
                        // ATOMICS: the barrier's lock orders these.
                        came.fetch_add(1, Ordering::Relaxed);
                        barrier.wait();
                        assert_eq!(came.load(Ordering::Relaxed), round * THREADS);
                        barrier.wait();
                    }
                });
            }
        });
    }

    #[test]
    fn nobody_waits_for_ever() {
        let barrier = Barrier::within(2, Duration::from_millis(1));
        let waited = std::thread::scope(|scope| scope.spawn(|| barrier.wait()).join());
        let words = *waited.unwrap_err().downcast::<String>().unwrap();
        assert_eq!(words, "1 of 2 threads came to a barrier in 1ms");
    }
}
