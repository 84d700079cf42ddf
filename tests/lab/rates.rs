//! `run -e` with more events than counters, on a program whose events happen at known rates: the sets take
//! turns, and the estimates are right.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use super::boots::{self, HASWELL};
use super::omp;
use super::rows::rows;

/// Executions of the region.
const EXECUTIONS: u64 = 200;

/// How often each event happens in a million instructions.
const RATES: [u32; 6] = [1_000, 2_500, 7_000, 20_000, 45_000, 100_000];

/// How far an estimate may be from the rate. The executions are alike, but for their edges.
const TOLERANCE: f64 = 0.01;

/// The program's file; `None`, and said, where no compiler makes one.
pub(crate) fn program() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(|| omp::compiled("rates.c", "lab-rates")).as_deref()
}

fn event(number: usize) -> String {
    format!("r{:x}a1", 1 << number)
}

/// The command on that program, with six events for the four counters that a sibling has.
pub(crate) fn line() -> String {
    let events: Vec<String> = (0..RATES.len()).map(event).collect();
    let rates = RATES.map(|rate| rate.to_string());
    format!(
        "export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive; \
         /t/pacman-pmu run -e INSTRUCTIONS,{} -o /tmp/rates.json -- /t/lab-rates {EXECUTIONS} {}; \
         cat /tmp/rates.json",
        events.join(","),
        rates.join(" ")
    )
}

#[test]
fn more_events_than_counters_are_estimated_to_one_percent() {
    if program().is_none() {
        return;
    }
    let Some(boots::Said { status, text }) = boots::said(HASWELL, &line()) else { return };
    assert_eq!(*status, 0, "{text}");
    let json = text.split_once('{').map(|(_, rest)| format!("{{{rest}")).expect("a report");
    let report: Value = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}:\n{text}"));
    let process = &report["processes"][0];
    assert!(process["sets"].as_array().is_some_and(|sets| sets.len() == 2), "{process:#}");
    let notes = process["notes"].as_array().expect("a list");
    let is_told =
        |note: &Value| note.as_str().is_some_and(|note| note.contains("so 2 sets take turns"));
    assert!(notes.iter().any(is_told), "{notes:?}");
    let regions = process["regions"].as_array().expect("a list");
    let hot = regions.iter().find(|region| region["executions"] == EXECUTIONS);
    let threads = rows(&hot.expect("the region")["threads"]);
    assert_eq!(threads.len(), 2, "{hot:#?}");
    let (mut worst, mut estimates) = (0.0_f64, 0);
    for (number, thread) in threads.iter().enumerate() {
        let figures = &thread["figures"];
        let instructions = figures["counts"]["INSTRUCTIONS"].as_f64().expect("a count");
        assert_eq!(figures["counted_shares"]["INSTRUCTIONS"], 1.0, "in every set: {figures:#}");
        assert!(instructions / EXECUTIONS as f64 > 50_000.0, "{figures:#}");
        for (at, rate) in RATES.iter().enumerate() {
            let count = figures["counts"][event(at)].as_f64().expect("a count");
            let share = figures["counted_shares"][event(at)].as_f64().expect("a share");
            // An event is in one set, or fills the free counter of the other as well.
            assert!((0.2..=0.8).contains(&share) || share == 1.0, "{figures:#}");
            estimates += usize::from(share < 1.0);
            let expected = instructions * f64::from(*rate) / 1e6;
            let error = count / expected - 1.0;
            worst = worst.max(error.abs());
            assert!(
                error.abs() <= TOLERANCE,
                "thread {number}, {}: {error}: {figures:#}",
                event(at)
            );
        }
    }
    assert!(estimates >= 2 * 4, "{estimates} of 12 figures are marked as estimates: {text}");
    println!("lab rates: {estimates} estimates, the worst {:.3} % off", worst * 100.0);
}
