//! Traces of runs whose bins and totals are known.

use std::time::UNIX_EPOCH;

use pacman_regions::{Rank, Recording, TimelineRow};
use serde_json::Value;

use crate::run::report::Report;
use crate::run::tests::made::{self, ThreadSpec, recording, timed};
use crate::run::{Extent, Form};

/// A report on a run that began in 1970.
fn report(recordings: &[Recording]) -> Report {
    let mut report = made::report(recordings);
    report.run.provenance.began = UNIX_EPOCH;
    report
}

fn events(report: &Report) -> Vec<Value> {
    let text = Form::Trace.bytes(report, Extent::default(), 0);
    let document: Value = serde_json::from_slice(&text).expect("JSON");
    document["traceEvents"].as_array().expect("a list").clone()
}

fn of_kind<'a>(events: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["ph"] == kind)
}

#[test]
fn a_region_has_a_slice_for_each_interval_in_which_it_ran() {
    let mut recording = recording(2);
    let row = |region, seconds: &[f64]| TimelineRow {
        region,
        seconds: seconds.to_vec(),
        thread_seconds: seconds.iter().map(|time| 4.0 * time).collect(),
    };
    recording.timeline.rows = vec![row(0, &[0.5, 1.0, 0.0, 0.25]), row(1, &[0.0, 0.0, 1.0])];
    let events = events(&report(&[recording]));
    let slices: Vec<_> = of_kind(&events, "X")
        .filter(|event| event["cat"] == "region")
        .map(|event| {
            let number = |value: &Value| value.as_f64().expect("a number");
            let args = &event["args"];
            let inside = (number(&args["time_s"]), number(&args["thread_time_s"]));
            (event["name"].as_str().unwrap(), number(&event["ts"]), number(&event["dur"]), inside)
        })
        .collect();
    let expected = [
        ("x+0x0", 0.0, 2e6, (1.5, 6.0)),
        ("x+0x0", 3e6, 1e6, (0.25, 1.0)),
        ("x+0x1", 2e6, 1e6, (1.0, 4.0)),
    ];
    assert_eq!(slices, expected);
    let counters: Vec<_> = of_kind(&events, "C")
        .filter(|event| event["name"] == "threads: x+0x0")
        .map(|event| (event["ts"].as_f64().unwrap(), event["args"]["threads"].as_f64().unwrap()))
        .collect();
    assert_eq!(counters, [(0.0, 2.0), (1e6, 4.0), (2e6, 0.0), (3e6, 1.0), (4e6, 0.0)]);
}

#[test]
fn processes_of_one_number_on_two_hosts_stay_apart() {
    let rank = |rank: u32, began: f64| -> Recording {
        let threads = [ThreadSpec { busy: 8.0, start: 0.0, waits: 3.0, cpu: 0 }];
        let mut recording = timed(&threads, "lock");
        recording.process.rank = Some(Rank { rank, ranks: Some(2) });
        recording.process.host = Some(format!("node{rank}"));
        recording.process.began = began;
        recording
    };
    let recordings = [rank(0, 0.5), rank(1, 2.0)];
    let events = events(&report(&recordings));
    let pids: Vec<u64> = of_kind(&events, "M")
        .filter(|event| event["name"] == "process_name")
        .map(|event| event["pid"].as_u64().expect("a number"))
        .collect();
    let mut different = pids.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!((pids.len(), different.len(), pids[0]), (4, 4, 7));
    let begins: Vec<f64> = of_kind(&events, "X")
        .filter(|event| event["cat"] == "total")
        .map(|event| event["ts"].as_f64().expect("a number"))
        .collect();
    assert_eq!(begins, [5e5, 2e6], "from the start of the run, whose date is 1970");
}

#[test]
fn waits_lie_inside_of_the_total_of_their_region() {
    let threads = [ThreadSpec { busy: 7.5, start: 0.25, waits: 3.0, cpu: 0 }];
    let events = events(&report(&[timed(&threads, "lock")]));
    let slices: Vec<_> = of_kind(&events, "X")
        .map(|event| {
            let time = |name: &str| event[name].as_f64().expect("a number");
            (
                event["cat"].as_str().unwrap(),
                event["name"].as_str().unwrap(),
                time("ts"),
                time("dur"),
            )
        })
        .collect();
    let expected = [
        ("total", "solve, line 10", 0.0, 8e6),
        ("useful", "useful", 0.0, 4.5e6),
        ("wait", "at the start of regions", 4.5e6, 0.25e6),
        ("wait", "at the end of regions", 4.75e6, 0.25e6),
        ("wait", "for a lock, a<b.c:20", 5e6, 3e6),
    ];
    assert_eq!(slices, expected);
}

#[test]
fn phases_have_tracks_of_their_own() {
    let threads = [ThreadSpec { busy: 7.5, start: 0.25, waits: 3.0, cpu: 0 }];
    let recording = made::with_phase(timed(&threads, "lock"));
    let events = events(&report(&[recording]));
    let tracks: Vec<_> = of_kind(&events, "M")
        .filter(|event| event["name"] == "thread_name")
        .map(|event| (event["args"]["name"].as_str().expect("a name"), &event["tid"]))
        .collect();
    let phases: Vec<_> = of_kind(&events, "X").filter(|event| event["cat"] == "phase").collect();
    assert_eq!(phases.len(), 2);
    for (phase, name, time, unended) in
        [(phases[0], "phases of thread 0", 1.5, 0), (phases[1], "phases of thread 1", 0.25, 1)]
    {
        assert!(tracks.contains(&(name, &phase["tid"])), "{tracks:?}");
        assert_eq!(phase["name"], "assemble");
        assert_eq!(phase["dur"].as_f64(), Some(time * 1e6));
        let args = &phase["args"];
        assert_eq!((&args["kind"], &args["unended"]), (&"likwid".into(), &unended.into()));
        assert_eq!(args["task-clock [ns]"].as_f64(), Some(time * 1e9));
    }
}

#[test]
fn a_process_with_phases_alone_is_there() {
    let events = events(&report(&[made::with_phase(recording(0))]));
    assert!(events.iter().any(|event| event["name"] == "assemble"), "{events:?}");
}
