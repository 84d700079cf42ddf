//! The cost of going on in another pool.

use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Changing between two pools of all contexts, over staying in one: the lower quartiles of both, since
/// what else the machine does adds to single tries.
///
/// It is measured, because it is nearly all that an adapted phase must be long for. Workers of the
/// pool that is changed to have slept for `AWAY`, as they have when a phase is done elsewhere.
/// Without two pools there is nothing to change between: then nothing is answered.
pub(crate) fn measure() -> Option<Duration> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = || ThreadPoolBuilder::new().num_threads(workers).build().ok();
    let (mut here, mut there) = (pool()?, pool()?);
    let (mut stays, mut changes) = (Vec::new(), Vec::new());
    for _ in 0..TRIES {
        let away = Instant::now();
        while away.elapsed() < AWAY {
            wake(&here);
        }
        stays.push(wake(&here));
        changes.push(wake(&there));
        std::mem::swap(&mut here, &mut there);
    }
    let quartile = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 4]
    };
    Some(quartile(&mut changes).saturating_sub(quartile(&mut stays)))
}

/// How long it takes until every worker of a pool has run something.
fn wake(pool: &ThreadPool) -> Duration {
    let begun = Instant::now();
    pool.broadcast(|_| ());
    begun.elapsed()
}

const TRIES: usize = 41;

/// Rayon's workers look for work a few dozen times before they sleep.
const AWAY: Duration = Duration::from_micros(300);
