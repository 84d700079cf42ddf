//! Reports made by hand.

use std::time::SystemTime;

use crate::backend::ReadPath;
use crate::provenance::Provenance;
use crate::report::Stat;
use crate::report::{
    CountReport, EventColumn, EventSet, EventSetRotation, Implausible, LoggedSample, PhaseReport,
    PlaceReport, Report, SetReport, ThreadReport, ThreadState,
};
use pacman_topology::CoreType;

pub(super) const MS: u64 = 1_000_000;

pub(super) fn event(name: &str, unit: &'static str) -> EventColumn {
    let hardware = unit != "ns" && unit != "faults";
    EventColumn {
        name: name.to_string(),
        unit,
        hardware,
        doubt: None,
        table: None,
        core_pmu: None,
        part_of: None,
    }
}

pub(super) fn report(session: &str, events: Vec<EventColumn>, phases: &[&str]) -> Report {
    Report {
        session: session.to_string(),
        sets: vec![EventSet { events: (0..events.len()).collect() }],
        rotation: None,
        events,
        phases: phases.iter().map(|name| name.to_string()).collect(),
        threads: Vec::new(),
        age: 1250 * MS,
        provenance: Provenance {
            version: "0.1.0".into(),
            host: "node7".into(),
            processor: Some("Processor 9000".into()),
            system: "Linux 6.1.0 x86_64".into(),
            began: SystemTime::UNIX_EPOCH,
        },
        simulated: false,
        notes: Vec::new(),
    }
}

/// A bound thread that detached after 1.2 s.
pub(super) fn thread(number: usize, place: Option<PlaceReport>) -> ThreadReport {
    ThreadReport {
        number,
        threads: 1,
        tid: 4000 + number as i32,
        name: Some(format!("worker-{number}")),
        place,
        state: ThreadState::Detached,
        attached: 1200 * MS,
        read_path: ReadPath::Rdpmc,
        phases: Vec::new(),
        log: Vec::new(),
        log_dropped: 0,
        notes: Vec::new(),
    }
}

pub(super) fn place(package: u32, core: u32, sibling: u32, cpu: u32) -> PlaceReport {
    PlaceReport {
        cpu,
        package,
        core,
        sibling,
        node: package,
        core_type: CoreType::Uniform,
        bound: true,
    }
}

/// Executions of equal cost.
pub(super) fn row(phase: usize, executions: u64, time: u64, sums: &[u64]) -> PhaseReport {
    PhaseReport {
        phase,
        executions,
        recursions: 0,
        panics: 0,
        open: 0,
        implausible: None,
        time: stat(time, executions),
        counts: sums
            .iter()
            .map(|&sum| CountReport::new(stat(sum, executions), [executions; 2], [0, 0]))
            .collect(),
        sets: vec![SetReport {
            executions,
            time: stat(time, executions),
            counts: sums.iter().map(|&sum| stat(sum, executions)).collect(),
        }],
    }
}

pub(super) fn stat(sum: u64, executions: u64) -> Stat {
    let mean = sum.checked_div(executions).unwrap_or(0);
    Stat { sum, min: mean, max: mean }
}

/// Four threads on two cores of two siblings, three phases of different character.
pub(super) fn server() -> Report {
    let events = vec![
        event("CYCLES", "cycles"),
        event("INSTRUCTIONS", "instructions"),
        event("CACHE_MISSES", "accesses"),
        event("task-clock", "ns"),
    ];
    let mut report = report("stream", events, &["init", "triad", "reduce, \"tree\""]);
    // Linux numbers first siblings first: cpus 0 and 2 share a core.
    for number in 0..4u64 {
        let (core, sibling) = (number as u32 % 2, number as u32 / 2);
        let mut thread = thread(number as usize, Some(place(0, core, sibling, number as u32)));
        if number == 0 {
            let sums = [101_250_000, 60_750_000, 1_215_000, 40_400_000];
            thread.phases.push(row(0, 1, 40_500_000, &sums));
        }
        let slow = 1000 + number * 13;
        let cycles = 2_436_000 * slow;
        let sums = [cycles, 1_705_200 * slow, 34_104 * slow, 811_900 * slow];
        thread.phases.push(row(1, 40, 812_000 * slow, &sums));
        let sums = [900_000 + number, 1_850_000, 310 - number, 371_000];
        thread.phases.push(row(2, 160, 380_000 + number * 999, &sums));
        report.threads.push(thread);
    }
    report
}

/// 1,024 threads, four siblings to a core, of which one is late.
pub(super) fn many() -> Report {
    let events = vec![event("CYCLES", "cycles"), event("INSTRUCTIONS", "instructions")];
    let mut report = report("wide", events, &["step", "gather"]);
    for number in 0..1024u32 {
        let place = place(number / 512, number / 4, number % 4, number);
        let mut thread = thread(number as usize, Some(place));
        let late = if number == 700 { 5 } else { 1 };
        let time = (100 * MS + u64::from(number) * 1000) * late;
        thread.phases.push(row(0, 1000, time, &[time * 2, time * 3]));
        if number < 3 {
            thread.phases.push(row(1, 10, 2 * MS, &[4 * MS, MS]));
        }
        report.threads.push(thread);
    }
    report
}

/// A group that was on the counters for a half, a third and none of the time.
pub(super) fn scaled() -> Report {
    let events = vec![event("INSTRUCTIONS", "instructions"), event("page-faults", "faults")];
    let mut report = report("busy", events, &["work"]);
    for (number, running) in [(0, 50 * MS), (1, 33 * MS), (2, 0)] {
        let mut thread = thread(number, Some(place(0, number as u32, 0, number as u32)));
        let mut row = row(0, 8, 100 * MS, &[3_000_000 * u64::from(running > 0), 12]);
        row.counts[0] = CountReport::new(row.counts[0].raw, [8, 8], [running, 100 * MS]);
        thread.phases.push(row);
        report.threads.push(thread);
    }
    report
}

/// All that can go wrong, on an unbound, a nameless and a lost thread.
pub(super) fn troubled() -> Report {
    let events = vec![event("CYCLES", "cycles"), event("CACHE_MISSES", "accesses")];
    let phases = ["solve", "wait\u{1b}[2J", "unused"];
    let mut report = report("troubled", events, &phases);
    report.notes.push("places are unknown on one thread".to_string());
    let mut one = thread(0, Some(PlaceReport { bound: false, ..place(0, 3, 1, 7) }));
    let mut solve = row(0, 5, 50 * MS, &[0, 0]);
    solve.panics = 2;
    solve.recursions = 9;
    solve.implausible = Some(Implausible {
        executions: 3,
        event: Some(0),
        why: "CYCLES went backwards by 1046036".to_string(),
    });
    for count in &mut solve.counts {
        *count = CountReport::new(count.raw, [5, 5], [0, 50 * MS]);
    }
    one.phases = vec![solve, row(1, 1, 0, &[0, 0])];
    one.notes.push("an execution of \"solve\" was not counted: interrupted".to_string());
    let mut two = thread(1, None);
    two.name = None;
    two.state = ThreadState::Exited;
    let mut open = row(0, 0, 0, &[0, 0]);
    open.recursions = 1;
    open.open = 2;
    two.phases = vec![open];
    two.log = vec![LoggedSample { phase: 0, begin: 10, end: 35, set: 0, counts: vec![7, 0] }];
    two.log_dropped = 1200;
    let mut three = thread(2, Some(place(1, 8, 0, 16)));
    three.name = Some("名前\nsecond line of a very long name".to_string());
    three.state = ThreadState::Attached;
    three.attached = 0;
    report.threads = vec![one, two, three];
    report
}

/// Two threads whose sets rotated over five and one executions: cycles and
/// instructions in both sets, another event in each.
pub(super) fn rotate_event_sets(rotation: EventSetRotation) -> Report {
    let events = vec![
        event("CYCLES", "cycles"),
        event("CACHE_MISSES", "accesses"),
        event("INSTRUCTIONS", "instructions"),
        event("BRANCH_MISSES", "branches"),
    ];
    let mut report = report("rotation", events, &["work"]);
    report.sets = vec![EventSet { events: vec![0, 1, 2] }, EventSet { events: vec![0, 2, 3] }];
    report.rotation = Some(rotation);
    for (number, executions) in [(0, [3, 2]), (1, [0, 1])] {
        let mut thread = thread(number, Some(place(0, 0, number as u32, number as u32)));
        // Executions of set 1 are longer: rates must not mix them with the others.
        let set = |executions, length: u64, counts: [u64; 3]| SetReport {
            executions,
            time: stat(executions * length * MS, executions),
            counts: counts.map(|count| stat(executions * count, executions)).into(),
        };
        let first = set(executions[0], 10, [20_000_000, 4_000, 10_000_000]);
        let second = set(executions[1], 20, [40_000_000, 30_000_000, 6_000]);
        let all = executions[0] + executions[1];
        let both = |at: usize, with: usize| {
            let sum = first.counts[at].sum + second.counts[with].sum;
            CountReport::new(stat(sum, all), [all; 2], [0, 0])
        };
        let one = |set: &SetReport, at: usize| {
            CountReport::new(set.counts[at], [set.executions, all], [0, 0])
        };
        let counts = vec![both(0, 0), one(&first, 1), both(2, 1), one(&second, 2)];
        let time = first.time.sum + second.time.sum;
        let sets = vec![first, second];
        thread.phases.push(PhaseReport { counts, sets, ..row(0, all, time, &[]) });
        report.threads.push(thread);
    }
    report.threads[0].log = vec![
        LoggedSample { phase: 0, begin: 10, end: 35, set: 0, counts: vec![7, 8, 9] },
        LoggedSample { phase: 0, begin: 40, end: 55, set: 1, counts: vec![1, 2, 3] },
    ];
    report
}
