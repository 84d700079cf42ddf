//! Issue slots of the threads of an OpenMP program on two siblings, by the command: Ice Lake and
//! Sapphire Rapids by their fractions, Zen 4 by slots of dispatch with contention, Skylake by events
//! that count for the core, and an Olympus on Arm. The program sets the shares of each thread and region.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use super::arm::{self, SMALL_OLYMPUS};
use super::boots::{self, ICE_LAKE, Options, SAPPHIRE_RAPIDS, SKYLAKE, ZEN_4};
use super::omp;
use super::rows::rows as by_thread;

/// Executions of each region.
const EXECUTIONS: u32 = 3;

/// Parts of the slots in 1/10,000: retiring, bad speculation, frontend, backend, SMT contention.
type Shares = [u32; 5];

/// By region, then by thread; they come to all slots.
const WITHOUT_CONTENTION: [[Shares; 2]; 2] = [
    [[4_200, 600, 1_700, 3_500, 0], [1_300, 900, 2_300, 5_500, 0]],
    [[7_100, 300, 800, 1_800, 0], [2_600, 1_500, 400, 5_500, 0]],
];
const WITH_CONTENTION: [[Shares; 2]; 2] = [
    [[3_200, 600, 1_700, 2_100, 2_400], [1_300, 900, 2_300, 3_900, 1_600]],
    [[5_100, 300, 300, 100, 4_200], [2_000, 1_500, 400, 1_300, 4_800]],
];

/// The program's file; `None`, and said, where no compiler makes one.
pub(crate) fn program() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(|| omp::compiled("slots.c", "lab-slots")).as_deref()
}

fn shares(kind: &str) -> &'static [[Shares; 2]; 2] {
    if kind == "zen" { &WITH_CONTENTION } else { &WITHOUT_CONTENTION }
}

/// The command on that program; `kind` is how the processor counts slots.
pub(crate) fn line(kind: &str) -> String {
    let run = "run -e TOPDOWN -o /tmp/slots.txt";
    format!("{}; cat /tmp/slots.txt", under(run, kind, shares(kind).as_flattened()))
}

/// The cycles of each thread by SYNPA's categories, in regions that are all the same.
pub(crate) fn stalls() -> String {
    let [region, _] = WITHOUT_CONTENTION;
    let events = "INST_SPEC,STALL_FRONTEND,STALL_BACKEND,CYCLES,SLOTS";
    under(&format!("run -e {events} -o /tmp/stalls.json"), "arm", &[region, region].concat())
        + "; cat /tmp/stalls.json"
}

/// A command of `pacman-pmu` on the program.
fn under(command: &str, kind: &str, shares: &[Shares]) -> String {
    let of = |shares: &Shares| shares.map(|share| share.to_string()).join(",");
    let all: Vec<String> = shares.iter().map(of).collect();
    format!(
        "export OMP_PROC_BIND=true OMP_PLACES={{0}},{{1}} OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive \
         COLUMNS=200; /t/pacman-pmu {command} -- /t/lab-slots {kind} {EXECUTIONS} {}",
        all.join(" ")
    )
}

/// The rows of the table of slots: the figures of both threads, by region.
fn rows(text: &str) -> Vec<Vec<f64>> {
    let (_, table) = text.split_once("Issue slots of each thread:\n").expect("a table of slots");
    let is_row =
        |line: &&str| line.trim_start().starts_with("0 ") && line.contains("  main, region ");
    let rows = table.lines().filter(is_row);
    let figures = |line: &str| {
        line.split_whitespace()
            .filter(|word| word.contains('.'))
            .map_while(|word| word.parse().ok())
            .collect()
    };
    rows.map(figures).collect()
}

/// Every share of each thread and region is right to half a point.
fn shares_are_right(options: Options, kind: &str) {
    if program().is_none() {
        return;
    }
    let Some(boots::Said { status, text }) = boots::said(options, &line(kind)) else { return };
    assert_eq!(*status, 0, "{text}");
    shares_are_right_in(text, options, kind);
}

fn shares_are_right_in(text: &str, options: Options, kind: &str) {
    let categories = if kind == "zen" { 5 } else { 4 };
    let rows = rows(text);
    assert_eq!(rows.len(), 2, "{text}");
    let mut worst: f64 = 0.0;
    for region in shares(kind) {
        let expected: Vec<f64> = region
            .iter()
            .flat_map(|thread| &thread[..categories])
            .map(|share| f64::from(*share) / 100.0)
            .collect();
        // Regions of equal length stand in any order.
        let off = |row: &Vec<f64>| {
            assert_eq!(row.len(), expected.len(), "{text}");
            let differences = row.iter().zip(&expected).map(|(one, other)| (one - other).abs());
            differences.fold(0.0, f64::max)
        };
        let off = rows.iter().map(off).fold(f64::INFINITY, f64::min);
        assert!(off <= 0.5, "{off} points off {expected:?}:\n{text}");
        worst = worst.max(off);
    }
    println!(
        "lab {options:?}: slots of two siblings in two regions, {worst:.2} points off at most"
    );
    let is_verdict = |line: &&str| line.starts_with("main, region ") && line.contains(": SMT off ");
    assert_eq!(text.lines().filter(is_verdict).count(), 2, "a verdict for each region:\n{text}");
}

#[test]
fn ice_lake_by_fractions() {
    shares_are_right(ICE_LAKE, "intel");
}

#[test]
fn sapphire_rapids_by_fractions() {
    shares_are_right(SAPPHIRE_RAPIDS, "intel");
}

#[test]
fn zen_4_by_slots_of_dispatch_with_contention() {
    shares_are_right(ZEN_4, "zen");
}

#[test]
fn skylake_by_events_of_the_core() {
    shares_are_right(SKYLAKE, "core");
}

/// By slots that the processor divides between its threads.
#[test]
fn olympus_by_slots_of_each_thread() {
    let Some(text) = arm::said(SMALL_OLYMPUS, &line("arm")) else { return };
    shares_are_right_in(text, SMALL_OLYMPUS, "arm");
}

/// SYNPA's stack of stalls. An instruction is dispatched in a slot, and takes three cycles: so of 15 slots one has it.
#[test]
fn olympus_by_cycles_of_stalls() {
    let Some(text) = arm::said(SMALL_OLYMPUS, &stalls()) else { return };
    let report: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}:\n{text}"));
    let regions = report["processes"][0]["regions"].as_array().expect("a list");
    assert_eq!(regions.len(), 3, "with that which makes the threads: {report:#}");
    let [of_threads, _] = WITHOUT_CONTENTION;
    for region in regions.iter().filter(|region| region["executions"] == EXECUTIONS) {
        for (thread, shares) in by_thread(&region["threads"]).iter().zip(of_threads) {
            let [_, _, frontend, backend, _] = shares.map(|share| f64::from(share) / 1e4);
            let dispatched = 1.0 / 15.0;
            let rest = 1.0 - dispatched - frontend - backend;
            let expected = [dispatched, frontend, backend, rest];
            for (name, expected) in ["dispatch", "frontend", "backend", "rest"].iter().zip(expected)
            {
                let metric = &thread["figures"]["metrics"][format!("isc-{name}")];
                let off =
                    metric.as_f64().unwrap_or_else(|| panic!("{name}: {thread:#}")) - expected;
                assert!(off.abs() <= 0.005, "isc-{name} is {off} off {expected}: {thread:#}");
            }
        }
    }
}
