//! `run` with more events than counters: each call of the machine fails in turn, those that change the
//! event set too. Few real machines have a PMU that a test may use, so this one is simulated.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use super::rows::rows;
use crate::harness::{OUTPUT, Place, beside_test};

/// Ten events, for which Haswell's counters need two sets, and the time on a processor, which needs no counter.
const EVENTS: [&str; 11] = [
    "task-clock",
    "INSTRUCTIONS",
    "CYCLES",
    "BRANCHES",
    "BRANCH_MISSES",
    "LONGEST_LAT_CACHE.REFERENCE",
    "LLC_MISSES",
    "r108",
    "r151",
    "r2c2",
    "r149",
];

/// The regions of `sets.c`, each with two threads, and the least nanoseconds that each takes on a processor.
const REGIONS: u64 = 24;
const LEAST: f64 = 4e6;

/// The most that the rate of an event differs between two runs, as a part of it: the machine counts all of a part
/// at one rate, and whole numbers.
const TOLERANCE: f64 = 0.02;

/// The time on a processor has the readings, which are outside of the region's time: on a simulated machine 0.5 ms of
/// the thread's for each execution, where nothing is optimised.
const MOST: f64 = 1.25;

/// The answer of one run.
struct Answer {
    status: Option<i32>,
    printed: String,
    complained: String,
    report: Option<Value>,
}

fn run(place: &Place, events: &[&str], fault: Option<&str>) -> Answer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pacman-pmu"));
    command.args(["run", "--machine", "haswell", "-e", &events.join(","), "-o", OUTPUT, "--"]);
    command.args(&place.program).current_dir(place.folder.path());
    command
        .env("PACMAN_OMP_LIBRARY", beside_test("libpacman_omp.so"))
        .env("TMPDIR", place.folder.path())
        .env("OMP_WAIT_POLICY", "passive");
    if let Some(fault) = fault {
        command.env("PACMAN_MACHINE_FAULT", fault);
    }
    let written = place.folder.path().join(OUTPUT);
    let _ = std::fs::remove_file(&written);
    let output = command.output().expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Answer {
        status: output.status.code(),
        printed: text(output.stdout),
        complained: text(output.stderr),
        report: std::fs::read(&written).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The counts of each thread by event, each with half of its interval; `None` where there is none.
type Counts = BTreeMap<String, Option<(f64, f64)>>;

fn counts(report: &Value) -> Vec<Counts> {
    let region = &report["processes"][0]["regions"][0];
    let of = |thread: &Value| {
        let figures = &thread["figures"];
        let counts = figures["counts"].as_object().cloned().unwrap_or_default();
        let of = |(name, count): (String, Value)| {
            let margin = figures["margins"][&name].as_f64().unwrap_or(0.0);
            (name, count.as_f64().map(|count| (count, margin)))
        };
        counts.into_iter().map(of).collect()
    };
    rows(&region["threads"]).iter().map(of).collect()
}

/// How often the simulated machine counts each event in a nanosecond of a thread on a processor: from runs with so
/// few events that each is counted in every execution.
fn rates(place: &Place) -> BTreeMap<&'static str, f64> {
    let mut rates = BTreeMap::new();
    for some in EVENTS[1..].chunks(3) {
        let events = [&EVENTS[..1], some].concat();
        let exact = run(place, &events, None);
        let counts = counts(&exact.report.unwrap_or_else(|| panic!("{}", exact.complained)));
        for name in events {
            let each = counts.iter().map(|thread| thread[name].expect("a count"));
            let sum: f64 =
                each.map(|(count, margin)| if margin == 0.0 { count } else { f64::NAN }).sum();
            let time: f64 = counts.iter().map(|thread| thread[EVENTS[0]].expect("a time").0).sum();
            rates.insert(name, sum / time);
        }
    }
    rates
}

/// Whether the report explains missing counts: notes, events without counts, executions that were not
/// counted, implausible rows.
fn says_why(report: &Value) -> bool {
    let process = &report["processes"][0];
    let threads = rows(&process["regions"][0]["threads"]);
    let of_thread = |thread: &Value| {
        thread["counted"] != thread["executions"] || !thread["implausible"].is_null()
    };
    !list(&report["notes"]).is_empty()
        || list(&process["events"]).iter().any(|event| !event["uncounted"].is_null())
        || threads.iter().any(of_thread)
}

/// The defect of a run, compared with one whose calls all succeeded and with what ran on the machine.
fn fault_of(alone: &Answer, seen: &Answer, rates: &BTreeMap<&'static str, f64>) -> Option<String> {
    let said = seen.complained.lines().any(|line| {
        line.starts_with("pacman-pmu: ") && !line.contains("simulated machine haswell")
    });
    if seen.printed.is_empty() {
        return (!said).then(|| format!("nothing printed, status {:?}", seen.status));
    }
    if (seen.status, &seen.printed) != (alone.status, &alone.printed) {
        return Some(format!("status {:?}, printed {:?}", seen.status, seen.printed));
    }
    let Some(report) = &seen.report else {
        return (!said).then(|| "no report, and nobody says why".to_owned());
    };
    let region = &report["processes"][0]["regions"][0];
    if region["executions"] != REGIONS {
        return Some(format!("{} executions of {REGIONS}", region["executions"]));
    }
    let threads = rows(&region["threads"]);
    for (number, (counts, thread)) in counts(report).iter().zip(&threads).enumerate() {
        let time = counts.get(EVENTS[0]).copied().flatten().map(|time| time.0);
        let executions = thread["counted"].as_f64().unwrap_or(0.0);
        let most = thread["busy_s"].as_f64().unwrap_or(0.0) * 1e9;
        if let Some(time) = time.filter(|time| *time < executions * LEAST || *time > MOST * most) {
            return Some(format!("T{number}: {time} ns on a processor in {most}"));
        }
        for name in EVENTS {
            let Some((found, margin)) = counts.get(name).copied().flatten() else {
                // Its interval is wider than the count, which the report's legend says.
                let share = thread["figures"]["counted_shares"][name].as_f64();
                if said || says_why(report) || share.is_some_and(|share| share < 1.0) {
                    continue;
                }
                return Some(format!("T{number}: no {name}, and nobody says why"));
            };
            let Some(time) = time else { continue };
            let ran = time * rates[name];
            if (found - ran).abs() > margin + TOLERANCE * ran {
                return Some(format!("T{number}: {name} {found} ±{margin}, where {ran} ran"));
            }
        }
    }
    None
}

#[test]
fn run_with_event_sets() {
    let place = Place::with("sets.c");
    let rates = rates(&place);
    let alone = run(&place, &EVENTS, None);
    let report = alone.report.as_ref().unwrap_or_else(|| panic!("{}", alone.complained));
    assert_eq!(list(&report["processes"][0]["sets"]).len(), 2, "{}", alone.complained);
    assert_eq!(
        (alone.status, fault_of(&alone, &alone, &rates)),
        (Some(7), None),
        "{}",
        alone.complained
    );
    // Calls that find out what there is, that open the counters of the two threads, and that change their
    // sets. Later ones read.
    let all = std::env::var("PACMAN_FAULTS").as_deref() == Ok("all");
    let (openings, changes) = if all { (1, 1) } else { (12, 4) };
    let any = (0..260).step_by(openings).map(|call| (String::new(), call));
    let switches = (0..60).step_by(changes).map(|call| ("switch:".to_owned(), call));
    let (mut wrong, mut runs, mut fewer) = (Vec::new(), 0, [0, 0]);
    for (at, (kind, call)) in any.chain(switches).enumerate() {
        let errno = [libc::EIO, libc::EBUSY, libc::ENOMEM, libc::EMFILE][at % 4];
        let fault = format!("{kind}{call}:{errno}");
        let seen = run(&place, &EVENTS, Some(&fault));
        runs += 1;
        let lacks = seen.report.as_ref().is_none_or(says_why);
        fewer[usize::from(!kind.is_empty())] += u32::from(lacks);
        if let Some(what) = fault_of(&alone, &seen, &rates) {
            wrong.push(format!("fault {fault}: {what}\n    {}", seen.complained.trim()));
        }
    }
    println!("event sets: {runs} runs, with fewer counts at any call and at changes: {fewer:?}");
    assert!(wrong.is_empty(), "{} of {runs} runs:\n{}", wrong.len(), wrong.join("\n"));
    assert!(fewer[0] >= 3 && fewer[1] >= 3, "few faults were noticed: {fewer:?}");
}
