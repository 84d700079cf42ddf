//! Where a thread finds what it keeps for a region, by the region's number.

use std::ptr;

use pacman_regions::arena::{CurrentBin, PrimaryStats, Row, Thread, Widths};

use super::Worker;
use crate::adapt::CachedDecision;
use crate::isolation::isolated;
use crate::rows;

/// What a thread has of a region. Rows stay for as long as the process; null before they are wanted.
///
/// Nine words: one `lea` multiplies a place in the list by nine, and an address scales by eight.
#[repr(C)]
pub(super) struct OwnRows {
    /// Of the number that the thread had in the region last.
    row: *const Row,
    /// That number, so that only a row that is wanted is touched; [`NOBODY`] before there is one.
    thread: u32,
    /// Where executions that it starts are entered, and where in it the latest one was.
    primary_stats: *const PrimaryStats,
    latest: CurrentBin,
    cached: Option<Box<CachedDecision>>,
    /// Of other numbers, the latest first.
    others: Option<Box<Others>>,
    ninth: usize,
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
            ninth: 0,
        }
    }

    /// In the child of a fork: rows are the parent's. The region that the thread is inside of will
    /// look at what it keeps for it.
    pub(super) fn forked(&mut self) {
        let cached = self.cached.take();
        cached.iter().for_each(|cached| cached.forget());
        *self = OwnRows { cached, ..OwnRows::none() };
    }
}

/// The thread ends: others may go on with what it had.
pub(super) fn give_back(thread: &'static Thread, all: &[OwnRows]) {
    let rows = all.iter().flat_map(|own| {
        // SAFETY: rows stay.
        let latest = unsafe { own.row.as_ref() };
        latest.into_iter().chain(own.others.iter().flat_map(|others| others.0.iter().copied()))
    });
    // SAFETY: as above.
    let primary_stats = all.iter().filter_map(|own| unsafe { own.primary_stats.as_ref() });
    rows::give_back(thread, rows, primary_stats);
}

impl Worker {
    /// Enters an execution that this thread has started: `ticks`, from so many ticks `since` the
    /// process began, with a team of `threads`.
    #[inline(always)]
    pub(crate) fn enter(&self, region: u32, since: u64, ticks: u64, threads: u32, nested: bool) {
        let known = self.rows_of(region).filter(|own| !own.primary_stats.is_null());
        let own = known.unwrap_or_else(|| self.with_primary_stats(region));
        // SAFETY: rows stay, and the two are together from the beginning on.
        unsafe { (*own.primary_stats).add(&own.latest, since, ticks, threads, nested) };
    }

    #[cold]
    fn with_primary_stats(&self, region: u32) -> &OwnRows {
        isolated(|| {
            let primary_stats = rows::primary_stats(region);
            self.keep(region, |own| {
                (own.primary_stats, own.latest) = (primary_stats, CurrentBin::none())
            });
        });
        self.rows_of(region).expect("it was put there")
    }

    /// How wide the teams were that it has started, where they usually have so many threads.
    pub(crate) fn widths(&self, usual: u32) -> Widths {
        let mut widths = Widths::default();
        // SAFETY: this thread alone, and nothing here changes them.
        for own in unsafe { &*self.rows.get() } {
            // SAFETY: rows stay.
            if let Some(primary_stats) = unsafe { own.primary_stats.as_ref() } {
                primary_stats.add_widths(usual, &mut widths);
            }
        }
        widths
    }

    /// What it keeps for a region that runs as before, if it does.
    #[inline(always)]
    pub(crate) fn cached(&self, region: u32) -> Option<&CachedDecision> {
        let cached = self.rows_of(region)?.cached.as_deref()?;
        // SAFETY: the list may move, and what it has boxed stays for as long as the worker.
        Some(unsafe { &*ptr::from_ref(cached) })
    }

    /// The same, made when it is first wanted.
    pub(crate) fn own_decision(&self, region: u32) -> &CachedDecision {
        self.cached(region).unwrap_or_else(|| {
            self.keep(region, |own| own.cached = Some(Box::default()));
            self.cached(region).expect("it was put there")
        })
    }

    #[inline]
    pub(super) fn row(&self, region: u32, thread: u32) -> &Row {
        match self.rows_of(region) {
            // SAFETY: rows stay, and a number is there with its row.
            Some(own) if own.thread == thread => unsafe { &*own.row },
            _ => self.other_row(region, thread),
        }
    }

    /// The row for a number that the thread did not have in this region last time. A program may
    /// have thousands of regions, so that only those of this one are searched.
    #[cold]
    fn other_row(&self, region: u32, thread: u32) -> &Row {
        isolated(|| {
            let known = self.taken_out(region, thread);
            let row = known.unwrap_or_else(|| rows::row(region, thread));
            self.keep(region, |own| {
                own.thread = thread;
                // SAFETY: rows stay.
                if let Some(latest) = unsafe { std::mem::replace(&mut own.row, row).as_ref() } {
                    own.others.get_or_insert_with(|| Box::new(Others(Vec::new()))).0.push(latest);
                }
            });
            row
        })
    }

    /// The row of that number among the others, no more among them.
    fn taken_out(&self, region: u32, thread: u32) -> Option<&'static Row> {
        let others = &self.rows_of(region)?.others.as_ref()?.0;
        let at = others.iter().rposition(|row| row.thread() == thread)?;
        let mut row = None;
        self.keep(region, |own| {
            row = own.others.as_mut().map(|others| others.0.remove(at));
        });
        row
    }

    #[inline(always)]
    fn rows_of(&self, region: u32) -> Option<&OwnRows> {
        // SAFETY: this thread alone, and callers let go of it before they call `keep`.
        unsafe { &*self.rows.get() }.get(region as usize)
    }

    fn keep(&self, region: u32, own: impl FnOnce(&mut OwnRows)) {
        // SAFETY: as above; `own` sets what is its own.
        let rows = unsafe { &mut *self.rows.get() };
        rows.resize_with(rows.len().max(region as usize + 1), OwnRows::none);
        own(&mut rows[region as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_comes_back_has_its_row() {
        let worker = Worker::here();
        let mut known = std::collections::HashMap::new();
        let mut draw = 1u32;
        for _ in 0..5_000 {
            draw = draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (region, thread) = (draw >> 29, (draw >> 24) % 7);
            let row = worker.row(region, thread);
            assert_eq!((row.region(), row.thread()), (region, thread));
            let before = *known.entry((region, thread)).or_insert(ptr::from_ref(row));
            assert!(ptr::eq(before, row), "one row of region {region}, thread {thread}");
        }
        assert_eq!(known.len(), 8 * 7);
        // SAFETY: this thread's, and nobody else looks.
        let own = unsafe { &*worker.rows.get() };
        let others = own.iter().flat_map(|own| own.others.iter().map(|others| others.0.len()));
        assert_eq!(own.len() + others.sum::<usize>(), known.len());
    }
}
