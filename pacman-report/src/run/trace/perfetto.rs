//! The same events in Perfetto's own format: a `Trace` of `TracePacket`s, by its definitions and its page "Writing
//! TrackEvent Protos Synthetically". Counters have tracks below those of their threads, which JSON cannot say.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Map, Value};

use super::document::{About, began, events, observed};
use super::event::Event;
use super::pids::Pids;
use super::protobuf::Message;
use crate::run::report::{ProcessReport, Report};

/// Writes the file of these processes, one after the other.
pub(in crate::run) fn stream<P: Borrow<ProcessReport>>(
    report: &Report,
    processes: impl Iterator<Item = P>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut packets = Packets { out, counters: 0 };
    packets.about(report)?;
    let (began, mut pids) = (began(report), Pids::new());
    for (place, process) in observed(processes).enumerate() {
        packets.process(&events(process.borrow(), began, place + 1, &mut pids))?;
    }
    Ok(())
}

struct Packets<'w> {
    out: &'w mut dyn Write,
    /// Tracks of counters so far.
    counters: u64,
}

impl Packets<'_> {
    /// A moment at the begin, whose arguments are about the run.
    fn about(&mut self, report: &Report) -> io::Result<()> {
        self.descriptor(Message::default().number(UUID, ABOUT).text(NAME, "about this run"))?;
        let mut event = event(INSTANT, ABOUT).text(EVENT_NAME, "about this run");
        let facts = serde_json::to_value(About::of(report)).expect("names are strings");
        if let Value::Object(facts) = facts {
            event = annotated(event, &facts);
        }
        self.packet(0, event)
    }

    /// The tracks of a process, its slices and its counters.
    fn process(&mut self, events: &[Event]) -> io::Result<()> {
        let mut tracks: BTreeMap<(u32, u32), Vec<&Event>> = BTreeMap::new();
        for event in events {
            tracks.entry((event.pid, event.tid)).or_default().push(event);
        }
        for ((pid, tid), events) in &tracks {
            self.track(*pid, *tid, events)?;
        }
        // Counters come behind all threads, whose tracks they refer to.
        let mut counters: BTreeMap<(u64, &str), u64> = BTreeMap::new();
        for event in events.iter().filter(|event| event.ph == "C") {
            let (tid, name) =
                event.below.as_ref().map_or((0, &*event.name), |(tid, name)| (*tid, name));
            let parent = uuid(event.pid, tid);
            let Some((unit, value)) = event.args.iter().next() else { continue };
            let track = match counters.get(&(parent, name)) {
                Some(track) => *track,
                None => {
                    self.counters += 1;
                    let track = FIRST_COUNTER + self.counters;
                    let counter = Message::default().text(UNIT_NAME, unit);
                    let descriptor = Message::default().number(UUID, track).number(PARENT, parent);
                    self.descriptor(descriptor.text(NAME, name).message(COUNTER, counter))?;
                    counters.insert((parent, name), track);
                    track
                }
            };
            let value = value.as_f64().unwrap_or_default();
            self.packet(
                nanoseconds(event.ts),
                self::event(COUNTER_VALUE, track).real(DOUBLE_COUNTER, value),
            )?;
        }
        Ok(())
    }

    /// A thread or, as number 0, a process: its name, then what happened on it.
    fn track(&mut self, pid: u32, tid: u32, events: &[&Event]) -> io::Result<()> {
        let fact = |what: &str, key: &str| {
            let fact = events.iter().find(|event| event.ph == "M" && event.name == what);
            fact.and_then(|event| event.args.get(key))
        };
        let text =
            |what: &str, key: &str| fact(what, key).and_then(Value::as_str).unwrap_or_default();
        let rank =
            |what: &str| fact(what, "sort_index").and_then(Value::as_i64).unwrap_or_default();
        let own = uuid(pid, tid);
        let descriptor = Message::default().number(UUID, own);
        self.descriptor(match tid {
            0 => descriptor.message(
                PROCESS,
                Message::default()
                    .number(PID, pid.into())
                    .text(PROCESS_NAME, text("process_name", "name"))
                    .signed(SORT_INDEX, rank("process_sort_index"))
                    .text(PROCESS_LABELS, text("process_labels", "labels")),
            ),
            _ => descriptor.number(PARENT, uuid(pid, 0)).message(
                THREAD,
                Message::default()
                    .number(PID, pid.into())
                    .number(TID, tid.into())
                    .signed(SORT_INDEX, rank("thread_sort_index"))
                    .text(THREAD_NAME, text("thread_name", "name")),
            ),
        })?;
        for moment in events.iter().filter(|event| event.ph == "i") {
            let event = annotated(event(INSTANT, own).text(EVENT_NAME, &moment.name), &moment.args);
            self.packet(nanoseconds(moment.ts), event)?;
        }
        self.slices(own, events)
    }

    /// Begins and ends of slices in the order in which they happen. The importer takes events of one time in
    /// the order of the file.
    fn slices(&mut self, track: u64, events: &[&Event]) -> io::Result<()> {
        let span = |event: &&&Event| {
            let begin = nanoseconds(event.ts);
            (begin, begin + nanoseconds(event.dur))
        };
        let mut slices: Vec<&&Event> = events.iter().filter(|event| event.ph == "X").collect();
        slices.sort_by_key(|event| (span(event).0, Reverse(span(event).1)));
        let mut open: Vec<u64> = Vec::new();
        for slice in slices {
            let (begin, end) = span(&slice);
            while let Some(ended) = open.last().copied().filter(|last| *last <= begin) {
                open.pop();
                self.packet(ended, event(END, track))?;
            }
            let event = event(BEGIN, track).text(CATEGORY, slice.cat.unwrap_or_default());
            self.packet(begin, annotated(event.text(EVENT_NAME, &slice.name), &slice.args))?;
            open.push(open.last().map_or(end, |whole| end.min(*whole)));
        }
        while let Some(ended) = open.pop() {
            self.packet(ended, event(END, track))?;
        }
        Ok(())
    }

    fn descriptor(&mut self, descriptor: Message) -> io::Result<()> {
        self.write(Message::default().message(TRACK_DESCRIPTOR, descriptor))
    }

    fn packet(&mut self, at: u64, event: Message) -> io::Result<()> {
        let packet = Message::default().number(TIMESTAMP, at).message(TRACK_EVENT, event);
        self.write(packet.number(SEQUENCE, 1))
    }

    fn write(&mut self, packet: Message) -> io::Result<()> {
        self.out.write_all(&Message::default().message(PACKET, packet).into_bytes())
    }
}

fn event(kind: u64, track: u64) -> Message {
    Message::default().number(KIND, kind).number(TRACK, track)
}

/// The event with its arguments, without those that are null.
fn annotated(mut event: Message, args: &Map<String, Value>) -> Message {
    for (name, value) in args {
        let named = Message::default().text(ANNOTATION_NAME, name);
        let annotation = match value {
            Value::Null => continue,
            Value::Bool(value) => named.number(BOOL, u64::from(*value)),
            Value::String(value) => named.text(STRING, value),
            Value::Number(value) => match (value.as_u64(), value.as_i64()) {
                (Some(whole), _) => named.number(UNSIGNED, whole),
                (None, Some(whole)) => named.signed(SIGNED, whole),
                _ => named.real(DOUBLE, value.as_f64().unwrap_or_default()),
            },
            other => named.text(STRING, &other.to_string()),
        };
        event = event.message(ANNOTATION, annotation);
    }
    event
}

/// The number of a track. Processes and threads have 22 bits.
fn uuid(pid: u32, tid: u32) -> u64 {
    u64::from(pid) << 32 | u64::from(tid)
}

/// Of microseconds, which have three decimals.
fn nanoseconds(micros: Option<f64>) -> u64 {
    (micros.unwrap_or_default() * 1e3).round() as u64
}

const ABOUT: u64 = 1 << 63;
const FIRST_COUNTER: u64 = 1 << 62;

// Numbers of fields: of Trace and TracePacket,
const PACKET: u32 = 1;
const TIMESTAMP: u32 = 8;
const SEQUENCE: u32 = 10;
const TRACK_EVENT: u32 = 11;
const TRACK_DESCRIPTOR: u32 = 60;
// of TrackDescriptor,
const UUID: u32 = 1;
const NAME: u32 = 2;
const PROCESS: u32 = 3;
const THREAD: u32 = 4;
const PARENT: u32 = 5;
const COUNTER: u32 = 8;
// of ProcessDescriptor, ThreadDescriptor and CounterDescriptor,
const PID: u32 = 1;
const TID: u32 = 2;
const SORT_INDEX: u32 = 3;
const THREAD_NAME: u32 = 5;
const PROCESS_NAME: u32 = 6;
const PROCESS_LABELS: u32 = 8;
const UNIT_NAME: u32 = 6;
// of TrackEvent and its types,
const ANNOTATION: u32 = 4;
const KIND: u32 = 9;
const TRACK: u32 = 11;
const CATEGORY: u32 = 22;
const EVENT_NAME: u32 = 23;
const DOUBLE_COUNTER: u32 = 44;
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER_VALUE: u64 = 4;
// and of DebugAnnotation.
const BOOL: u32 = 2;
const UNSIGNED: u32 = 3;
const SIGNED: u32 = 4;
const DOUBLE: u32 = 5;
const STRING: u32 = 6;
const ANNOTATION_NAME: u32 = 10;
