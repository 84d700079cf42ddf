//! `run` with more events than counters: each call of the machine fails in turn, those that change the
//! event set too. Few real machines have a PMU that a test may use, so this one is simulated.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use super::{OUTPUT, Place};

/// Ten events, for which Haswell's counters need two sets.
const EVENTS: &str = "INSTRUCTIONS,CYCLES,BRANCHES,BRANCH_MISSES,LLC_REFERENCES,LLC_MISSES,r0108,r0151,\
                      r02c2,r0149";

/// The regions of `sets.c`, each with two threads.
const REGIONS: u64 = 24;

/// The most that an estimate may differ from the undisturbed one, as a part of it.
const TOLERANCE: f64 = 0.4;

/// The answer of one run.
struct Answer {
    status: Option<i32>,
    printed: String,
    complained: String,
    report: Option<Value>,
}

fn run(place: &Place, fault: Option<&str>) -> Answer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pacman-pmu"));
    command.args(["run", "--machine", "haswell", "-e", EVENTS, "-o", OUTPUT, "--"]);
    command.args(&place.program).current_dir(place.folder.path());
    command
        .env("PACMAN_OMP_LIBRARY", super::beside_test("libpacman_omp.so"))
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

/// The counts of each thread by event; `None` where there is none.
fn counts(report: &Value) -> Vec<BTreeMap<String, Option<f64>>> {
    let region = &report["processes"][0]["regions"][0];
    let of = |thread: &Value| {
        let counts = thread["figures"]["counts"].as_object().cloned().unwrap_or_default();
        counts.into_iter().map(|(name, count)| (name, count.as_f64())).collect()
    };
    list(&region["threads"]).iter().map(of).collect()
}

/// Whether the report explains missing counts: notes, events without counts, executions that were not
/// counted, implausible rows.
fn says_why(report: &Value) -> bool {
    let process = &report["processes"][0];
    let threads = list(&process["regions"][0]["threads"]);
    let of_thread = |thread: &Value| {
        thread["counted"] != thread["executions"] || !thread["implausible"].is_null()
    };
    !list(&report["notes"]).is_empty()
        || list(&process["events"]).iter().any(|event| !event["uncounted"].is_null())
        || threads.iter().any(of_thread)
}

/// The defect of a run, compared with one whose calls all succeeded.
fn fault_of(alone: &Answer, seen: &Answer) -> Option<String> {
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
    let whole = counts(alone.report.as_ref().expect("undisturbed"));
    for (thread, found) in counts(report).iter().enumerate() {
        for (name, expected) in &whole[thread] {
            let (expected, found) =
                (expected.expect("undisturbed"), found.get(name).copied().flatten());
            match found {
                None if said || says_why(report) => {}
                None => return Some(format!("T{thread}: no {name}, and nobody says why")),
                Some(found) if (found - expected).abs() <= TOLERANCE * expected => {}
                Some(found) => {
                    return Some(format!("T{thread}: {name} {found}, where {expected} ran"));
                }
            }
        }
    }
    None
}

#[test]
fn run_with_event_sets() {
    let place = Place::with("sets.c");
    let alone = run(&place, None);
    let report = alone.report.as_ref().unwrap_or_else(|| panic!("{}", alone.complained));
    assert_eq!(list(&report["processes"][0]["sets"]).len(), 2, "{}", alone.complained);
    assert_eq!((alone.status, fault_of(&alone, &alone)), (Some(7), None), "{}", alone.complained);
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
        let seen = run(&place, Some(&fault));
        runs += 1;
        let lacks = seen.report.as_ref().is_none_or(says_why);
        fewer[usize::from(!kind.is_empty())] += u32::from(lacks);
        if let Some(what) = fault_of(&alone, &seen) {
            wrong.push(format!("fault {fault}: {what}\n    {}", seen.complained.trim()));
        }
    }
    println!("event sets: {runs} runs, with fewer counts at any call and at changes: {fewer:?}");
    assert!(wrong.is_empty(), "{} of {runs} runs:\n{}", wrong.len(), wrong.join("\n"));
    assert!(fewer[0] >= 3 && fewer[1] >= 3, "few faults were noticed: {fewer:?}");
}
