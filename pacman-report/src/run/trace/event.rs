//! The events of the format that are in use.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// An event: `ph` is its kind, times are microseconds.
#[derive(Debug, Serialize)]
pub(super) struct Event {
    ph: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    /// The scope of a moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    args: Map<String, Value>,
}

/// A process or a thread of the trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Track {
    pub(super) pid: u32,
    pub(super) tid: u32,
}

impl Track {
    /// A fact about the process or thread, such as `thread_name`.
    pub(super) fn metadata(self, what: &str, key: &str, value: impl Into<Value>) -> Event {
        let args = Map::from_iter([(key.to_owned(), value.into())]);
        self.event("M", what.to_owned(), None, args)
    }

    /// The names and the place of a thread among the others.
    pub(super) fn named(self, name: &str, place: usize) -> [Event; 2] {
        [
            self.metadata("thread_name", "name", name),
            self.metadata("thread_sort_index", "sort_index", place),
        ]
    }

    /// A slice with a begin and a length in seconds.
    pub(super) fn complete(
        self,
        (cat, name): (&'static str, &str),
        (begin, length): (f64, f64),
        args: Map<String, Value>,
    ) -> Event {
        let (ts, dur) = (Some(micros(begin)), Some(micros(length)));
        Event { ts, dur, ..self.event("X", name.to_owned(), Some(cat), args) }
    }

    /// The value of a counter from a time in seconds on.
    pub(super) fn counter(self, name: &str, begin: f64, (series, value): (&str, f64)) -> Event {
        let args = Map::from_iter([(series.to_owned(), json!(value))]);
        Event { ts: Some(micros(begin)), ..self.event("C", name.to_owned(), None, args) }
    }

    /// A moment in seconds, of the whole process.
    pub(super) fn mark(self, name: &str, at: f64, args: Map<String, Value>) -> Event {
        let event = self.event("i", name.to_owned(), None, args);
        Event { ts: Some(micros(at)), s: Some("p"), ..event }
    }

    fn event(
        self,
        ph: &'static str,
        name: String,
        cat: Option<&'static str>,
        args: Map<String, Value>,
    ) -> Event {
        Event { ph, name, cat, pid: self.pid, tid: self.tid, ts: None, dur: None, s: None, args }
    }
}

/// Microseconds with three decimals.
fn micros(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e3
}
