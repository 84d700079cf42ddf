//! Perfetto's form has the events of Chrome's, with the counters of a thread below it.

use std::collections::{BTreeMap, BTreeSet};

use pacman_regions::{ExecutionLog, LoggedExecution, LoggedWait, Recording};
use serde_json::Value;

use crate::run::report::Report;
use crate::run::tests::made::{self, ThreadSpec, timed};
use crate::run::{Extent, Form};

/// The fields of a message, in their order.
struct Message<'b>(Vec<(u64, Field<'b>)>);

#[derive(Clone, Copy, Debug)]
enum Field<'b> {
    Number(u64),
    Real(f64),
    Bytes(&'b [u8]),
}

impl<'b> Message<'b> {
    fn of(mut bytes: &'b [u8]) -> Message<'b> {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let field = match key & 7 {
                0 => Field::Number(varint(&mut bytes)),
                1 => {
                    Field::Real(f64::from_le_bytes(taken(&mut bytes, 8).try_into().expect("eight")))
                }
                2 => {
                    let length = varint(&mut bytes) as usize;
                    Field::Bytes(taken(&mut bytes, length))
                }
                kind => panic!("no such kind: {kind}"),
            };
            fields.push((key >> 3, field));
        }
        Message(fields)
    }

    fn field(&self, number: u64) -> Option<Field<'b>> {
        self.0.iter().find(|(own, _)| *own == number).map(|(_, field)| *field)
    }

    fn number(&self, number: u64) -> u64 {
        match self.field(number) {
            Some(Field::Number(value)) => value,
            other => panic!("field {number} is {other:?}"),
        }
    }

    fn text(&self, number: u64) -> &'b str {
        match self.field(number) {
            Some(Field::Bytes(bytes)) => std::str::from_utf8(bytes).expect("UTF-8"),
            other => panic!("field {number} is {other:?}"),
        }
    }

    fn message(&self, number: u64) -> Option<Message<'b>> {
        match self.field(number)? {
            Field::Bytes(bytes) => Some(Message::of(bytes)),
            other => panic!("field {number} is {other:?}"),
        }
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = taken(bytes, 1)[0];
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return value;
        }
    }
}

fn taken<'b>(bytes: &mut &'b [u8], count: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at(count);
    *bytes = rest;
    taken
}

/// Slices by process, thread, begin and end in nanoseconds, and name.
type Slices = BTreeSet<(u64, u64, u64, u64, String)>;

/// The tracks of a trace, as an importer reads them.
#[derive(Default)]
struct Shown {
    slices: Slices,
    /// Names of threads, by process and thread; thread 0 is the process.
    names: BTreeMap<(u64, u64), String>,
    /// Names, units and values of counters, by the names of process or thread.
    counters: BTreeMap<(String, String, String), Vec<(u64, f64)>>,
}

fn shown(trace: &[u8]) -> Shown {
    let mut shown = Shown::default();
    let mut tracks: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let mut counters: BTreeMap<u64, (String, String, String)> = BTreeMap::new();
    let mut open: BTreeMap<u64, Vec<(u64, String)>> = BTreeMap::new();
    for (_, packet) in &Message::of(trace).0 {
        let Field::Bytes(packet) = packet else { panic!("{packet:?}") };
        let packet = Message::of(packet);
        if let Some(track) = packet.message(60) {
            let uuid = track.number(1);
            if let Some(process) = track.message(3) {
                tracks.insert(uuid, (process.number(1), 0));
                shown.names.insert((process.number(1), 0), process.text(6).to_owned());
            } else if let Some(thread) = track.message(4) {
                let own = (thread.number(1), thread.number(2));
                assert_eq!(tracks[&track.number(5)], (own.0, 0), "its process comes before it");
                tracks.insert(uuid, own);
                shown.names.insert(own, thread.text(5).to_owned());
            } else if let Some(counter) = track.message(8) {
                let parent = shown.names[&tracks[&track.number(5)]].clone();
                let name = track.text(2).to_owned();
                counters.insert(uuid, (parent, name, counter.text(6).to_owned()));
            }
            continue;
        }
        let (at, event) = (packet.number(8), packet.message(11).expect("an event"));
        assert_eq!(packet.number(10), 1, "a sequence");
        let uuid = event.number(11);
        match event.number(9) {
            1 => open.entry(uuid).or_default().push((at, event.text(23).to_owned())),
            2 => {
                let (begin, name) = open.get_mut(&uuid).and_then(Vec::pop).expect("a begin");
                let (pid, tid) = tracks[&uuid];
                assert!(shown.slices.insert((pid, tid, begin, at, name)));
            }
            3 => {}
            4 => {
                let Some(Field::Real(value)) = event.field(44) else { panic!("a value") };
                shown.counters.entry(counters[&uuid].clone()).or_default().push((at, value));
            }
            kind => panic!("no such type: {kind}"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "each slice ends");
    shown
}

/// A run with logs of two threads, one of which waits, and counts.
fn logged() -> Report {
    let thread = |waits, cpu| ThreadSpec { busy: 8.0, start: 0.0, waits, cpu };
    let mut recording: Recording =
        made::with_phase(timed(&[thread(0.0, 0), thread(3.0, 2)], "lock"));
    let execution = |thread: u32, begin: f64, seconds: f64, count: u64| LoggedExecution {
        region: 0,
        thread,
        begin,
        seconds,
        own_work: 0.0,
        weight: 1,
        counts: vec![Some(count)],
    };
    recording.logs = vec![
        ExecutionLog {
            executions: vec![execution(0, 0.0, 1.0, 1000), execution(0, 1.0, 0.5, 700)],
            waits: Vec::new(),
        },
        ExecutionLog {
            executions: vec![execution(1, 0.0, 1.0, 500)],
            waits: vec![
                LoggedWait { site: 0, begin: 0.0, seconds: 0.0, tasks: 0.0 },
                LoggedWait { site: 0, begin: 0.25, seconds: 0.75, tasks: 0.0 },
            ],
        },
    ];
    made::report(&[recording])
}

#[test]
fn both_forms_have_the_same_slices() {
    let report = logged();
    let shown = shown(&Form::Perfetto.bytes(&report, Extent::default(), 0));
    let json: Value = chrome(&report);
    let nanoseconds = |value: &Value| (value.as_f64().expect("a time") * 1e3).round() as u64;
    let id = |event: &Value, name: &str| event[name].as_u64().expect("a number");
    let events = json["traceEvents"].as_array().expect("a list");
    let slices: Slices = events
        .iter()
        .filter(|event| event["ph"] == "X")
        .map(|event| {
            let begin = nanoseconds(&event["ts"]);
            let name = event["name"].as_str().expect("a name").to_owned();
            let end = begin + nanoseconds(&event["dur"]);
            (id(event, "pid"), id(event, "tid"), begin, end, name)
        })
        .collect();
    assert!(slices.len() >= 8, "{slices:?}");
    assert_eq!(shown.slices, slices);
    let names: BTreeMap<(u64, u64), String> = events
        .iter()
        .filter(|event| event["name"] == "thread_name" || event["name"] == "process_name")
        .map(|event| {
            let name = event["args"]["name"].as_str().expect("a name").to_owned();
            ((id(event, "pid"), id(event, "tid")), name)
        })
        .collect();
    assert_eq!(shown.names, names);
}

#[test]
fn counters_of_a_thread_are_below_it_and_add_up_to_its_counts() {
    let report = logged();
    let shown = shown(&Form::Perfetto.bytes(&report, Extent::default(), 0));
    let of = |thread: &str| -> f64 {
        let own = (thread.to_owned(), "task-clock".to_owned(), "ns/s".to_owned());
        let values = &shown.counters[&own];
        values.windows(2).map(|pair| (pair[1].0 - pair[0].0) as f64 * 1e-9 * pair[0].1).sum()
    };
    assert!((of("T0") - 1700.0).abs() < 1e-3, "{}", of("T0"));
    assert!((of("T1") - 500.0).abs() < 1e-3, "{}", of("T1"));
    let json: Value = chrome(&report);
    let events = json["traceEvents"].as_array().expect("a list");
    let named = |name: &str| {
        events.iter().filter(|event| event["name"] == name && event["tid"] == 0).count()
    };
    let values = |thread: &str| {
        shown.counters[&(thread.to_owned(), "task-clock".into(), "ns/s".into())].len()
    };
    assert_eq!(named("T0: task-clock"), values("T0"), "Chrome's have the thread in the name");
    assert_eq!(named("T1: task-clock"), values("T1"));
}

fn chrome(report: &Report) -> Value {
    let text = Form::Trace.bytes(report, Extent::default(), 0);
    serde_json::from_slice(&text).expect("JSON")
}
