//! Made-up runs.

use pacman_core::{Provenance, Topology};
use pacman_regions::{Event, EventFacts, Machine, Recording};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::run::report::{Report, Run};

/// A run of 4 s with these regions.
pub(in crate::run) fn recording(regions: usize) -> Recording {
    let region = |at: usize| {
        json!({
            "site": {"module": "/no/such/x", "address": at, "source": null},
            "entry": "GOMP_parallel", "runtime": 0, "executions": 1, "nested": 0,
            "seconds": (regions - at) as f64, "shortest": 1.0, "longest": 1.0,
            "teams": [], "rows": [], "adaptation": null,
        })
    };
    serde_json::from_value(json!({
        "process": {"pid": 1, "parent": 1, "command": ["x"], "seconds": 4.0, "ending": "exit"},
        "runtimes": [], "threads": 4, "contexts": 4, "events": [],
        "overhead": {"nanoseconds": null, "reads": "none"},
        "regions": (0..regions).map(region).collect::<Vec<_>>(),
        "timeline": {"bin": 1.0, "rows": []}, "notes": [],
    }))
    .expect("a recording")
}

/// A report on processes that ran on eight cores of two contexts; those of a core have successive
/// numbers.
pub(in crate::run) fn report(recordings: &[Recording]) -> Report {
    report_on(8, recordings)
}

fn of(topology: &Topology, recordings: &[Recording]) -> Report {
    let run = Run {
        command: vec!["x".into()],
        label: None,
        ended: crate::run::Ended {
            pid: 1,
            exit: Exit::Status(0),
            seconds: 4.0,
            at: std::time::SystemTime::now(),
            scheduling: None,
        },
        provenance: Provenance::here(Some(topology), std::time::SystemTime::now()),
        objective: None,
        simulated: None,
        energy: None,
        quota: None,
    };
    let mut recordings = recordings.to_vec();
    let machine = Machine::of(topology, run.provenance.system.clone(), None);
    for recording in &mut recordings {
        recording.machine = Some(machine.clone());
    }
    Report::of(run, &recordings)
}

/// An event as this machine knows it.
pub(crate) fn described(name: &str) -> Event {
    let known: Option<pacman_core::Event> = name.parse().ok();
    let facts = known.map(|known| EventFacts {
        canonical: known.name().to_owned(),
        unit: known.unit().to_owned(),
        is_hardware: known.is_hardware(),
        doubt: None,
        table: None,
    });
    let unknown = Event::unknown(name);
    Event { facts: facts.unwrap_or(unknown.facts), ..unknown }
}

/// A thread of a region of 8 s.
pub(in crate::run) struct ThreadSpec {
    pub(in crate::run) busy: f64,
    pub(in crate::run) start: f64,
    pub(in crate::run) waits: f64,
    pub(in crate::run) cpu: u32,
}

/// A run of 8.5 s with one region of 8 s, in which threads wait at one construct.
pub(in crate::run) fn timed(threads: &[ThreadSpec], cause: &str) -> Recording {
    let row = |(thread, spec): (usize, &ThreadSpec)| -> Value {
        json!({
            "thread": thread, "executions": 1, "seconds": spec.busy, "cpu": spec.cpu, "moves": 0,
            "counted": 0, "counts": [],
            "states": {"starting": spec.start, "waits": [{"site": 0, "count": 5, "seconds": spec.waits}]},
        })
    };
    let site = |line: u32| json!({"module": "/no/such/x", "address": line, "source": format!(";a<b.c;solve;{line};1;;")});
    serde_json::from_value(json!({
        "process": {"pid": 7, "parent": 1, "command": ["x"], "seconds": 8.5, "ending": "exit"},
        "runtimes": [], "threads": threads.len(), "contexts": 16, "events": [],
        "overhead": {"nanoseconds": null, "reads": "none"},
        "regions": [{
            "site": site(10), "entry": "GOMP_parallel", "runtime": 0, "executions": 1, "nested": 0,
            "outer": 8.0, "starters": 1, "seconds": 8.0, "shortest": 8.0, "longest": 8.0, "adaptation": null,
            "teams": [{"threads": threads.len(), "executions": 1, "seconds": 8.0}],
            "rows": threads.iter().enumerate().map(row).collect::<Vec<_>>(),
        }],
        "timeline": {"bin": 1.0, "rows": []},
        "waits": {"sites": [{"site": site(20), "cause": cause}]},
        "scheduling": {"ran": 16.0, "delayed": 0.1},
        "notes": [],
    }))
    .expect("a recording")
}

/// The recording with a count of its own event, and a phase on two threads. The second never ended one
/// of its executions.
pub(in crate::run) fn with_phase(mut recording: Recording) -> Recording {
    let row = |thread: u32, seconds: f64, count: u64| -> Value {
        json!({
            "thread": thread, "executions": 3, "seconds": seconds, "cpu": 2, "moves": 0, "counted": 3,
            "counts": [count],
        })
    };
    let phases = json!([{
        "name": "assemble", "kind": "likwid", "threads": [
            {"begun": 3, "row": row(0, 1.5, 1_500_000_000)},
            {"begun": 4, "row": row(1, 0.25, 250_000_000)},
        ],
    }]);
    recording.phases = serde_json::from_value(phases).expect("phases");
    recording.events = vec![described("task-clock")];
    for row in recording.regions.iter_mut().flat_map(|region| &mut region.rows) {
        row.counts = vec![None];
    }
    recording
}

/// A run in which teams of `threads` ran `regions` regions, whose times have nanoseconds, and waited at a construct
/// of each.
pub(in crate::run) fn wide(threads: u32, regions: usize, events: &[&str]) -> Recording {
    // Digits as of a clock, always the same.
    let mut state = 1u64;
    let mut below = |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let site = |line: usize| json!({"module": "/no/such/x", "address": line, "source": format!(";a.c;solve;{line};1;;")});
    let mut region = |at: usize| -> Value {
        let mut row = |thread: u32| -> Value {
            let [busy, start, wait] =
                [700_000_000, 90_000, 150_000_000].map(|most| below(most) as f64 * 1e-9);
            let off = [1_000_000, 100_000].map(|most| below(most) as f64 * 1e-9);
            let counts: Vec<u64> =
                events.iter().map(|_| 1_000_000_000 + below(1_000_000_000)).collect();
            json!({
                "thread": thread, "executions": 100, "seconds": 0.2 + busy, "cpu": thread, "moves": 0,
                "counted": if events.is_empty() { 0 } else { 100 }, "counts": counts,
                "states": {
                    "starting": start, "waits": [{"site": at, "count": 100, "seconds": wait}],
                    "useful_off": off[0], "waiting_off": off[1],
                    "counted": if events.is_empty() { 0 } else { 100 },
                    "counts": counts.iter().map(|count| count / 3).collect::<Vec<_>>(),
                },
            })
        };
        let rows: Vec<Value> = (0..threads).map(&mut row).collect();
        json!({
            "site": site(at + 1), "entry": "GOMP_parallel", "runtime": 0, "executions": 100, "nested": 0,
            "outer": 1.0, "starters": 1, "seconds": 1.0, "shortest": 0.009, "longest": 0.011, "adaptation": null,
            "teams": [{"threads": threads, "executions": 100, "seconds": 1.0}], "rows": rows,
        })
    };
    let regions: Vec<Value> = (0..regions).map(&mut region).collect();
    let sites = (0..regions.len()).map(|at| json!({"site": site(at + 1), "cause": "barrier"}));
    serde_json::from_value(json!({
        "process": {"pid": 7, "parent": 1, "command": ["x"], "seconds": 1.0 + regions.len() as f64, "ending": "exit"},
        "runtimes": [], "threads": threads, "contexts": threads,
        "events": events.iter().map(|name| described(name)).collect::<Vec<_>>(),
        "overhead": {"nanoseconds": 200.0, "reads": "rdpmc"},
        "timeline": {"bin": 1.0, "rows": []},
        "waits": {"sites": sites.collect::<Vec<_>>()},
        "scheduling": {"ran": 16.0, "delayed": 0.1},
        "notes": [], "regions": regions,
    }))
    .expect("a recording")
}

/// The report of a recording on a machine of so many cores of two contexts.
pub(in crate::run) fn report_on(cores: u32, recordings: &[Recording]) -> Report {
    let topology = Topology::synthetic(&format!("{cores} cores, 2 threads")).expect("a machine");
    of(&topology, recordings)
}
