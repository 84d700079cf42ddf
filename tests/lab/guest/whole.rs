//! All 18 counters of a Pentium 4 for one thread, by registers.

use pacman_core::backend::msr::DevMsr;
use pacman_core::event::machine;
use pacman_core::session::EventSetRotation;
use pacman_core::{Placement, Result, Session, Topology};
use pacman_events::partition::Partition;

use crate::doorbell::{known_loop, ring};
use crate::turns::give_up;

const RUNS: u64 = 20;
const ITERATIONS: u64 = 40_000;

/// Four events for each of three groups of counters and six for the fourth, every
/// unit's two ESCRs used up where an event needs them.
const EIGHTEEN: &str = "global_power_events:RUNNING,BSQ_cache_reference:RD_2ndL_MISS,\
    ITLB_reference:MISS,BPU_fetch_request:TCMISS,\
    uop_queue_writes:FROM_TC_BUILD,tc_ms_xfer:CISC,retired_branch_type:CALL,\
    retired_mispred_branch_type:CONDITIONAL,\
    memory_cancel:64K_CONF,memory_cancel:ST_RB_FULL,memory_complete:LSC,\
    load_port_replay:SPLIT_LD,\
    instr_retired:NBOGUSNTAG,uops_retired:NBOGUS,branch_retired:MMNP,machine_clear:CLEAR,\
    resource_stall:SBFULL,resource_stall:SBFULL:e";
/// The lab's own counts.
const CYCLES: usize = 0;
const INSTRUCTIONS: usize = 12;
/// The same bell as the event before it: the last unit of its group has one event, and
/// the lab does not know RAT_ESCR0's.
const AGAIN: usize = 17;

/// Prints the number of sets, then a line for each run and event: counted, known.
pub(crate) fn run() -> Result<()> {
    DevMsr::new().allow_user_rdpmc().expect("the lab's guest is root");
    let here = Topology::detect()?;
    let session = Session::builder("whole")
        .events(EIGHTEEN)
        .placement(here, "0".parse::<Placement>()?)
        .registers(Partition::Whole { owner: 0 })
        .log(RUNS as usize)
        .start()?;
    let phase = session.phase("known")?;
    let selectors: Vec<u64> = EIGHTEEN.split(',').map(selector).collect();
    let thread = session.attach()?;
    for run in 0..RUNS {
        thread.begin(phase)?;
        for (event, selector) in selectors.iter().enumerate() {
            if rung(event) {
                ring(*selector, rings(event, run));
            }
        }
        known_loop(ITERATIONS);
        thread.end(phase)?;
    }
    println!("reads 0 {:?}", thread.caps().read_path);
    drop(thread);
    let report = session.report();
    println!("sets {}", report.sets.len());
    for (run, sample) in report.threads[0].log.iter().enumerate() {
        for (event, counted) in sample.counts.iter().enumerate() {
            let known = match event {
                CYCLES => 6 * ITERATIONS,
                INSTRUCTIONS => 2 * ITERATIONS,
                _ => rings(event, run as u64),
            };
            println!("sample {event} {counted} {known}");
        }
    }
    Ok(())
}

/// The same events on both siblings, each with its half and in turns: eighteen do not
/// fit into one.
pub(crate) fn half_each() -> Result<()> {
    DevMsr::new().allow_user_rdpmc().expect("the lab's guest is root");
    let here = Topology::detect()?;
    let start = |turns: bool, partition| {
        let builder = Session::builder("halves")
            .events(EIGHTEEN)
            .placement(here.clone(), Placement::Compact)
            .registers(partition);
        if turns {
            builder.rotate_event_sets(EventSetRotation::Staggered).start()
        } else {
            builder.start()
        }
    };
    for (turns, partition) in [(false, Partition::Even), (true, Partition::ByDemand)] {
        println!("refused {}", start(turns, partition).expect_err("no room"));
    }
    let session = start(true, Partition::Even)?;
    let phase = session.phase("known")?;
    let selectors: Vec<u64> = EIGHTEEN.split(',').map(selector).collect();
    let together = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        let threads = [0, 1].map(|_| {
            scope.spawn(|| {
                let work = || -> Result<()> {
                    let thread = session.attach()?;
                    for _ in 0..3 {
                        together.wait();
                        thread.begin(phase)?;
                        for (event, selector) in selectors.iter().enumerate() {
                            if rung(event) {
                                ring(*selector, rings(event, thread.number() as u64));
                            }
                        }
                        thread.end(phase)?;
                    }
                    Ok(())
                };
                work().unwrap_or_else(give_up);
            })
        });
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    });
    let report = session.report();
    println!("halves {}", report.sets.len());
    for thread in &report.threads {
        for (event, count) in thread.phases[0].counts.iter().enumerate() {
            if event != CYCLES && event != INSTRUCTIONS {
                let known = count.samples * rings(event, thread.number as u64);
                println!("half {event} {} {} {known}", count.samples, count.raw.sum);
            }
        }
    }
    Ok(())
}

/// Whether the program rings for the event.
fn rung(event: usize) -> bool {
    ![CYCLES, INSTRUCTIONS, AGAIN].contains(&event)
}

/// Different for each event and run, so that a mix-up would show.
fn rings(event: usize, run: u64) -> u64 {
    let event = if event == AGAIN { AGAIN - 1 } else { event };
    1000 * (event as u64 + 1) + 17 * run
}

/// The doorbell's name for an event.
fn selector(name: &str) -> u64 {
    let resolved = pacman_events::resolve(machine::model(), name).expect("a P4 event");
    let event = resolved.encoding().expect("a single event").netburst.expect("a P4 event");
    u64::from(event.event_select)
        | u64::from(event.escr_select) << 6
        | u64::from(event.event_mask) << 16
}
