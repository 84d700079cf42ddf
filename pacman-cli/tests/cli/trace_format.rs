//! A strict reader of the Chrome trace event format.
//!
//! Its rules are those of the format's description, "Trace Event Format" by the authors of `chrome://tracing`,
//! and of Perfetto's importer for JSON, which takes times as whole nanoseconds.

use std::collections::BTreeMap;

use serde_json::Value;

/// A slice: begin and end in nanoseconds, and the event.
pub(super) type Slice<'t> = (i64, i64, &'t Value);

/// The slices of each track, by the numbers of process and thread.
pub(super) type Tracks<'t> = BTreeMap<(u64, u64), Vec<Slice<'t>>>;

const FACTS: [(&str, &str); 5] = [
    ("process_name", "name"),
    ("process_labels", "labels"),
    ("process_sort_index", "sort_index"),
    ("thread_name", "name"),
    ("thread_sort_index", "sort_index"),
];

/// The slices of a trace, each inside of another one or beside it.
pub(super) fn tracks(trace: &Value) -> Tracks<'_> {
    let unit = trace["displayTimeUnit"].as_str();
    assert!(unit.is_none_or(|unit| ["ms", "ns"].contains(&unit)), "{unit:?}");
    let mut tracks = Tracks::new();
    let mut named = BTreeMap::new();
    for event in trace["traceEvents"].as_array().expect("a list of events") {
        let id = |name: &str| event[name].as_u64().unwrap_or_else(|| panic!("{name} of {event}"));
        let track = (id("pid"), id("tid"));
        let name = event["name"].as_str().unwrap_or_else(|| panic!("a name of {event}"));
        let args = event["args"].as_object().unwrap_or_else(|| panic!("arguments of {event}"));
        match event["ph"].as_str() {
            Some("X") => {
                let (begin, length) = (nanoseconds(&event["ts"]), nanoseconds(&event["dur"]));
                assert!(begin >= 0 && length >= 0 && event["cat"].is_string(), "{event}");
                tracks.entry(track).or_default().push((begin, begin + length, event));
            }
            Some("C") => {
                assert!(nanoseconds(&event["ts"]) >= 0 && event["dur"].is_null(), "{event}");
                assert!(!args.is_empty() && args.values().all(Value::is_number), "{event}");
            }
            Some("i") => {
                let scope = event["s"].as_str().unwrap_or("t");
                assert!(["g", "p", "t"].contains(&scope) && !event["ts"].is_null(), "{event}");
            }
            Some("M") => {
                let key = FACTS.iter().find(|fact| fact.0 == name).map(|fact| fact.1);
                assert!(key.is_some_and(|key| args.contains_key(key)), "{event}");
                if name == "thread_name" {
                    assert!(named.insert(track, &event["args"]["name"]).is_none(), "{event}");
                }
            }
            _ => panic!("no such kind: {event}"),
        }
    }
    for (track, slices) in &mut tracks {
        assert!(named.contains_key(track), "no name of track {track:?}");
        slices.sort_by_key(|(begin, end, _)| (*begin, -*end));
        let mut open: Vec<i64> = Vec::new();
        for (begin, end, event) in slices {
            while open.last().is_some_and(|last| *last <= *begin) {
                open.pop();
            }
            assert!(open.last().is_none_or(|last| *end <= *last), "{event} ends after its whole");
            open.push(*end);
        }
    }
    tracks
}

/// Microseconds as an importer takes them.
fn nanoseconds(value: &Value) -> i64 {
    let microseconds = value.as_f64().unwrap_or_else(|| panic!("{value} is no time"));
    (microseconds * 1e3) as i64
}
