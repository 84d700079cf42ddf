//! The whole time of each thread in each phase, one after the other.
//!
//! Phases may be inside each other, and regions inside of them, so they have tracks of their own. Threads
//! have the number that they have among those with phases.

use std::collections::BTreeMap;

use serde_json::{Map, json};

use super::event::{Event, Place, Track};
use super::pids::Pids;
use super::totals::{counts, whole_micros};

/// The events of the phases of a process, behind its `before` other tracks.
pub(super) fn events(place: Place<'_>, before: usize, pids: &mut Pids) -> Vec<Event> {
    let Place { process, pid, offset } = place;
    let mut events = Vec::new();
    let mut tracks: BTreeMap<u32, (Track, f64)> = BTreeMap::new();
    for phase in &process.phases {
        for (thread, unended) in phase.threads.iter().zip(&phase.unended) {
            let row = &thread.row;
            let (track, end) = tracks.entry(row.thread).or_insert_with(|| {
                let track = Track { pid, tid: pids.thread() };
                let name = format!("phases of thread {}", row.thread);
                events.extend(track.named(&name, before + row.thread as usize));
                (track, whole_micros(offset))
            });
            let length = whole_micros(row.seconds);
            let mut args = Map::from_iter([
                ("kind".to_owned(), json!(phase.kind)),
                ("executions".to_owned(), json!(row.executions)),
                ("unended".to_owned(), json!(unended)),
                ("time_s".to_owned(), json!(row.seconds)),
                ("cpu".to_owned(), json!(row.cpu.filter(|_| row.moves == 0))),
                ("counted".to_owned(), json!(row.counted)),
            ]);
            args.extend(counts(process, thread));
            events.push(track.complete(("phase", &phase.name), (*end, length), args));
            *end += length;
        }
    }
    events
}
