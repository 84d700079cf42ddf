//! When regions ran: a track for each region, and a counter of its threads.

use serde_json::{Map, json};

use super::event::{Event, Place, Track};
use super::pids::Pids;

/// The events of a process, behind `before` other tracks.
pub(super) fn events(place: Place<'_>, before: usize, pids: &mut Pids) -> Vec<Event> {
    let Place { process, pid, offset } = place;
    let mut events = Vec::new();
    let bin = process.timeline.bin;
    for row in &process.timeline.rows {
        let name = &process.regions[row.region].name.text;
        let track = Track { pid, tid: pids.thread() };
        events.extend(track.named(name, before + row.region));
        let bins: Vec<Bin> =
            row.seconds.iter().copied().zip(row.thread_seconds.iter().copied()).collect();
        for (first, stretch) in stretches(&bins) {
            let time: f64 = stretch.iter().map(|bin| bin.0).sum();
            let thread_time: f64 = stretch.iter().map(|bin| bin.1).sum();
            let args = Map::from_iter([
                ("time_s".to_owned(), json!(time)),
                ("thread_time_s".to_owned(), json!(thread_time)),
            ]);
            let span = (offset + first as f64 * bin, stretch.len() as f64 * bin);
            events.push(track.complete(("region", name), span, args));
        }
        let mut last = 0.0;
        for (at, (_, thread_time)) in bins.iter().chain([&(0.0, 0.0)]).enumerate() {
            let threads = thread_time / bin;
            if threads != last {
                let begin = offset + at as f64 * bin;
                events.push(track.counter(
                    &format!("threads: {name}"),
                    begin,
                    ("threads", threads),
                ));
                last = threads;
            }
        }
    }
    events
}

/// Seconds of a region in a bin, and seconds of its threads.
type Bin = (f64, f64);

/// The longest runs of bins in which the region ran, with the index of their first bin.
fn stretches(bins: &[Bin]) -> Vec<(usize, &[Bin])> {
    let mut first = 0;
    bins.chunk_by(|one, other| (one.0 > 0.0) == (other.0 > 0.0))
        .map(|part| {
            first += part.len();
            (first - part.len(), part)
        })
        .filter(|(_, part)| part[0].0 > 0.0)
        .collect()
}
