//! The command on Arm: what keeps counters away, `stat`, and an OpenMP program that knows nothing of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use pacman_suite::lab;
use serde_json::Value;

use super::arm::{OLYMPUS, TIMED_OLYMPUS, said};
use super::rows::{rows, waits};

/// Runs `doctor` without privilege, as each obstacle is made and taken away.
pub(crate) const DOCTOR: &str = "chmod 755 / /t; mkdir -p /etc; echo root:x:0:0::/:/bin/sh >/etc/passwd; \
     echo nobody:x:65534:65534::/tmp:/bin/sh >>/etc/passwd; \
     asked() { echo STATE $1; su -s /bin/sh nobody -c 'COLUMNS=200 /t/pacman-pmu doctor 2>&1; echo STATUS $?'; }; \
     cd /proc/sys/kernel; asked right; echo 0 >perf_user_access; asked no-access; echo 1 >perf_user_access; \
     echo 3 >perf_event_paranoid; asked paranoid; echo 1 >perf_event_paranoid";

/// Threads of known work on both siblings of a core.
pub(crate) const STAT: &str =
    "/t/pacman-pmu stat --csv -e INSTRUCTIONS,CYCLES --bind compact -- /t/lab-guest stat-threads";

/// The same, with the slots by which the share of the cycles in which a thread has its core alone is known.
pub(crate) const SHARES: &str =
    "/t/pacman-pmu stat --json -e CYCLES,CPU_SLOT --bind compact -- /t/lab-guest stat-threads";

/// `.ci/arm.c` under `run`, with waits and counts.
pub(crate) const RUN: &str = "/t/arm-regions >/tmp/alone; \
     /t/pacman-pmu run --waits -e INSTRUCTIONS,CYCLES -o /tmp/waits.json -- /t/arm-regions >/tmp/under 2>/tmp/said || cat /tmp/said; \
     cmp /tmp/alone /tmp/under && echo REPORTS && cat /tmp/waits.json";

/// Threads that take turns in a critical section: the waits of 20 executions, and 3,000 executions that are adapted.
pub(crate) const TURNS: &str = "export OMP_NUM_THREADS=4; /t/arm-turns 20 >/tmp/alone; /t/arm-turns 3000 >>/tmp/alone; \
     /t/pacman-pmu run --waits -o /tmp/waits.json -- /t/arm-turns 20 >/tmp/under 2>/tmp/said || cat /tmp/said; \
     /t/pacman-pmu run --adapt --no-memory -o /tmp/adapt.json -- /t/arm-turns 3000 >>/tmp/under 2>/tmp/said || cat /tmp/said; \
     cmp /tmp/alone /tmp/under && echo REPORTS && cat /tmp/waits.json && cat /tmp/adapt.json";

/// An execution takes a millisecond, so that the samples of a run of three seconds may lose enough to measure it.
const TURNS_SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>

static double total;

int main(int count, char **arguments) {
    int executions = count > 1 ? atoi(arguments[1]) : 1;
    for (int execution = 0; execution < executions; execution++) {
#pragma omp parallel
        for (int turn = 0; turn < 10; turn++) {
#pragma omp critical
            for (int i = 1; i <= 600; i++) total += 1.0 / i;
        }
    }
    printf("%.6f\n", total);
}
"#;

/// An OpenMP program of Debian's cross compiler.
pub(crate) fn program(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let source = match name {
        "arm-regions" => Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/arm.c"),
        "lab-regions" => Path::new(env!("CARGO_MANIFEST_DIR")).join("lab/guest/regions.c"),
        "lab-slots" => Path::new(env!("CARGO_MANIFEST_DIR")).join("lab/guest/slots.c"),
        "arm-teams" => Path::new(env!("CARGO_MANIFEST_DIR")).join("lab/guest/teams.c"),
        _ => {
            let source = program.with_extension("c");
            std::fs::write(&source, TURNS_SOURCE).expect("a source file");
            source
        }
    };
    let mut compile = Command::new(lab::ARM_GCC);
    let level = if name.starts_with("lab-") { "-O2" } else { "-O1" };
    compile.args([level, "-fopenmp"]).arg(&source).arg("-o").arg(&program);
    let status = compile.status();
    assert!(status.is_ok_and(|status| status.success()), "{source:?} does not compile");
    program
}

/// The text between a state's heading and the next one's.
fn state<'a>(text: &'a str, name: &str) -> &'a str {
    let (_, rest) =
        text.split_once(&format!("STATE {name}\n")).unwrap_or_else(|| panic!("{name} in:\n{text}"));
    rest.split("STATE ").next().expect("a first part")
}

#[test]
fn doctor_names_each_obstacle_to_counters() {
    let Some(text) = said(OLYMPUS, DOCTOR) else { return };
    let no_access = "kernel.perf_user_access is 0";
    let paranoid = "perf_event_paranoid is 3";
    for (name, missing, status) in [
        ("right", [false, false], 0),
        ("no-access", [true, false], 0),
        ("paranoid", [false, true], 3),
    ] {
        let state = state(text, name);
        let joined = state.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!([no_access, paranoid].map(|it| joined.contains(it)), missing, "{name}: {state}");
        assert!(joined.contains(&format!("STATUS {status}")), "{name}: {state}");
    }
}

/// The waits that `.ci/arm.c` has, by region and cause.
const WAITS: [(&str, &[(&str, u64)]); 8] = [
    ("barrier", &[("barrier", 15)]),
    ("loop", &[("loop", 15), ("chunks", 60)]),
    ("sections", &[("sections", 15)]),
    ("critical", &[("critical", 15)]),
    ("locked", &[("lock", 15)]),
    ("ordered", &[("ordered", 2530), ("chunks", 115)]),
    ("levels", &[("ordered", 1280), ("chunks", 10)]),
    ("tasks", &[("taskwait", 5), ("taskgroup", 5)]),
];

#[test]
fn an_openmp_program_has_waits_and_counts_of_each_thread() {
    let Some(text) = said(TIMED_OLYMPUS, RUN) else { return };
    let (_, json) = text.split_once("REPORTS").unwrap_or_else(|| panic!("{text}"));
    let mut reports = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let report = reports.next().expect("a report").unwrap_or_else(|e| panic!("{e}:\n{text}"));
    let process = &report["processes"][0];
    println!("lab run on Arm: {}", process["notes"]);
    let regions = process["regions"].as_array().expect("a list");
    assert_eq!(regions.len(), WAITS.len(), "{process:#}");
    for (name, expected) in WAITS {
        let is_it = |region: &&Value| {
            region["name"].as_str().is_some_and(|text| text.split(',').next() == Some(name))
        };
        let region = regions.iter().find(is_it).unwrap_or_else(|| panic!("no {name}: {process:#}"));
        assert_eq!(region["executions"], 5, "{region:#}");
        let threads = rows(&region["threads"]);
        assert_eq!(threads.len(), 3, "{region:#}");
        for (cause, times) in expected {
            // A cause may have several sites, such as the calls for the first and for further chunks.
            let mut of_sites = vec![0; process["sites"].as_array().map_or(0, Vec::len)];
            for wait in threads.iter().flat_map(|thread| waits(&thread["states"])) {
                let site = wait["site"].as_u64().expect("an index") as usize;
                if process["sites"][site]["cause"] == *cause {
                    of_sites[site] += wait["count"].as_u64().expect("a count");
                }
            }
            assert!(of_sites.contains(times), "{name} {cause}: {of_sites:?}: {region:#}");
        }
        for thread in &threads {
            let counts = &thread["figures"]["counts"];
            let [instructions, cycles] =
                ["INSTRUCTIONS", "CYCLES"].map(|event| counts[event].as_f64());
            let counted = instructions.zip(cycles).is_some_and(|(i, c)| i > 0.0 && c > 2.5 * i);
            assert!(counted, "{name}: {thread:#}");
        }
    }
}

/// Debian's libgomp for Arm. The team keeps its threads and its results, and waits less where it has two contexts.
#[test]
fn an_openmp_program_is_packed_where_its_threads_wait() {
    let Some(text) = said(TIMED_OLYMPUS, TURNS) else { return };
    let (_, json) = text.split_once("REPORTS").unwrap_or_else(|| panic!("{text}"));
    let mut reports = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let mut process = || {
        let report = reports.next().expect("a report").unwrap_or_else(|e| panic!("{e}:\n{text}"));
        report["processes"][0].clone()
    };
    let observed = process();
    let region = &observed["regions"][0];
    assert_eq!(region["executions"], 20, "{region:#}");
    let threads = rows(&region["threads"]);
    let waits = threads.iter().flat_map(|thread| waits(&thread["states"]));
    let critical = waits.filter(|wait| {
        let site = wait["site"].as_u64().expect("an index") as usize;
        observed["sites"][site]["cause"] == "critical"
    });
    let times: u64 = critical.map(|wait| wait["count"].as_u64().expect("a count")).sum();
    assert_eq!((threads.len(), times), (4, 20 * 4 * 10), "{region:#}");
    let adapted = process();
    let region = &adapted["regions"][0];
    let adaptation = &region["adaptation"];
    println!("lab adapt on Arm: {adaptation}");
    assert_eq!((&region["executions"], &adaptation["threads"]), (&3000.into(), &4.into()));
    // Samples alone are fewer: the region was held on fewer contexts.
    assert!(adaptation["reduced"].as_u64() > Some(100), "{adaptation:#}");
    assert!(adaptation["gained_s"].as_f64() > Some(0.0), "{adaptation:#}");
}

/// A row of the comma-separated values of `stat`: its name, instructions and cycles.
fn stat_row(line: &str) -> Option<(&str, i64, i64)> {
    let fields: Vec<&str> = line.trim_end().split(',').collect();
    let [.., instructions, cycles] = fields[..] else { return None };
    Some((fields.get(6)?, instructions.parse().ok()?, cycles.parse().ok()?))
}

#[test]
fn stat_counts_the_own_work_and_cycles_of_each_thread() {
    let Some(text) = said(OLYMPUS, STAT) else { return };
    let rows: Vec<_> = text.lines().filter_map(stat_row).collect();
    let idle = rows.iter().find(|row| row.0 == "loop-0").unwrap_or_else(|| panic!("{text}")).1;
    for (name, known) in [("loop-3000000", 6_000_000), ("loop-8000000", 16_000_000)] {
        let (_, counted, cycles) =
            rows.iter().find(|row| row.0 == name).unwrap_or_else(|| panic!("{text}"));
        assert!((counted - known - idle).abs() <= 400, "{name}: {text}");
        assert!((cycles - 3 * counted).abs() <= counted / 100, "{name}: {text}");
    }
}

/// The longer loop goes on for most of its time when the shorter one, which may be beside it, has ended.
#[test]
fn slots_tell_how_long_a_thread_had_its_core_alone() {
    let Some(text) = said(TIMED_OLYMPUS, SHARES) else { return };
    let report: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}:\n{text}"));
    let rows = report["rows"].as_array().expect("a list");
    let mut longest = None;
    for row in rows {
        let share = row["metrics"]["smt-alone-share"].as_f64().unwrap_or_else(|| panic!("{row:#}"));
        assert!((0.0..=1.0).contains(&share), "{row:#}");
        if row["name"] == "loop-8000000" {
            longest = Some(share);
        }
    }
    println!("lab stat on Arm: the longest loop had its core alone for {longest:?}");
    assert!(longest.is_some_and(|share| share > 0.25), "{report:#}");
}
