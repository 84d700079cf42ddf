//! The whole time of each thread in each region, one after the other, with its parts inside.
//!
//! A recording has sums. So the tracks belong to a process of their own, whose name says that its slices
//! have no place in time.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::event::{Event, Place, Track};
use super::pids::Pids;
use crate::run::report::{ProcessReport, RegionReport, Thread};
use crate::run::text::reason_at;

/// The events of the threads of a process.
pub(super) fn events(place: Place<'_>, pids: &mut Pids) -> Vec<Event> {
    let Place { process, pid, offset } = place;
    let mut events = Vec::new();
    let mut tracks: BTreeMap<u32, (Track, f64)> = BTreeMap::new();
    for region in &process.regions {
        for thread in &region.threads {
            let number = thread.row.thread;
            let (track, end) = tracks.entry(number).or_insert_with(|| {
                let track = Track { pid, tid: pids.thread() };
                events.extend(track.named(&format!("T{number}"), number as usize));
                (track, whole_micros(offset))
            });
            let parts = parts(process, region, thread);
            let length: f64 = parts.iter().map(|part| whole_micros(part.seconds)).sum();
            let args = about(process, region, thread);
            events.push(track.complete(("total", &region.name.text), (*end, length), args));
            if region.states.is_some() {
                let mut begin = *end;
                for part in &parts {
                    let length = whole_micros(part.seconds);
                    let mut args = Map::from_iter([("time_s".to_owned(), json!(part.seconds))]);
                    args.extend(part.count.map(|count| ("count".to_owned(), json!(count))));
                    let title = (part.category, &*part.name);
                    events.push(track.complete(title, (begin, length), args));
                    begin += length;
                }
            }
            *end += length;
        }
    }
    events
}

/// A part of a thread's time in a region.
struct Part {
    category: &'static str,
    name: String,
    seconds: f64,
    /// The number of waits.
    count: Option<u64>,
}

/// Useful time and waits, or the busy time where waits were not timed.
fn parts(process: &ProcessReport, region: &RegionReport, thread: &Thread) -> Vec<Part> {
    let part = |category, name: String, seconds| Part { category, name, seconds, count: None };
    let threads = region.states.iter().flat_map(|states| &states.threads);
    let mut own = threads.filter(|states| states.thread == thread.row.thread);
    let Some(states) = own.next() else {
        return vec![part("total", region.name.text.clone(), thread.row.seconds)];
    };
    let mut parts = vec![part("useful", "useful".into(), states.useful)];
    let counts = [None, None].into_iter().chain(states.waits.iter().map(|wait| Some(wait.2.count)));
    parts.extend(states.by_reason().zip(counts).map(|((reason, seconds), count)| Part {
        count,
        ..part("wait", reason_at(reason, &process.sites), seconds)
    }));
    parts
}

/// Figures of a thread in a region, with the names of the JSON report.
fn about(process: &ProcessReport, region: &RegionReport, thread: &Thread) -> Map<String, Value> {
    let row = &thread.row;
    let mut about = Map::from_iter([
        ("executions".to_owned(), json!(row.executions)),
        ("busy_s".to_owned(), json!(row.seconds)),
        ("cpu".to_owned(), json!(row.cpu.filter(|_| row.moves == 0))),
        ("counted".to_owned(), json!(row.counted)),
        ("nested".to_owned(), json!(region.nested)),
        ("timed_executions".to_owned(), json!(region.sampling.map(|sampling| sampling.timed))),
        ("file".to_owned(), json!(region.name.file)),
        ("line".to_owned(), json!(region.name.line)),
    ]);
    let states = region.states.iter().flat_map(|states| &states.threads);
    if let Some(own) = states.clone().find(|states| states.thread == row.thread) {
        about.insert("useful_off_s".to_owned(), json!(own.useful_off));
        about.insert("waiting_off_s".to_owned(), json!(own.waiting_off));
    }
    about.extend(counts(process, thread));
    about
}

/// A thread's counts with the titles of their events.
pub(super) fn counts(
    process: &ProcessReport,
    thread: &Thread,
) -> impl Iterator<Item = (String, Value)> {
    let counts = process.columns.events.iter().zip(&thread.figures.counts);
    counts.filter_map(|(event, count)| {
        let count = (*count)?;
        let estimate = if count.share < 1.0 { ", estimate" } else { "" };
        Some((format!("{} [{}]{estimate}", event.title(), event.unit), json!(count.value)))
    })
}

/// Seconds with whole microseconds. Importers convert to nanoseconds, and a fraction may end a part after
/// its whole.
pub(super) fn whole_micros(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}
