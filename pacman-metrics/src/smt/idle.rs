//! Computes splits without a PMU, from the idle periods or idle times of each context.

use std::ops::Range;

use super::split::{Bounds, Method, Split};
use crate::not_computable::not_computable;
use pacman_events::{Error, Result};

/// Computes the split from the idle periods of each context, as the kernel's `cpu_idle` tracepoint
/// reports them. The result is exact for any number of contexts.
///
/// Periods must be in order, and may reach beyond the interval. Any unit is possible.
///
/// # Errors
/// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) for an empty interval, without
/// contexts, or if periods overlap or are reversed.
///
/// ```
/// use pacman_metrics::smt::idle_periods;
/// // Both rest at first; then one runs alone, then both.
/// let split = idle_periods(0.0..10.0, &[&[0.0..2.0], &[0.0..5.0]])?;
/// assert_eq!((split.idle, split.shared), (2.0, 5.0));
/// assert_eq!(split.only, [3.0, 0.0]);
/// # Ok::<(), pacman_metrics::Error>(())
/// ```
pub fn idle_periods(interval: Range<f64>, idle: &[&[Range<f64>]]) -> Result<Split> {
    let elapsed = positive(interval.end - interval.start, idle.len())?;
    // Every edge: its time, its context, and whether the context becomes idle.
    let mut edges: Vec<(f64, usize, bool)> = Vec::new();
    for (context, periods) in idle.iter().enumerate() {
        let mut last = f64::NEG_INFINITY;
        for period in *periods {
            if !(last <= period.start && period.start <= period.end) {
                return Err(refused("a context's idle periods overlap or run backwards"));
            }
            last = period.end;
            let clip = |edge: f64| edge.clamp(interval.start, interval.end);
            edges.push((clip(period.start), context, true));
            edges.push((clip(period.end), context, false));
        }
    }
    // The sort is stable: a period that ends where the next begins leaves its context idle.
    edges.sort_by(|one, other| one.0.total_cmp(&other.0));

    let mut active = vec![true; idle.len()];
    let (mut none, mut only, mut shared) = (0.0, vec![0.0; idle.len()], 0.0);
    let mut since = interval.start;
    for (time, context, becomes_idle) in edges.into_iter().chain([(interval.end, 0, false)]) {
        let mut running = active.iter().enumerate().filter(|one| *one.1).map(|one| one.0);
        match (running.next(), running.next()) {
            (None, _) => none += time - since,
            (Some(alone), None) => only[alone] += time - since,
            (Some(_), Some(_)) => shared += time - since,
        }
        active[context] = !becomes_idle;
        since = time;
    }
    Ok(Split {
        elapsed,
        idle: none,
        idle_bounds: Bounds::exactly(none),
        only_bounds: only.iter().map(|&only| Bounds::exactly(only)).collect(),
        shared_bounds: Bounds::exactly(shared),
        only,
        shared,
        skew: 0.0,
        uncertainty: 0.0,
        method: Method::IdlePeriods,
    })
}

/// Computes the split from the idle times of the contexts: exact for one context, bounds for more.
///
/// Two contexts that are idle for half of the interval each may have alternated, or been idle
/// together. The values assume independent contexts, and lie within the bounds. `uncertainty` is
/// the largest error of an idle time, in the unit of `elapsed`.
///
/// # Errors
/// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) for an empty interval, without
/// contexts, or if a context was idle for longer than interval and uncertainty.
///
/// ```
/// use pacman_metrics::smt::idle_times;
/// let split = idle_times(1000.0, &[500.0, 500.0], 0.0)?;
/// assert_eq!((split.shared_bounds.low, split.shared_bounds.high), (0.0, 500.0));
/// assert_eq!(split.shared, 250.0);
/// assert!(idle_times(1000.0, &[500.0], 0.0)?.is_decided());
/// # Ok::<(), pacman_metrics::Error>(())
/// ```
pub fn idle_times(elapsed: f64, idle: &[f64], uncertainty: f64) -> Result<Split> {
    positive(elapsed, idle.len())?;
    for &time in idle {
        if !(-uncertainty..=elapsed + uncertainty).contains(&time) {
            return Err(refused(format_args!("a context was idle for {time} of {elapsed}")));
        }
    }
    let active: Vec<f64> =
        idle.iter().map(|time| 1.0 - time.clamp(0.0, elapsed) / elapsed).collect();
    let sum: f64 = active.iter().sum();
    let most = active.iter().copied().fold(0.0, f64::max);
    let count = active.len() as f64;

    // The core is active at least while its busiest context is, and at most for the sum of all.
    let any = Bounds { low: most, high: sum.min(1.0) };
    let mut only_bounds = Vec::with_capacity(active.len());
    let mut only = Vec::with_capacity(active.len());
    for context in 0..active.len() {
        let others = || active.iter().enumerate().filter(|other| other.0 != context);
        let busiest = others().map(|other| *other.1).fold(0.0, f64::max);
        let rest: f64 = others().map(|other| other.1).sum();
        let low = (active[context] - rest).max(0.0);
        let high = active[context].min(1.0 - busiest);
        only_bounds.push(Bounds { low: low * elapsed, high: high * elapsed });
        let resting: f64 = others().map(|other| 1.0 - other.1).product();
        only.push(active[context] * resting * elapsed);
    }
    let none = active.iter().map(|part| 1.0 - part).product::<f64>() * elapsed;
    let shared_bounds = shared_of(&active, sum, count, elapsed);
    let shared = (elapsed - none - only.iter().sum::<f64>()).max(0.0);
    Ok(Split {
        elapsed,
        idle: none,
        only,
        shared,
        idle_bounds: Bounds { low: (1.0 - any.high) * elapsed, high: (1.0 - any.low) * elapsed },
        only_bounds,
        shared_bounds,
        skew: 0.0,
        uncertainty,
        method: Method::IdleTimes,
    })
}

/// Computes the split of two contexts from their idle times and the part of its cycles in which each had the core
/// alone, which `smt-alone-share` is.
///
/// Each context tells by itself how long both were active. The value is the mean of the two, within the bounds that the
/// idle times have. Half of their difference adds to the `uncertainty`. Cycles stand for time: the clock of the core is
/// taken to be as fast with one context as with two.
///
/// # Errors
/// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) as [`idle_times`], and for other than two
/// contexts.
///
/// ```
/// use pacman_metrics::smt::alone_shares;
/// // Both were active for half of the time, and in a fifth of that at once.
/// let split = alone_shares(1000.0, &[500.0, 500.0], &[0.8, 0.8], 0.0)?;
/// assert_eq!((split.idle.round(), split.shared.round()), (100.0, 100.0));
/// assert!(split.is_decided());
/// # Ok::<(), pacman_metrics::Error>(())
/// ```
pub fn alone_shares(elapsed: f64, idle: &[f64], alone: &[f64], uncertainty: f64) -> Result<Split> {
    let bounded = idle_times(elapsed, idle, uncertainty)?;
    let ([one, other], [alone_one, alone_other]) = (idle, alone) else {
        return Err(refused("cycles alone divide the time of two contexts"));
    };
    let [one, other] = [one, other].map(|idle| elapsed - idle.clamp(0.0, elapsed));
    let together = [one * (1.0 - alone_one), other * (1.0 - alone_other)];
    let Bounds { low, high } = bounded.shared_bounds;
    let shared = f64::midpoint(together[0], together[1]).clamp(low, high);
    let only = [one - shared, other - shared];
    let idle = elapsed - only[0] - only[1] - shared;
    Ok(Split {
        idle,
        idle_bounds: Bounds::exactly(idle),
        only_bounds: only.map(Bounds::exactly).to_vec(),
        shared_bounds: Bounds::exactly(shared),
        only: only.to_vec(),
        shared,
        uncertainty: uncertainty + (together[0] - together[1]).abs() / 2.0,
        method: Method::AloneShares,
        ..bounded
    })
}

/// The bounds of the time in which two or more contexts were active at once.
///
/// The least is the active time that does not fit into the interval one after the other. The most
/// is the active time that can overlap with another context's.
fn shared_of(active: &[f64], sum: f64, count: f64, elapsed: f64) -> Bounds {
    if active.len() < 2 {
        return Bounds::exactly(0.0);
    }
    let most = active.iter().copied().fold(0.0, f64::max);
    let low = ((sum - 1.0) / (count - 1.0)).max(0.0);
    let high = (sum - most).min(sum / 2.0).min(1.0);
    Bounds { low: low * elapsed, high: high * elapsed }
}

fn positive(elapsed: f64, contexts: usize) -> Result<f64> {
    if contexts == 0 {
        return Err(refused("no context was looked at"));
    }
    if elapsed.is_finite() && elapsed > 0.0 {
        return Ok(elapsed);
    }
    Err(refused("no time passed"))
}

#[cold]
fn refused(because: impl std::fmt::Display) -> Error {
    not_computable("the activity of the core's contexts", because)
}
