//! Busy and idle time of the workers of a phase, from a session's report.

use std::time::Duration;

use pacman_core::report::{CountReport, PhaseReport, PlaceReport, ThreadReport};
use pacman_core::{Error, ErrorKind, Report, Result};

/// The kernel's event that separates busy from idle time.
const BUSY: &str = "task-clock";

/// Busy and idle time of one worker during the executions of a phase.
///
/// A worker is busy while it runs on a processor: it executes tasks, or looks for some before it
/// sleeps, which rayon limits to a few microseconds. All its counts are of this time, because a worker
/// that sleeps executes nothing. The worker is idle for the rest of the executions' time. It sleeps
/// because it has no work, on a lock or in a system call, or another thread has its processor.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WorkerTimes {
    /// The worker's name, which has its number in its pool.
    pub worker: String,
    /// The context that it is bound to.
    pub place: Option<PlaceReport>,
    /// Finished executions of the phase in the worker's pool.
    pub executions: u64,
    /// CPU time during the executions, and of reading the counters at their begins and ends.
    pub busy: Duration,
    /// The other part of the executions' time; zero if there is an [`excess`](Self::excess).
    pub idle: Duration,
    /// By how much `busy` exceeds the executions' time. The session reads the counters before it reads the
    /// time, and the other way round at the end. So executions that are shorter than reading the
    /// counters have an excess. Then `busy` is mainly the cost of counting.
    pub excess: Duration,
    /// Each event of the session with its count, an estimate where sets of events rotate.
    pub counts: Vec<(String, u64)>,
}

/// The busy and idle times of every worker that took part in `phase`.
///
/// The session needs the event `task-clock`. It should count no other threads than those of the pool.
///
/// # Errors
/// [`Empty`](ErrorKind::Empty) if the session does not count `task-clock`;
/// [`InvalidInput`](ErrorKind::InvalidInput) if it has no phase of this name.
pub fn worker_times(report: &Report, phase: &str) -> Result<Vec<WorkerTimes>> {
    let Some(busy) = report.events.iter().position(|event| event.name == BUSY) else {
        return Err(Error::new(
            ErrorKind::Empty,
            format!(
                "cannot tell busy from idle time of workers: session {} does not count {BUSY}; add \
                 it to the session's events",
                report.session
            ),
        ));
    };
    let Some(number) = report.phases.iter().position(|name| name == phase) else {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            format!(
                "cannot report on workers of phase {phase}: session {} has no such phase; it has {}",
                report.session,
                report.phases.join(", ")
            ),
        ));
    };
    let rows = report.threads.iter().filter_map(|thread| {
        let row = thread.phases.iter().find(|row| row.phase == number)?;
        (row.executions > 0).then_some((thread, row))
    });
    Ok(rows.map(|(thread, row)| times(report, thread, row, busy)).collect())
}

fn times(report: &Report, thread: &ThreadReport, row: &PhaseReport, busy: usize) -> WorkerTimes {
    let whole = |count: &CountReport| count.scaled.unwrap_or(count.raw.sum);
    let counts: Vec<_> = row.counts.iter().map(whole).collect();
    let busy = Duration::from_nanos(counts[busy]);
    let (idle, excess) = rest(busy, Duration::from_nanos(row.time.sum));
    WorkerTimes {
        worker: thread.name.clone().unwrap_or_else(|| format!("thread {}", thread.tid)),
        place: thread.place,
        executions: row.executions,
        busy,
        idle,
        excess,
        counts: report.events.iter().map(|event| event.name.clone()).zip(counts).collect(),
    }
}

/// The idle time of executions that last `wall`, and the excess of `busy` over it.
fn rest(busy: Duration, wall: Duration) -> (Duration, Duration) {
    (wall.saturating_sub(busy), busy.saturating_sub(wall))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_is_never_cut() {
        let [tiny, busy, long] = [69, 1_223, 9_000].map(Duration::from_nanos);
        assert_eq!(rest(busy, tiny), (Duration::ZERO, busy - tiny));
        assert_eq!(rest(busy, long), (long - busy, Duration::ZERO));
    }
}
