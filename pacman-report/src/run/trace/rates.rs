//! Counts over time: a counter for each thread and event, as a rate.

use pacman_regions::LoggedExecution;

use super::event::{Event, Place, Track};
use super::executions::Thread;

/// Intervals of equal length from the first to the last execution with counts.
const INTERVALS: usize = 1000;

/// The events of a process.
///
/// A part inside another one counts for both; only the outer one is taken.
pub(super) fn events(place: Place<'_>, threads: &[Thread<'_>]) -> Vec<Event> {
    let Place { process, pid, offset } = place;
    let counted = |thread: &Thread<'_>| -> Vec<LoggedExecution> {
        let counted = thread.log.executions.iter().filter(|one| !one.counts.is_empty());
        outermost(counted.cloned().collect())
    };
    let threads: Vec<(&Thread<'_>, Vec<LoggedExecution>)> =
        threads.iter().map(|thread| (thread, counted(thread))).collect();
    let all = || threads.iter().flat_map(|(_, executions)| executions);
    let from = all().map(|one| one.begin).fold(f64::INFINITY, f64::min);
    let to = all().map(|one| one.begin + one.seconds).fold(0.0, f64::max);
    if from >= to {
        return Vec::new();
    }
    let length = (to - from) / INTERVALS as f64;
    let mut events = Vec::new();
    for (thread, executions) in &threads {
        for (at, event) in process.columns.events.iter().enumerate() {
            let counts = executions.iter().filter_map(|one| {
                Some((one.begin - from, one.seconds, (*one.counts.get(at)?)? as f64))
            });
            let counts: Vec<(f64, f64, f64)> = counts.collect();
            if counts.is_empty() {
                continue;
            }
            let (title, unit) = (event.title(), format!("{}/s", event.unit));
            let track = Track { pid, tid: thread.tid };
            let mut last = None;
            let rates = rates(&counts, length).into_iter().chain([0.0]);
            for (interval, rate) in rates.enumerate() {
                if last != Some(rate) {
                    let begin = offset + from + interval as f64 * length;
                    events.push(track.counter_of((&thread.name, &title), begin, (&unit, rate)));
                    last = Some(rate);
                }
            }
        }
    }
    events
}

/// The executions that are inside no other.
fn outermost(mut executions: Vec<LoggedExecution>) -> Vec<LoggedExecution> {
    executions.sort_by(|one, other| {
        one.begin.total_cmp(&other.begin).then(other.seconds.total_cmp(&one.seconds))
    });
    let mut until = f64::NEG_INFINITY;
    executions.retain(|one| {
        let is_outer = one.begin + one.seconds > until;
        until = until.max(one.begin + one.seconds);
        is_outer
    });
    executions
}

/// The counts of each interval by its length. A count is spread evenly over its execution, which has a begin,
/// a length and a count.
fn rates(counts: &[(f64, f64, f64)], length: f64) -> Vec<f64> {
    let mut sums = vec![0.0; INTERVALS];
    for (begin, seconds, count) in counts {
        let interval = |at: f64| ((at / length) as usize).min(INTERVALS - 1);
        let (first, last) = (interval(*begin), interval(begin + seconds));
        if first == last || *seconds <= 0.0 {
            sums[first] += count;
            continue;
        }
        for (at, sum) in sums.iter_mut().enumerate().take(last + 1).skip(first) {
            let (from, to) = (at as f64 * length, (at + 1) as f64 * length);
            let to = if at == last { f64::INFINITY } else { to };
            let inside = (begin + seconds).min(to) - begin.max(from);
            *sum += count * (inside / seconds).clamp(0.0, 1.0);
        }
    }
    sums.iter().map(|sum| sum / length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_spread_over_their_execution_and_none_is_lost() {
        let rates = rates(&[(0.0, 0.5, 10.0), (1.0, 999.0, 999.0), (0.5, 1.0, 8.0)], 1.0);
        assert_eq!(rates[0], 10.0 + 4.0);
        assert_eq!(rates[1], 4.0 + 1.0);
        assert!((rates.iter().sum::<f64>() - 1017.0).abs() < 1e-6);
    }
}
