//! The cost of a change to another pool.

use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Measures the additional time of a change between two pools of all contexts, over staying in one.
/// `None` if two pools cannot be made.
///
/// This cost is the main reason why an adapted phase must be long. Workers of the other pool have slept
/// for at least `AWAY`, as they have after a phase ran elsewhere. Both times are lower quartiles,
/// because other work on the machine makes single tries longer.
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

/// The time until every worker of a pool has run something.
fn wake(pool: &ThreadPool) -> Duration {
    let begun = Instant::now();
    pool.broadcast(|_| ());
    begun.elapsed()
}

const TRIES: usize = 41;

/// Long enough for workers to sleep. Before that, rayon's workers look for work a few dozen times.
const AWAY: Duration = Duration::from_micros(300);
