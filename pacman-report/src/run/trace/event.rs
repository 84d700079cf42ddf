//! The events of a trace, as the Chrome trace event format has them.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::run::report::ProcessReport;

/// An event: `ph` is its kind, times are microseconds.
#[derive(Debug, Serialize)]
pub(super) struct Event {
    pub(super) ph: &'static str,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cat: Option<&'static str>,
    pub(super) pid: u32,
    pub(super) tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dur: Option<f64>,
    /// The scope of a moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    pub(super) args: Map<String, Value>,
    /// The thread of a counter, and the counter's name there. Chrome's format has counters of processes alone.
    #[serde(skip)]
    pub(super) below: Option<(u32, String)>,
}

/// A process of the report, and where its events belong.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'p> {
    pub(super) process: &'p ProcessReport,
    /// The number of their process in the trace.
    pub(super) pid: u32,
    /// Seconds from the start of the trace to the begin of the process.
    pub(super) offset: f64,
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

    /// The same of the track's thread, which has the name `thread`.
    pub(super) fn counter_of(
        self,
        (thread, name): (&str, &str),
        begin: f64,
        value: (&str, f64),
    ) -> Event {
        let process = Track { tid: 0, ..self };
        let below = Some((self.tid, name.to_owned()));
        Event { below, ..process.counter(&format!("{thread}: {name}"), begin, value) }
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
        let Track { pid, tid } = self;
        Event { ph, name, cat, pid, tid, ts: None, dur: None, s: None, args, below: None }
    }
}

/// Microseconds with three decimals.
fn micros(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e3
}
