//! Single executions and waits, on a track for each thread, at the times when they ran.

use std::collections::BTreeMap;

use pacman_regions::{ExecutionLog, LoggedExecution};
use serde_json::{Map, json};

use super::event::{Event, Place, Track};
use super::pids::Pids;
use crate::run::report::{ProcessReport, Reason};
use crate::run::text::reason_at;

/// A log and its thread's number in most of its executions.
pub(super) struct Thread<'p> {
    pub(super) log: &'p ExecutionLog,
    /// `T0`, or `T0 (2)` for the second thread that has this number.
    pub(super) name: String,
    /// Its number in the trace.
    pub(super) tid: u32,
}

/// The logs of a process by the numbers of their threads.
pub(super) fn threads<'p>(process: &'p ProcessReport, pids: &mut Pids) -> Vec<Thread<'p>> {
    let mut numbered: Vec<(Option<u32>, &ExecutionLog)> =
        process.logs.iter().map(|log| (usual_number(&log.executions), log)).collect();
    numbered.sort_by_key(|(number, _)| number.unwrap_or(u32::MAX));
    let mut known: BTreeMap<Option<u32>, u32> = BTreeMap::new();
    let named = numbered.into_iter().map(|(number, log)| {
        let place = known.entry(number).or_default();
        *place += 1;
        let name = number.map_or_else(|| "outside of regions".to_owned(), |one| format!("T{one}"));
        let name = if *place > 1 { format!("{name} ({place})") } else { name };
        Thread { log, name, tid: pids.thread() }
    });
    named.collect()
}

fn usual_number(executions: &[LoggedExecution]) -> Option<u32> {
    let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
    executions.iter().for_each(|one| *numbers.entry(one.thread).or_default() += 1);
    numbers.into_iter().max_by_key(|(number, times)| (*times, u32::MAX - number)).map(|one| one.0)
}

/// The events of a process.
pub(super) fn events(place: Place<'_>, threads: &[Thread<'_>]) -> Vec<Event> {
    let Place { process, pid, offset } = place;
    let mut events = Vec::new();
    for (at, Thread { log, name, tid }) in threads.iter().enumerate() {
        let track = Track { pid, tid: *tid };
        events.extend(track.named(name, at));
        for one in &log.executions {
            let mut args = Map::from_iter([("time_s".to_owned(), json!(one.seconds))]);
            if one.weight > 1 {
                args.insert("stands_for".to_owned(), json!(one.weight));
            }
            for (event, count) in process.columns.events.iter().zip(&one.counts) {
                if let Some(count) = count {
                    args.insert(format!("{} [{}]", event.title(), event.unit), json!(count));
                }
            }
            let title = ("execution", &*process.regions[one.region].name.text);
            events.push(track.complete(
                title,
                span(offset, one.begin, one.seconds + one.own_work),
                args,
            ));
        }
        for wait in &log.waits {
            let Some(at) = process.sites.get(wait.site) else { continue };
            let mut args = Map::from_iter([("time_s".to_owned(), json!(wait.seconds))]);
            if wait.tasks > 0.0 {
                args.insert("tasks_s".to_owned(), json!(wait.tasks));
            }
            let span = span(offset, wait.begin, wait.seconds);
            let name = reason_at(Reason::Site(wait.site, at.site.cause), &process.sites);
            events.push(track.complete(("wait", &name), span, args));
        }
    }
    events.extend(end(place));
    events
}

/// A mark where the logs end, if the process ran on.
fn end(place: Place<'_>) -> Option<Event> {
    let Place { process, pid, offset } = place;
    let executions = process.logs.iter().flat_map(|log| &log.executions);
    let logged: u64 = executions.clone().map(|one| u64::from(one.weight)).sum();
    let rows = process.regions.iter().flat_map(|region| &region.threads);
    let all = rows.fold(0, |sum: u64, thread| sum.saturating_add(thread.row.executions));
    let until = executions.map(|one| one.begin + one.seconds + one.own_work).fold(0.0, f64::max);
    if logged == 0 || logged >= all {
        return None;
    }
    let args = Map::from_iter([
        ("executions_of_threads".to_owned(), json!(all)),
        ("with_slices".to_owned(), json!(logged)),
    ]);
    Some(Track { pid, tid: 0 }.mark(END, span(offset, until, 0.0).0, args))
}

const END: &str =
    "some executions have no slice of their own: the log was full, or they ended in no row";

/// Begin and length in seconds, both in eighths of a microsecond. These are exact in binary and in decimal,
/// so importers that convert to nanoseconds find a part inside of its whole.
fn span(offset: f64, begin: f64, seconds: f64) -> (f64, f64) {
    let eighths = |seconds: f64| (seconds * 8e6).round();
    let (begin, end) = (eighths(offset + begin), eighths(offset + begin + seconds));
    (begin / 8e6, (end - begin) / 8e6)
}
