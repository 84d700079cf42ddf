//! The rows and decisions of one thread, by the number of the region.

use std::cell::UnsafeCell;
use std::ptr;

use pacman_regions::arena::{CurrentBin, Nested, PrimaryStats, Row, Thread, Widths};

use crate::adapted::CachedDecision;
use crate::isolation::{isolated, isolated_memory};
use crate::rows;
use crate::sampling::Sampler;

/// The rows of one thread in one region. Rows are never freed; pointers are null before the first use.
///
/// Nine words: one `lea` multiplies an index by nine, and an address scales by eight.
#[repr(C)]
struct OwnRows {
    /// The row of the number that the thread had in the region last.
    row: *const Row,
    /// That number, so that a look-up touches no other row; [`NOBODY`] before the first.
    thread: u32,
    /// The statistics of executions that the thread starts, and the bin of the latest one.
    primary_stats: *const PrimaryStats,
    latest: CurrentBin,
    cached: Option<Box<CachedDecision>>,
    /// The rows of other numbers, the latest last.
    others: Option<Box<Others>>,
    /// Chooses the executions that are timed; `None` before the first choice.
    sampler: Option<Box<Sampler>>,
}

/// More than any thread's number.
const NOBODY: u32 = u32::MAX;

struct Others(Vec<&'static Row>);

const _: () = assert!(size_of::<OwnRows>() == 9 * 8);

impl OwnRows {
    const fn none() -> OwnRows {
        OwnRows {
            row: ptr::null(),
            thread: NOBODY,
            primary_stats: ptr::null(),
            latest: CurrentBin::none(),
            cached: None,
            others: None,
            sampler: None,
        }
    }

    /// In the child of a fork: the rows are the parent's. The decision stays allocated, because the
    /// region that the thread is inside still uses it.
    fn forked(&mut self) {
        let cached = self.cached.take();
        cached.iter().for_each(|cached| cached.forget());
        *self = OwnRows { cached, ..OwnRows::none() };
    }
}

/// The rows of one thread. Only that thread uses them.
#[derive(Default)]
pub(crate) struct RegionRows(UnsafeCell<Vec<OwnRows>>);

impl RegionRows {
    /// The thread ends: later threads may go on with its rows.
    pub(super) fn give_back(self, thread: &'static Thread) {
        let all = self.0.into_inner();
        let rows = all.iter().flat_map(|own| {
            // SAFETY: rows are never freed.
            let latest = unsafe { own.row.as_ref() };
            latest.into_iter().chain(own.others.iter().flat_map(|others| others.0.iter().copied()))
        });
        // SAFETY: as above.
        let primary_stats = all.iter().filter_map(|own| unsafe { own.primary_stats.as_ref() });
        rows::give_back(thread, rows, primary_stats);
    }

    /// In the child of a fork: all rows are the parent's.
    pub(super) fn forked(&self) {
        // SAFETY: only this thread uses them, and no reference to them is alive here.
        for own in unsafe { &mut *self.0.get() } {
            own.forked();
        }
    }

    /// Enters an execution that this thread started: `ticks` long, `since` ticks after the start of the
    /// process, with a team of `threads`.
    #[inline(always)]
    pub(crate) fn enter(
        &self,
        (region, starter): (u32, impl FnOnce() -> u32),
        since: u64,
        ticks: u64,
        threads: u32,
        nested: impl FnOnce() -> Nested,
    ) {
        let own = self.primary(region, starter);
        // SAFETY: rows are never freed, and the bin belongs to these statistics.
        unsafe { (*own.primary_stats).add(&own.latest, since, ticks, threads, nested) };
    }

    /// As [`enter`](Self::enter), for an execution that stands for `weight` of them.
    pub(crate) fn enter_weighted(
        &self,
        (region, starter): (u32, impl FnOnce() -> u32),
        since: u64,
        ticks: u64,
        threads: u32,
        weight: u32,
    ) {
        let own = self.primary(region, starter);
        // SAFETY: as above.
        unsafe { (*own.primary_stats).add_weighted(&own.latest, since, ticks, threads, weight) };
    }

    /// Puts `ticks` of executions that are not timed into the timeline, evenly between two times.
    pub(crate) fn put_untimed(&self, region: u32, times: (u64, u64), ticks: u64) {
        let Some(own) = self.of(region) else { return };
        let threads = own.sampler.as_deref().map_or(1, Sampler::threads);
        // SAFETY: as above; null before the first execution that is timed.
        if let Some(stats) = unsafe { own.primary_stats.as_ref() } {
            // SAFETY: the bin belongs to these statistics.
            unsafe { stats.put_untimed(&own.latest, times, ticks, threads) };
        }
    }

    /// Sets the ticks that timing an execution usually costs.
    pub(crate) fn set_cost(&self, region: u32, ticks: u64) {
        // SAFETY: as above.
        let stats = self.of(region).and_then(|own| unsafe { own.primary_stats.as_ref() });
        stats.inspect(|stats| stats.set_cost(ticks));
    }

    /// The executions that the next timed one stands for.
    pub(crate) fn weight(&self, region: u32) -> u32 {
        let sampler = self.of(region).and_then(|own| own.sampler.as_deref());
        sampler.map_or(1, Sampler::weight)
    }

    /// Has the region's sampler choose the next execution to time. Answers the executions before it,
    /// which are only counted.
    pub(crate) fn sample(&self, region: u32, choose: impl FnOnce(&mut Sampler) -> u32) -> u32 {
        if self.of(region).is_none_or(|own| own.sampler.is_none()) {
            isolated(|| self.keep(region, |own| own.sampler = Some(Box::default())));
        }
        let mut skips = 0;
        self.keep(region, |own| skips = own.sampler.as_deref_mut().map_or(0, choose));
        skips
    }

    #[inline(always)]
    fn primary(&self, region: u32, starter: impl FnOnce() -> u32) -> &OwnRows {
        let known = self.of(region).filter(|own| !own.primary_stats.is_null());
        known.unwrap_or_else(|| self.with_primary_stats(region, starter()))
    }

    #[cold]
    fn with_primary_stats(&self, region: u32, starter: u32) -> &OwnRows {
        let found = isolated(|| Some(rows::primary_stats(region)));
        isolated_memory(|| {
            let primary_stats = found.unwrap_or_else(|| rows::unrecorded_primary_stats(region));
            primary_stats.set_starter(starter);
            self.keep(region, |own| {
                (own.primary_stats, own.latest) = (primary_stats, CurrentBin::none())
            });
        });
        self.of(region).expect("made above")
    }

    /// The widths of the teams that the thread started, where teams usually have `usual` threads.
    pub(crate) fn widths(&self, usual: u32) -> Widths {
        let mut widths = Widths::default();
        // SAFETY: only this thread uses them, and nothing here changes them.
        for own in unsafe { &*self.0.get() } {
            // SAFETY: rows are never freed.
            if let Some(primary_stats) = unsafe { own.primary_stats.as_ref() } {
                primary_stats.add_widths(usual, &mut widths);
            }
        }
        widths
    }

    /// As [`widths`](Self::widths), of one region.
    pub(crate) fn widths_of(&self, region: u32, usual: u32) -> Widths {
        let mut widths = Widths::default();
        // SAFETY: rows are never freed.
        let own = self.of(region).and_then(|own| unsafe { own.primary_stats.as_ref() });
        own.inspect(|primary_stats| primary_stats.add_widths(usual, &mut widths));
        widths
    }

    /// The cached decision for a region, if there is one.
    #[inline(always)]
    pub(crate) fn cached_decision(&self, region: u32) -> Option<&CachedDecision> {
        let cached = self.of(region)?.cached.as_deref()?;
        // SAFETY: the list may move, but the box stays as long as the worker.
        Some(unsafe { &*ptr::from_ref(cached) })
    }

    /// The cached decision for a region, made at the first use.
    pub(crate) fn own_cached_decision(&self, region: u32) -> &CachedDecision {
        self.cached_decision(region).unwrap_or_else(|| {
            self.keep(region, |own| own.cached = Some(Box::default()));
            self.cached_decision(region).expect("made above")
        })
    }

    /// The number that the thread had in the region last.
    pub(crate) fn latest_thread(&self, region: u32) -> Option<u32> {
        self.of(region).map(|own| own.thread).filter(|thread| *thread != NOBODY)
    }

    #[inline]
    pub(super) fn row(&self, region: u32, thread: u32) -> &Row {
        match self.of(region) {
            // SAFETY: rows are never freed, and the number is set with its row.
            Some(own) if own.thread == thread => unsafe { &*own.row },
            _ => self.other_row(region, thread),
        }
    }

    /// The row for a number that the thread did not have in this region last time. Searches this
    /// region's rows only, because a program may have thousands of regions.
    #[cold]
    fn other_row(&self, region: u32, thread: u32) -> &Row {
        let found = isolated(|| {
            let known = self.taken_out(region, thread);
            let row = known.unwrap_or_else(|| rows::row(region, thread));
            self.keep(region, |own| {
                own.thread = thread;
                // SAFETY: rows are never freed.
                if let Some(latest) = unsafe { std::mem::replace(&mut own.row, row).as_ref() } {
                    own.others.get_or_insert_with(|| Box::new(Others(Vec::new()))).0.push(latest);
                }
            });
            Some(row)
        });
        found.unwrap_or_else(|| isolated_memory(|| Box::leak(Box::new(Row::unrecorded()))))
    }

    /// Takes the row of that number out of the others.
    fn taken_out(&self, region: u32, thread: u32) -> Option<&'static Row> {
        let others = &self.of(region)?.others.as_ref()?.0;
        let at = others.iter().rposition(|row| row.thread() == thread)?;
        let mut row = None;
        self.keep(region, |own| {
            row = own.others.as_mut().map(|others| others.0.remove(at));
        });
        row
    }

    #[inline(always)]
    fn of(&self, region: u32) -> Option<&OwnRows> {
        // SAFETY: only this thread uses them, and callers drop the reference before they call `keep`.
        unsafe { &*self.0.get() }.get(region as usize)
    }

    fn keep(&self, region: u32, own: impl FnOnce(&mut OwnRows)) {
        // SAFETY: as above; `own` does not come back here.
        let rows = unsafe { &mut *self.0.get() };
        rows.resize_with(rows.len().max(region as usize + 1), OwnRows::none);
        own(&mut rows[region as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_comes_back_has_its_row() {
        let rows = RegionRows::default();
        let mut known = std::collections::HashMap::new();
        let mut draw = 1u32;
        for _ in 0..5_000 {
            draw = draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (region, thread) = (draw >> 29, (draw >> 24) % 7);
            let row = rows.row(region, thread);
            assert_eq!((row.region(), row.thread()), (region, thread));
            let before = *known.entry((region, thread)).or_insert(ptr::from_ref(row));
            assert!(ptr::eq(before, row), "one row of region {region}, thread {thread}");
        }
        assert_eq!(known.len(), 8 * 7);
        // SAFETY: this thread's own, and no other reference is alive.
        let own = unsafe { &*rows.0.get() };
        let others = own.iter().flat_map(|own| own.others.iter().map(|others| others.0.len()));
        assert_eq!(own.len() + others.sum::<usize>(), known.len());
    }
}
