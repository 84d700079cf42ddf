//! What is counted, in rows that each belong to one thread of the system.
//!
//! A row is written by its thread alone, with plain loads and stores, and may be read by
//! another at any time. When a thread ends its rows are added to those of the ended, because
//! libgomp ends and starts threads by the ten thousand where teams change their size.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use pacman_core::backend::{EventSums, MAX_EVENTS};
use pacman_core::fork::Lock;

use crate::timeline::{Bins, Held};

/// What a thread did in one region as number `thread` of the team.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) region: u32,
    pub(crate) thread: u32,
    executions: AtomicU64,
    ticks: AtomicU64,
    cpu: AtomicU32,
    moves: AtomicU64,
    counted: AtomicU64,
    counts: EventSums,
    /// How many of these are of events.
    events: usize,
    /// The row of a number that its thread had in this region before; its thread alone looks.
    before: AtomicPtr<Row>,
}

/// The executions of one region that a thread started.
#[derive(Debug)]
pub(crate) struct Hosted {
    pub(crate) region: u32,
    nested: AtomicU64,
    shortest: AtomicU64,
    longest: AtomicU64,
    teams: [Size; SIZES],
    bins: Bins,
}

/// More sizes of teams than adaptation has candidates; what comes later goes to the last.
const SIZES: usize = 16;

#[derive(Debug, Default)]
struct Size {
    threads: AtomicU32,
    executions: AtomicU64,
    ticks: AtomicU64,
}

#[inline]
fn add(cell: &AtomicU64, more: u64) {
    cell.store(cell.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

const NOWHERE: u32 = u32::MAX;

impl Row {
    pub(crate) fn new(region: u32, thread: u32, events: usize) -> Row {
        Row {
            region,
            thread,
            executions: AtomicU64::new(0),
            ticks: AtomicU64::new(0),
            cpu: AtomicU32::new(NOWHERE),
            moves: AtomicU64::new(0),
            counted: AtomicU64::new(0),
            counts: [const { AtomicU64::new(0) }; MAX_EVENTS],
            events,
            before: AtomicPtr::default(),
        }
    }

    /// The row that comes before this one in the list of its thread's rows of its region.
    pub(crate) fn before(&self) -> *const Row {
        self.before.load(Ordering::Relaxed)
    }

    pub(crate) fn set_before(&self, row: *const Row) {
        self.before.store(row.cast_mut(), Ordering::Relaxed);
    }

    /// One execution.
    #[inline(always)]
    pub(crate) fn add(&self, ticks: u64) {
        let executions = self.executions.load(Ordering::Relaxed);
        if executions % LOOK == 0 {
            self.look();
        }
        self.executions.store(executions + 1, Ordering::Relaxed);
        add(&self.ticks, ticks);
    }

    /// What counted in it: `add_to` adds that to the sums, one an event, or answers false.
    #[inline(always)]
    pub(crate) fn count(&self, add_to: impl FnOnce(&EventSums) -> bool) {
        if add_to(&self.counts) {
            add(&self.counted, 1);
        }
    }

    /// Which hardware context the thread is on.
    #[inline(never)]
    fn look(&self) {
        // SAFETY: takes nothing; where it fails, -1 is `NOWHERE`.
        let cpu = unsafe { libc::sched_getcpu() } as u32;
        let before = self.cpu.swap(cpu, Ordering::Relaxed);
        if before != cpu && before != NOWHERE {
            add(&self.moves, 1);
        }
    }
}

/// Every which execution a row's hardware context is looked at: it costs as much as a counter.
const LOOK: u64 = 16;

impl Hosted {
    pub(crate) fn new(region: u32) -> Hosted {
        Hosted {
            region,
            nested: AtomicU64::new(0),
            shortest: AtomicU64::new(u64::MAX),
            longest: AtomicU64::new(0),
            teams: Default::default(),
            bins: Bins::new(),
        }
    }

    /// One execution with a team of `threads`: `ticks`, from so many ticks `since` the process began.
    #[inline(always)]
    pub(crate) fn add(&self, since: u64, ticks: u64, threads: u32, nested: bool) {
        let first = &self.teams[0];
        let is_first = first.threads.load(Ordering::Relaxed) == threads;
        let size = if is_first { first } else { self.size(threads) };
        add(&size.ticks, ticks);
        add(&size.executions, 1);
        if ticks < self.shortest.load(Ordering::Relaxed) {
            self.shortest.store(ticks, Ordering::Relaxed);
        }
        if ticks > self.longest.load(Ordering::Relaxed) {
            self.longest.store(ticks, Ordering::Relaxed);
        }
        if nested {
            add(&self.nested, 1);
        } else {
            self.bins.add(since, ticks, u64::from(threads));
        }
    }

    /// Adds how wide its teams were, of which most have `usual` threads.
    pub(crate) fn add_widths(&self, usual: u32, widths: &mut Widths) {
        for size in &self.teams {
            match size.threads.load(Ordering::Relaxed) {
                0 => return,
                wide if wide >= usual => widths.wide += size.executions.load(Ordering::Relaxed),
                _ => widths.narrow_ticks += size.ticks.load(Ordering::Relaxed),
            }
        }
    }

    #[inline(never)]
    fn size(&self, threads: u32) -> &Size {
        let mut sizes = self.teams.iter();
        let size = sizes.find(|size| {
            let known = size.threads.load(Ordering::Relaxed);
            known == threads || known == 0
        });
        let size = size.unwrap_or(&self.teams[SIZES - 1]);
        size.threads.store(threads, Ordering::Relaxed);
        size
    }
}

/// How wide teams were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Widths {
    /// Executions with as many threads as teams usually have, or more.
    pub(crate) wide: u64,
    /// Ticks of the others.
    pub(crate) narrow_ticks: u64,
}

/// All rows of one thread.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Regions that its thread has started and that are not in the rows yet.
    pub(crate) hosting: AtomicU32,
    pub(crate) rows: Lock<Vec<Arc<Row>>>,
    pub(crate) hosted: Lock<Vec<Arc<Hosted>>>,
}

/// The tables of threads that live.
pub(crate) static LIVE: Lock<Vec<Arc<Table>>> = Lock::new(Vec::new());
/// The sums over those that have ended.
pub(crate) static ENDED: Lock<Sums> =
    Lock::new(Sums { rows: BTreeMap::new(), hosted: BTreeMap::new() });

/// What rows add up to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    /// By region and number of the thread.
    pub(crate) rows: BTreeMap<(u32, u32), RowSum>,
    /// By region.
    pub(crate) hosted: BTreeMap<u32, HostedSum>,
}

/// The sum of rows of one region and thread number.
#[derive(Clone, Debug)]
pub(crate) struct RowSum {
    pub(crate) executions: u64,
    pub(crate) ticks: u64,
    pub(crate) cpu: Option<u32>,
    pub(crate) moves: u64,
    pub(crate) counted: u64,
    pub(crate) counts: Vec<u64>,
}

/// The sum over all threads that started a region.
#[derive(Clone, Debug)]
pub(crate) struct HostedSum {
    pub(crate) executions: u64,
    pub(crate) nested: u64,
    pub(crate) ticks: u64,
    pub(crate) shortest: u64,
    pub(crate) longest: u64,
    /// Threads, executions, ticks.
    pub(crate) teams: Vec<(u32, u64, u64)>,
    pub(crate) bins: Held,
}

impl Table {
    /// A table that will be found by [`sums`].
    pub(crate) fn enlisted() -> Arc<Table> {
        let table = Arc::new(Table::default());
        LIVE.lock().push(Arc::clone(&table));
        table
    }

    /// Its thread ends: the rows go to those of the ended.
    pub(crate) fn retire(self: &Arc<Table>) {
        // In this order everywhere, so that no row is there twice or not at all.
        let (mut live, mut ended) = (LIVE.lock(), ENDED.lock());
        live.retain(|table| !Arc::ptr_eq(table, self));
        ended.take_in(self);
    }
}

/// Whether some thread has a region under way.
pub(crate) fn are_unfinished() -> bool {
    LIVE.lock().iter().any(|table| table.hosting.load(Ordering::Relaxed) > 0)
}

/// Everything that was counted so far.
pub(crate) fn sums() -> Sums {
    let (live, ended) = (LIVE.lock(), ENDED.lock());
    let mut sums = ended.clone();
    live.iter().for_each(|table| sums.take_in(table));
    sums
}

/// Begins with nothing, in the child of a fork. The tables of threads that are not in the child are
/// left to themselves: whoever ran there may have been writing.
pub(crate) fn forget(live: &mut Vec<Arc<Table>>, ended: &mut Sums) {
    std::mem::forget(std::mem::take(live));
    *ended = Sums::default();
}

impl Sums {
    fn take_in(&mut self, table: &Table) {
        let get = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        for row in table.rows.lock().iter() {
            let key = (row.region, row.thread);
            let sum = self.rows.entry(key).or_insert_with(|| RowSum::empty(row));
            let cpu = row.cpu.load(Ordering::Relaxed);
            if cpu != NOWHERE {
                // Another thread had this number before: on another context, it has moved.
                sum.moves += u64::from(sum.cpu.is_some_and(|before| before != cpu));
                sum.cpu = Some(cpu);
            }
            sum.executions += get(&row.executions);
            sum.ticks += get(&row.ticks);
            sum.moves += get(&row.moves);
            sum.counted += get(&row.counted);
            sum.counts.iter_mut().zip(&row.counts).for_each(|(sum, cell)| *sum += get(cell));
        }
        for hosted in table.hosted.lock().iter() {
            let Some(sum) = hosted.sum() else { continue };
            let known = self.hosted.entry(hosted.region).and_modify(|known| known.merge(&sum));
            known.or_insert(sum);
        }
    }
}

impl RowSum {
    fn empty(row: &Row) -> RowSum {
        RowSum {
            executions: 0,
            ticks: 0,
            cpu: None,
            moves: 0,
            counted: 0,
            counts: vec![0; row.events],
        }
    }
}

impl Hosted {
    /// `None` before the first execution is entered. A signal handler that ends the process may
    /// have cut the entry of one at any place: what is there of it goes with what was there before.
    fn sum(&self) -> Option<HostedSum> {
        let get = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        let sizes = self.teams.iter().filter(|size| get(&size.executions) > 0);
        let teams: Vec<_> = sizes
            .map(|size| {
                let threads = size.threads.load(Ordering::Relaxed);
                (threads, get(&size.executions), get(&size.ticks))
            })
            .collect();
        let executions = teams.iter().map(|team| team.1).sum();
        let ticks: u64 = teams.iter().map(|team| team.2).sum();
        let longest = match get(&self.longest) {
            0 => ticks,
            longest => longest.min(ticks),
        };
        (executions > 0).then(|| HostedSum {
            executions,
            nested: get(&self.nested).min(executions),
            ticks,
            shortest: get(&self.shortest).min(longest),
            longest,
            teams,
            bins: self.bins.look(),
        })
    }
}

impl HostedSum {
    fn merge(&mut self, other: &HostedSum) {
        self.executions += other.executions;
        self.nested += other.nested;
        self.ticks += other.ticks;
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
        for &(threads, executions, ticks) in &other.teams {
            match self.teams.iter_mut().find(|team| team.0 == threads) {
                Some(team) => *team = (threads, team.1 + executions, team.2 + ticks),
                None => self.teams.push((threads, executions, ticks)),
            }
        }
        let shift = self.bins.shift.max(other.bins.shift);
        self.bins = self.bins.clone().folded(shift);
        self.bins.merge(&other.bins.clone().folded(shift));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn teams_are_wide_or_narrow() {
        let hosted = Hosted::new(0);
        let mut widths = Widths::default();
        hosted.add_widths(4, &mut widths);
        assert_eq!(widths, Widths::default());
        for (threads, ticks) in [(4, 10), (2, 20), (4, 30), (1, 40), (8, 50)] {
            hosted.add(5, ticks, threads, false);
        }
        hosted.add_widths(4, &mut widths);
        assert_eq!(widths, Widths { wide: 3, narrow_ticks: 60 });
        hosted.add_widths(1, &mut widths);
        assert_eq!(widths, Widths { wide: 3 + 5, narrow_ticks: 60 });
    }

    #[test]
    fn rows_of_one_region_and_number_are_one_sum() {
        let mut sums = Sums::default();
        for (number, keys) in
            [[(7, 1), (0, 0)], [(7, 0), (7, 1)], [(7, 1), (2, 3)]].iter().enumerate()
        {
            let table = Table::default();
            for &(region, thread) in keys {
                let row = Row::new(region, thread, 0);
                row.add(10 + number as u64);
                table.rows.lock().push(Arc::new(row));
            }
            let hosted = Hosted::new(keys[0].0);
            hosted.add(0, 100, 2, false);
            table.hosted.lock().push(Arc::new(hosted));
            sums.take_in(&table);
        }
        let rows = sums.rows.iter().map(|(key, sum)| (*key, sum.executions, sum.ticks));
        let expected =
            [((0, 0), 1, 10), ((2, 3), 1, 12), ((7, 0), 1, 11), ((7, 1), 3, 10 + 11 + 12)];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
        let hosted = sums.hosted.iter().map(|(region, sum)| (*region, sum.executions, sum.ticks));
        assert_eq!(hosted.collect::<Vec<_>>(), [(7, 3, 300)]);
    }

    #[test]
    fn an_entry_that_is_cut_is_there_or_not() {
        let hosted = Hosted::new(0);
        assert!(hosted.sum().is_none());
        // All that the entry of the first execution stores, up to each store.
        let size = hosted.size(2);
        assert!(hosted.sum().is_none());
        add(&size.ticks, 70);
        assert!(hosted.sum().is_none(), "its ticks are nobody's yet");
        add(&size.executions, 1);
        let seen = |hosted: &Hosted| {
            hosted.sum().map(|sum| (sum.executions, sum.ticks, sum.shortest, sum.longest))
        };
        assert_eq!(seen(&hosted), Some((1, 70, 70, 70)));
        hosted.shortest.store(70, Ordering::Relaxed);
        assert_eq!(seen(&hosted), Some((1, 70, 70, 70)));
        hosted.longest.store(70, Ordering::Relaxed);
        assert_eq!(seen(&hosted), Some((1, 70, 70, 70)));
        hosted.add(5, 30, 2, false);
        assert_eq!(seen(&hosted), Some((2, 100, 30, 70)));
    }
}
