//! Idle times and cycles alone, of an Olympus' counts.

use std::collections::BTreeMap;
use std::time::Instant;

use pacman_core::Topology;
use pacman_core::backend;
use pacman_events::CpuModel;

use super::reading;
use crate::error::CliError;
use crate::smt::alone::{AloneReading, metric_of};
use crate::smt::meter::Meter;

/// The events of the metric, in its order.
const EVENTS: [&str; 2] = ["CPU_SLOT", "CYCLES"];

/// Idle seconds, and slots and cycles, of CPUs 0 and 1 after `seconds`.
fn at(start: Instant, seconds: u64, idle: [f64; 2], counts: [[u64; 2]; 2]) -> AloneReading {
    let metric = metric_of(CpuModel::named("olympus").unwrap()).unwrap();
    assert_eq!(metric.events(), EVENTS);
    let context = |[slots, cycles]: [u64; 2]| {
        let mut reading = backend::Reading::EMPTY;
        (reading.counts[0], reading.counts[1]) = (slots, cycles);
        Ok(reading)
    };
    let contexts: BTreeMap<u32, _> = (0..).zip(counts.map(context)).collect();
    AloneReading { clocks: reading(start, seconds, &idle), metric, contexts }
}

#[test]
fn slots_decide_how_long_siblings_ran_together() {
    let topology = Topology::synthetic("1 core, 2 threads").unwrap();
    let start = Instant::now();
    let mut meter = Meter::begin(&topology, at(start, 0, [7.0, 7.0], [[50, 7], [5, 1]]));
    // Both were active for half of the time, and for a fifth of that at once.
    let slots = 8_000 * 10 + 2_000 * 5;
    let counts = [[50 + slots, 7 + 10_000], [5 + slots, 1 + 10_000]];
    let split = &meter.next(at(start, 10, [12.0, 12.0], counts)).cores[0].split;
    assert!(split.is_decided());
    for (found, share) in [(split.idle, 0.1), (split.only[1], 0.4), (split.shared, 0.1)] {
        assert!((split.share(found) - share).abs() < 1e-9, "{split:?}");
    }
    // One that had no cycle was idle.
    let counts = [[50 + slots, 7 + 10_000], [5 + 2 * slots, 1 + 20_000]];
    let split = &meter.next(at(start, 20, [22.0, 12.0], counts)).cores[0].split;
    assert_eq!(split.only[0], 0.0);

    let mut lost = at(start, 30, [22.0, 12.0], counts);
    lost.contexts.insert(1, Err(CliError::Refused("it went offline".into())));
    let gone = meter.next(lost);
    assert!(gone.cores.is_empty());
    assert_eq!(gone.notes, ["core 0: it went offline"]);
}

#[test]
fn only_processors_that_count_their_modes_have_the_metric() {
    for (cpu, has) in [("olympus", true), ("power9", true), ("neoverse-n1", false), ("skl", false)]
    {
        assert_eq!(metric_of(CpuModel::named(cpu).unwrap()).is_some(), has, "{cpu}");
    }
}
