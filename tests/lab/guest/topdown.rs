//! Slots by category on two siblings at once, each with shares of its own in each phase.

use pacman_core::event::machine;
use pacman_core::{Placement, Result, Session, Topology};
use pacman_events::resolve;

use crate::doorbell::{TEN_THOUSAND, known_loop, use_slots};
use crate::presets::Together;

/// The categories, in the order of the register's fields.
const CATEGORIES: [&str; 8] = [
    "TOPDOWN_RETIRING",
    "TOPDOWN_BAD_SPECULATION",
    "TOPDOWN_FRONTEND_BOUND",
    "TOPDOWN_BACKEND_BOUND",
    "TOPDOWN_HEAVY_OPERATIONS",
    "TOPDOWN_BRANCH_MISPREDICTS",
    "TOPDOWN_FETCH_LATENCY",
    "TOPDOWN_MEMORY_BOUND",
];

const EXECUTIONS: u64 = 40;
/// A phase of 6 to 9 million slots, and one of 120,000 to 180,000.
const ITERATIONS: [u64; 2] = [200_000, 4_000];

/// Shares of a sibling in a phase, in ten thousandths: they add up on the first level, and those of
/// the second are at most their part of the first.
fn shares(sibling: u64, phase: u64) -> [u64; 8] {
    let (a, b) = (1_000 * sibling, 700 * phase);
    let bad = 300 + a / 4 + b;
    let (retiring, frontend) = (5_000 - a - 2 * b, 1_500 + a / 2);
    let backend = TEN_THOUSAND - retiring - bad - frontend;
    [retiring, bad, frontend, backend, retiring / 7, bad / 2, frontend / 3, backend / 5]
}

/// Prints how each thread reads, and a line a thread, phase and category: slots of the category, all
/// slots, and the share that the doorbell set.
pub(crate) fn run() -> Result<()> {
    let model = machine::model();
    let known = |name: &&str| resolve(model, name).is_ok();
    let names: Vec<&str> = CATEGORIES.into_iter().filter(known).collect();
    let here = Topology::detect()?;
    let siblings = here.cores()[0].cpus.len();
    let session = Session::builder("slots")
        .events(format!("{},SLOTS", names.join(",")))
        .placement(here, Placement::Compact)
        .start()?;
    let phases = [session.phase("long")?, session.phase("short")?];
    let together = Together::new(siblings);
    std::thread::scope(|scope| {
        let member = || -> Result<()> {
            let thread = session.attach()?;
            let cpu = u64::from(thread.place().expect("a placement binds").cpu());
            println!("reads {cpu} {:?}", thread.caps().read_path);
            for _ in 0..EXECUTIONS {
                for (n, phase) in phases.into_iter().enumerate() {
                    together.wait();
                    use_slots(shares(cpu, n as u64));
                    thread.begin(phase)?;
                    known_loop(ITERATIONS[n]);
                    thread.end(phase)?;
                    // Events between phases are of another kind.
                    use_slots([TEN_THOUSAND, 0, 0, 0, 0, 0, 0, 0]);
                    known_loop(3_000);
                }
            }
            Ok(())
        };
        let threads: Vec<_> = (0..siblings).map(|_| scope.spawn(member)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    for thread in &session.report().threads {
        let cpu = thread.place.expect("bound").cpu;
        for (n, row) in thread.phases.iter().enumerate() {
            let slots = row.counts[names.len()].raw.sum;
            let shares = shares(u64::from(cpu), n as u64);
            for (category, name) in names.iter().enumerate() {
                let counted = row.counts[category].raw.sum;
                println!("slots {cpu} {n} {name} {counted} {slots} {}", shares[category]);
            }
        }
    }
    Ok(())
}
