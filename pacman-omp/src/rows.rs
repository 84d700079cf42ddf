//! Rows of counts, each written by one thread at a time.
//!
//! When a thread ends, its rows wait for the next thread with the same work. libgomp ends and starts
//! tens of thousands of threads if teams change their size, and memory must not grow with them. Rows are
//! never added up here. So no count is lost or doubled if the process ends at any moment.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use pacman_core::backend::MAX_EVENTS;
use pacman_regions::arena::{
    EVENTS, LogBlock, PhaseRow, PrimaryStats, Row, SetRow, Thread, WaitRow,
};

use crate::arena;
use crate::counting::EventPlan;
use crate::lock::Lock;
use crate::recording;

const _: () = assert!(EVENTS == MAX_EVENTS, "a row has a place for each count of a reading");

/// Rows without a thread.
#[derive(Debug)]
pub(crate) struct Spare {
    /// By region and thread number.
    rows: BTreeMap<(u32, u32), Vec<&'static Row>>,
    /// By region, thread number and event set.
    sets: BTreeMap<(u32, u32, u32), Vec<&'static SetRow>>,
    /// By region.
    primary_stats: BTreeMap<u32, Vec<&'static PrimaryStats>>,
    threads: Vec<&'static Thread>,
    /// By region, thread number and site.
    waits: BTreeMap<(u32, u32, u32), Vec<&'static WaitRow>>,
    /// By phase and thread number.
    phases: BTreeMap<(u32, u32), Vec<&'static PhaseRow>>,
    logs: Vec<OwnLog>,
}

/// The log of a thread, or of threads that ran one after the other, with its latest block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnLog {
    pub(crate) number: u32,
    pub(crate) block: LogBlock,
}

pub(crate) static SPARE: Lock<Spare> = Lock::new(Spare::NONE);
/// Whether the events of the process are recorded.
static EVENTS_RECORDED: AtomicBool = AtomicBool::new(false);

impl Spare {
    const NONE: Spare = Spare {
        rows: BTreeMap::new(),
        sets: BTreeMap::new(),
        primary_stats: BTreeMap::new(),
        threads: Vec::new(),
        waits: BTreeMap::new(),
        phases: BTreeMap::new(),
        logs: Vec::new(),
    };

    /// In the child of a fork: all rows are the parent's.
    pub(crate) fn forget(&mut self) {
        *self = Spare::NONE;
        EVENTS_RECORDED.store(false, Ordering::Relaxed);
    }
}

/// Records what counts mean, before the first row.
fn record_events() {
    if !EVENTS_RECORDED.swap(true, Ordering::Relaxed) {
        let plan = EventPlan::current();
        recording::events(&plan.events, &plan.sets);
    }
}

/// A row for the calling thread as number `thread` of the team in a region.
pub(crate) fn row(region: u32, thread: u32) -> &'static Row {
    record_events();
    let spare = SPARE.lock().rows.get_mut(&(region, thread)).and_then(Vec::pop);
    if let Some(row) = spare {
        // The thread before may have been on another context.
        row.sample_cpu(cpu);
        return row;
    }
    arena::with(|writer| writer.row(region, thread)).flatten().unwrap_or_else(|| {
        let row: &'static Row = Box::leak(Box::new(Row::unrecorded()));
        row.set_key(region, thread);
        row
    })
}

/// Statistics for the executions of a region that the calling thread starts.
pub(crate) fn primary_stats(region: u32) -> &'static PrimaryStats {
    let spare = SPARE.lock().primary_stats.get_mut(&region).and_then(Vec::pop);
    let new = || arena::with(|writer| writer.primary_stats(region)).flatten();
    spare.or_else(new).unwrap_or_else(|| unrecorded_primary_stats(region))
}

/// Statistics outside of the recording, which nobody reads.
pub(crate) fn unrecorded_primary_stats(region: u32) -> &'static PrimaryStats {
    // Not on the stack, whose size the program chooses.
    let mut place = Box::<PrimaryStats>::new_uninit();
    // SAFETY: all fields are integers, for which zeros are valid.
    let primary_stats: &'static PrimaryStats = unsafe {
        place.as_mut_ptr().write_bytes(0, 1);
        Box::leak(place.assume_init())
    };
    primary_stats.set_key(region);
    primary_stats
}

/// The record of the calling thread's open regions.
pub(crate) fn thread() -> &'static Thread {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    if let Some(spare) = SPARE.lock().threads.pop() {
        return spare;
    }
    let thread = arena::with(|writer| writer.thread()).flatten();
    let thread = thread.unwrap_or_else(|| Box::leak(Box::new(Thread::unrecorded())));
    thread.set_number(NEXT.fetch_add(1, Ordering::Relaxed));
    thread
}

/// A row for the counts of an event set of the calling thread as number `thread` of the team in a region.
pub(crate) fn set_row(region: u32, thread: u32, set: u32) -> &'static SetRow {
    let spare = SPARE.lock().sets.get_mut(&(region, thread, set)).and_then(Vec::pop);
    let new = || arena::with(|writer| writer.set_row(region, thread, set)).flatten();
    spare.or_else(new).unwrap_or_else(|| {
        let row: &'static SetRow = Box::leak(Box::new(SetRow::unrecorded()));
        row.set_key(region, thread, set);
        row
    })
}

/// A row for waits of the calling thread as number `thread` of the team in a region.
pub(crate) fn wait_row(region: u32, thread: u32, site: u32) -> &'static WaitRow {
    let spare = SPARE.lock().waits.get_mut(&(region, thread, site)).and_then(Vec::pop);
    let new = || arena::with(|writer| writer.wait_row(region, thread, site)).flatten();
    spare.or_else(new).unwrap_or_else(|| {
        let row: &'static WaitRow = Box::leak(Box::new(WaitRow::unrecorded()));
        row.set_key(region, thread, site);
        row
    })
}

/// A row for the calling thread as number `thread` of those with phases.
pub(crate) fn phase_row(phase: u32, thread: u32) -> &'static PhaseRow {
    record_events();
    let spare = SPARE.lock().phases.get_mut(&(phase, thread)).and_then(Vec::pop);
    if let Some(row) = spare {
        row.row.sample_cpu(cpu);
        return row;
    }
    let new = arena::with(|writer| writer.phase_row(phase, thread)).flatten();
    new.unwrap_or_else(|| {
        let row: &'static PhaseRow = Box::leak(Box::new(PhaseRow::unrecorded()));
        row.row.set_key(phase, thread);
        row
    })
}

/// A log that no thread has.
pub(crate) fn spare_log() -> Option<OwnLog> {
    SPARE.lock().logs.pop()
}

/// A block for executions with `counts` counts, of the log of that number or of a new one. `None` without
/// room.
pub(crate) fn log(number: Option<u32>, counts: usize) -> Option<OwnLog> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    record_events();
    let number = number.unwrap_or_else(|| NEXT.fetch_add(1, Ordering::Relaxed));
    let block = arena::with(|writer| writer.log_block(number, counts)).flatten()?;
    Some(OwnLog { number, block })
}

/// Gives back the log of the calling thread, which ends.
pub(crate) fn give_back_log(log: OwnLog) {
    SPARE.lock().logs.push(log);
}

/// Gives back the rows of phases of the calling thread, which ends.
pub(crate) fn give_back_phases(rows: impl Iterator<Item = &'static PhaseRow>) {
    let mut spare = SPARE.lock();
    rows.for_each(|row| {
        spare.phases.entry((row.row.region(), row.row.thread())).or_default().push(row);
    });
}

/// Gives back the rows of event sets of the calling thread, which ends.
pub(crate) fn give_back_sets(rows: impl Iterator<Item = &'static SetRow>) {
    let mut spare = SPARE.lock();
    rows.for_each(|row| spare.sets.entry(row.key()).or_default().push(row));
}

/// Gives back the rows of waits of the calling thread, which ends.
pub(crate) fn give_back_waits(rows: impl Iterator<Item = &'static WaitRow>) {
    let mut spare = SPARE.lock();
    rows.for_each(|row| spare.waits.entry(row.key()).or_default().push(row));
}

/// Gives back the rows of the calling thread, which ends.
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
    // SAFETY: it only returns a number.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}
