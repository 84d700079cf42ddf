//! All eight general counters of a context whose sibling was off at reset.

use pacman_core::{Event, Result, Session, Topology};
use pacman_events::CpuModel;

use crate::doorbell::ring;

/// Codes that any general counter of a Haswell counts, no two of which ring for each other.
const EIGHT: [u64; 8] = [0x01c4, 0x04c4, 0x01c5, 0x0108, 0x0149, 0x010e, 0x412e, 0x02c4];
const RUNS: u64 = 10;

/// Prints the contexts a core has, and a line for each event: counted, rung.
pub(crate) fn run() -> Result<()> {
    println!("contexts {}", Topology::detect()?.contexts_per_core());
    let names = EIGHT.map(|code| format!("r{code:04x}")).join(",");
    let session = Session::builder("eight").events(&names).start()?;
    let phase = session.phase("all")?;
    let thread = session.attach()?;
    for run in 0..RUNS {
        thread.begin(phase)?;
        for (event, code) in (1..).zip(EIGHT) {
            ring(code, 100 * event + run);
        }
        thread.end(phase)?;
    }
    println!("reads {:?}", thread.caps().read_path);
    let report = session.report();
    for (event, count) in (1..).zip(&report.threads[0].phases[0].counts) {
        println!(
            "event {event} {} {}",
            count.raw.sum,
            (0..RUNS).map(|run| 100 * event + run).sum::<u64>()
        );
    }
    // With the sibling on, the same model has four.
    let model = CpuModel::named("hsw").expect("a table");
    println!("tables {} {}", model.facts().general.len(), model.facts().general_smt_off.len());
    Event::parse_list(&names).map(drop)
}
