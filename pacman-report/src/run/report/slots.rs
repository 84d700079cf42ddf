//! The issue slots of a region's threads, siblings side by side, and whether SMT off would pay.
//!
//! An exporter finds a list of cores: package, core, `why_absent`, the verdict, and for each thread its
//! number and its shares from 0 to 1 ([`SlotShares`]).

use std::cell::RefCell;
use std::collections::BTreeMap;

use pacman_metrics::slots::{SiblingSlots, SlotShares, SmtOff, smt_off};

use super::columns::Columns;
use super::thread::Thread;

/// The slots of a region.
#[derive(Debug)]
pub(in crate::run) struct RegionSlots {
    /// Cores by package and number; threads that moved come last, one a row.
    pub(in crate::run) cores: Vec<CoreSlots>,
    /// Over all cores on which two threads ran; `None` if there is none.
    pub(in crate::run) smt_off: Option<SmtOff>,
}

/// The threads of one core.
#[derive(Debug)]
pub(in crate::run) struct CoreSlots {
    /// Package and core; `None` for a thread that moved, or on an unknown machine.
    pub(in crate::run) place: Option<(u32, u32)>,
    pub(in crate::run) threads: Vec<ThreadSlots>,
    /// Why its threads have no shares, if they have none.
    pub(in crate::run) why_absent: Option<String>,
    pub(in crate::run) smt_off: Option<SmtOff>,
}

/// One thread.
#[derive(Debug)]
pub(in crate::run) struct ThreadSlots {
    pub(in crate::run) thread: u32,
    pub(in crate::run) shares: Option<SlotShares>,
}

impl RegionSlots {
    /// `None` if no event of slots was counted. `seconds` is the wall time of the region.
    pub(super) fn of(seconds: f64, threads: &[Thread], columns: &Columns) -> Option<RegionSlots> {
        let is_counted =
            |name: &str| threads.iter().any(|one| columns.sum(name, &[&one.row]).is_some());
        if !CATEGORIES.iter().any(|pair| pair.iter().all(|name| is_counted(name))) {
            return None;
        }
        // On a core that a moving thread may have shared, nobody knows how many ran.
        let may_share = threads.iter().any(|thread| thread.seat.is_none());
        let mut by_place: BTreeMap<_, Vec<&Thread>> = BTreeMap::new();
        for thread in threads {
            let place = thread.seat.map(|seat| (seat.package, seat.core));
            // Those without a place stay apart.
            let apart = if place.is_none() { thread.row.thread } else { 0 };
            by_place.entry((place.is_none(), place, apart)).or_default().push(thread);
        }
        let cores: Vec<CoreSlots> = by_place
            .into_iter()
            .map(|((_, place, _), threads)| {
                CoreSlots::of(place, &threads, seconds, may_share, columns)
            })
            .collect();
        let verdicts: Vec<SmtOff> = cores.iter().filter_map(|core| core.smt_off.clone()).collect();
        Some(RegionSlots { smt_off: SmtOff::of_cores(&verdicts), cores })
    }
}

impl CoreSlots {
    fn of(
        place: Option<(u32, u32)>,
        threads: &[&Thread],
        seconds: f64,
        may_share: bool,
        columns: &Columns,
    ) -> CoreSlots {
        let together = together(threads, seconds);
        let is_by_core = threads.iter().all(|one| columns.sum(CORE_CLOCK, &[&one.row]).is_some());
        let why_absent = match (is_by_core, threads) {
            (true, _) if may_share => Some(
                "a thread was on several CPUs, so it is unknown how many shared a core".to_owned(),
            ),
            (true, [_, _, ..]) if together < ALL_THE_TIME => Some(format!(
                "its threads ran together in {:.0} % of the time only, and its events count both",
                100.0 * together
            )),
            _ => None,
        };
        let contexts = threads.len() as u64;
        let shares = |thread: &Thread| {
            let used = RefCell::new(Vec::new());
            let count = |name: &str| match name {
                "CONTEXTS" => Some(contexts),
                event => {
                    let sum = columns.sum(event, &[&thread.row]);
                    sum.inspect(|_| used.borrow_mut().extend(columns.place(event)))
                }
            };
            let shares = SlotShares::of(count).ok().filter(|_| why_absent.is_none());
            // Shares of two event sets would be of two times.
            shares.filter(|_| columns.share_time(&used.borrow()))
        };
        let threads_of: Vec<ThreadSlots> = threads
            .iter()
            .map(|one| ThreadSlots { thread: one.row.thread, shares: shares(one) })
            .collect();
        let all = columns.sum("SLOTS", &threads.iter().map(|one| &one.row).collect::<Vec<_>>());
        let part = |thread: &Thread, shares: &SlotShares| match shares.smt_contention {
            // Each counts all slots of its cycles, those of the sibling's turns too.
            Some(_) => Some(1.0),
            None if is_by_core => Some(1.0 / contexts as f64),
            None => Some(columns.sum("SLOTS", &[&thread.row])? as f64 / all? as f64),
        };
        let siblings: Option<Vec<SiblingSlots>> = threads
            .iter()
            .zip(&threads_of)
            .map(|(thread, slots)| {
                let shares = slots.shares?;
                Some(SiblingSlots { shares, part: part(thread, &shares)? })
            })
            .collect();
        // Two threads on one context take turns, and SMT does not come into it.
        let are_siblings = threads.iter().all(|one| one.beside.len() + 1 == threads.len());
        let smt_off = siblings
            .filter(|all| all.len() > 1 && are_siblings && together >= MOSTLY)
            .and_then(|siblings| smt_off(&siblings).ok());
        CoreSlots { place, threads: threads_of, why_absent, smt_off }
    }
}

/// The least part of the longest thread's time in which all threads of the core ran: they are all in
/// the region, whose wall time is `seconds`.
fn together(threads: &[&Thread], seconds: f64) -> f64 {
    let longest = threads.iter().map(|one| one.row.seconds).fold(0.0, f64::max);
    let apart: f64 = threads.iter().map(|one| (seconds - one.row.seconds).max(0.0)).sum();
    if longest > 0.0 { ((seconds - apart) / longest).clamp(0.0, 1.0) } else { 0.0 }
}

/// The clock of a core before Ice Lake: it runs while any of its contexts does.
const CORE_CLOCK: &str = "CPU_CLK_UNHALTED.THREAD_ANY";
/// The events of retiring slots and of all slots, by which a region with slots is known.
const CATEGORIES: [[&str; 2]; 3] = [
    ["TOPDOWN_RETIRING", "SLOTS"],
    ["OP_RETIRED", "SLOTS"],
    ["UOPS_RETIRED.RETIRE_SLOTS", CORE_CLOCK],
];
/// From here on the slots of a core are divided equally, to half a point.
const ALL_THE_TIME: f64 = 0.99;
/// From here on a verdict is about threads that ran beside each other.
const MOSTLY: f64 = 0.9;
