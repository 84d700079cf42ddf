//! What is counted, in rows that one thread at a time writes.
//!
//! The rows of a thread that ends wait for the next one that does the same: libgomp ends and starts
//! threads by the ten thousand where teams change their size, and memory is to stay as it is. Nothing
//! is added up here, so that nothing is counted twice or lost wherever the process ends.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use pacman_core::backend::MAX_EVENTS;
use pacman_core::fork::Lock;
use pacman_regions::arena::{EVENTS, PrimaryStats, Row, Thread};

use crate::arena;
use crate::counting::Plan;
use crate::recording;

const _: () = assert!(EVENTS == MAX_EVENTS, "a row has a place for each count of a reading");

/// Rows that no thread has.
#[derive(Debug)]
pub(crate) struct Spare {
    /// By region and number of the thread.
    rows: BTreeMap<(u32, u32), Vec<&'static Row>>,
    /// By region.
    primary_stats: BTreeMap<u32, Vec<&'static PrimaryStats>>,
    threads: Vec<&'static Thread>,
}

pub(crate) static SPARE: Lock<Spare> = Lock::new(Spare::NONE);
/// Whether the process's events are recorded.
static EVENTS_RECORDED: AtomicBool = AtomicBool::new(false);

impl Spare {
    const NONE: Spare =
        Spare { rows: BTreeMap::new(), primary_stats: BTreeMap::new(), threads: Vec::new() };

    /// In the child of a fork: they are the parent's.
    pub(crate) fn forget(&mut self) {
        *self = Spare::NONE;
        EVENTS_RECORDED.store(false, Ordering::Relaxed);
    }
}

/// A row for what the calling thread does in a region as number `thread` of the team.
pub(crate) fn row(region: u32, thread: u32) -> &'static Row {
    if !EVENTS_RECORDED.swap(true, Ordering::Relaxed) {
        let plan = Plan::current();
        recording::events(&plan.events, &plan.counted);
    }
    let spare = SPARE.lock().rows.get_mut(&(region, thread)).and_then(Vec::pop);
    if let Some(row) = spare {
        // Who had it before may have been on another context.
        row.sample_cpu(cpu);
        return row;
    }
    arena::with(|writer| writer.row(region, thread)).flatten().unwrap_or_else(|| {
        let row: &'static Row = Box::leak(Box::new(Row::unrecorded()));
        row.set_key(region, thread);
        row
    })
}

/// A row for the executions of a region that the calling thread starts.
pub(crate) fn primary_stats(region: u32) -> &'static PrimaryStats {
    let spare = SPARE.lock().primary_stats.get_mut(&region).and_then(Vec::pop);
    let new = || arena::with(|writer| writer.primary_stats(region)).flatten();
    spare.or_else(new).unwrap_or_else(|| {
        // Not by way of the stack: how large that of the program's thread is the program says.
        let mut place = Box::<PrimaryStats>::new_uninit();
        // SAFETY: it is made of numbers, of which 0 is one.
        let primary_stats: &'static PrimaryStats = unsafe {
            place.as_mut_ptr().write_bytes(0, 1);
            Box::leak(place.assume_init())
        };
        primary_stats.set_key(region);
        primary_stats
    })
}

/// What says whether the calling thread has regions under way.
pub(crate) fn thread() -> &'static Thread {
    let spare = SPARE.lock().threads.pop();
    let new = || arena::with(|writer| writer.thread()).flatten();
    spare.or_else(new).unwrap_or_else(|| Box::leak(Box::new(Thread::unrecorded())))
}

/// The calling thread ends.
pub(crate) fn give_back(
    thread: &'static Thread,
    rows: impl Iterator<Item = &'static Row>,
    primary_stats: impl Iterator<Item = &'static PrimaryStats>,
) {
    let mut spare = SPARE.lock();
    for row in rows {
        spare.rows.entry((row.region(), row.thread())).or_default().push(row);
    }
    for primary_stats in primary_stats {
        spare.primary_stats.entry(primary_stats.region()).or_default().push(primary_stats);
    }
    thread.set_open_regions(0);
    spare.threads.push(thread);
}

/// The hardware context that the calling thread is on.
pub(crate) fn cpu() -> Option<u32> {
    // SAFETY: takes nothing.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}
