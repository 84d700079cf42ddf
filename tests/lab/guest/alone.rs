//! One thread whose sibling is idle: what its phases cost the kernel, and its own cycles.

use pacman_core::{Placement, Result, Session, Topology};

use crate::doorbell::{known_loop, retired};

const PHASES: usize = 1_000;
const ITERATIONS: u64 = 200_000;

/// Prints in how many empty phases the kernel retired no instruction on this context, and the counts of a loop.
pub(crate) fn run() -> Result<()> {
    let here = Topology::detect()?;
    let session = Session::builder("alone")
        .events("INSTRUCTIONS,CYCLES")
        .placement(here, Placement::Compact)
        .start()?;
    let (empty, known) = (session.phase("empty")?, session.phase("known")?);
    let thread = session.attach()?;
    let mut quiet = 0;
    for _ in 0..PHASES {
        let (_, before) = retired();
        thread.begin(empty)?;
        thread.end(empty)?;
        let (_, after) = retired();
        quiet += usize::from(before == after);
    }
    thread.begin(known)?;
    known_loop(ITERATIONS);
    thread.end(known)?;
    println!("reads {:?} {:?}", thread.caps().read_path, thread.caps().no_user_reads);
    println!("quiet {quiet} of {PHASES}");
    drop(thread);
    let report = session.report();
    let counts = &report.threads[0].phases[1].counts;
    println!("known {} {} {}", 2 * ITERATIONS + 1, counts[0].raw.sum, counts[1].raw.sum);
    Ok(())
}
