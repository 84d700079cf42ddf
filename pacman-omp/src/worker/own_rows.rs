//! Where a thread finds what it keeps for a region, by the region's number.

use std::ptr;
use std::sync::Arc;

use super::Worker;
use crate::adapt::Steady;
use crate::counting::Plan;
use crate::rows::{Hosted, Row, Table, Widths};

/// What a thread has of a region. The rows are its table's, which keeps them for as long as the
/// thread lives; null before they are wanted.
pub(super) struct OwnRows {
    /// Of the number that the thread had in the region last.
    pub(super) row: *const Row,
    pub(super) hosted: *const Hosted,
    pub(super) steady: Option<Box<Steady>>,
}

impl OwnRows {
    const NONE: OwnRows = OwnRows { row: ptr::null(), hosted: ptr::null(), steady: None };
}

impl Worker {
    /// Where executions that this thread starts are entered.
    #[inline]
    pub(crate) fn hosted(&self, region: u32) -> &Hosted {
        let own = self.rows_of(region);
        // SAFETY: a row of the thread's table.
        let hosted = own.and_then(|own| unsafe { own.hosted.as_ref() });
        hosted.unwrap_or_else(|| self.new_hosted(region))
    }

    #[cold]
    fn new_hosted(&self, region: u32) -> &Hosted {
        let new = Arc::new(Hosted::new(region));
        let hosted = Arc::as_ptr(&new);
        self.table().hosted.lock().push(new);
        self.keep(region, |own| own.hosted = hosted);
        // SAFETY: the table has it.
        unsafe { &*hosted }
    }

    /// How wide the teams were that it has started, where they usually have so many threads.
    pub(crate) fn widths(&self, usual: u32) -> Widths {
        let mut widths = Widths::default();
        // SAFETY: this thread alone, and nothing here changes them.
        for own in unsafe { &*self.rows.get() } {
            // SAFETY: a row of the thread's table.
            if let Some(hosted) = unsafe { own.hosted.as_ref() } {
                hosted.add_widths(usual, &mut widths);
            }
        }
        widths
    }

    /// What it keeps for a region that runs as before, if it does.
    #[inline(always)]
    pub(crate) fn steady(&self, region: u32) -> Option<&Steady> {
        let steady = self.rows_of(region)?.steady.as_deref()?;
        // SAFETY: the list may move, and what it has boxed stays for as long as the worker.
        Some(unsafe { &*ptr::from_ref(steady) })
    }

    /// The same, made when it is first wanted.
    pub(crate) fn own_steady(&self, region: u32) -> &Steady {
        self.steady(region).unwrap_or_else(|| {
            self.keep(region, |own| own.steady = Some(Box::default()));
            self.steady(region).expect("it was put there")
        })
    }

    #[inline]
    pub(super) fn row(&self, region: u32, thread: u32) -> &Row {
        // SAFETY: a row of the thread's table.
        let row = self.rows_of(region).and_then(|own| unsafe { own.row.as_ref() });
        row.filter(|row| row.thread == thread).unwrap_or_else(|| self.other_row(region, thread))
    }

    /// The row for a number that the thread did not have in this region last time. A program may
    /// have thousands of regions, so the table is not searched: rows of one region are a list by
    /// when the thread had their numbers, the latest first.
    #[cold]
    fn other_row(&self, region: u32, thread: u32) -> &Row {
        let latest = self.rows_of(region).map_or(ptr::null(), |own| own.row);
        let row = self.taken_out(latest, thread).unwrap_or_else(|| {
            let new = Arc::new(Row::new(region, thread, Plan::current().counted.len()));
            let row = Arc::as_ptr(&new);
            self.table().rows.lock().push(new);
            // SAFETY: the table has it.
            unsafe { &*row }
        });
        row.set_before(latest);
        self.keep(region, |own| own.row = row);
        row
    }

    /// The row of that number in the list behind `latest`, no more in it.
    fn taken_out(&self, latest: *const Row, thread: u32) -> Option<&Row> {
        // SAFETY: here and below: rows of the thread's table, or null.
        let mut after = unsafe { latest.as_ref() }?;
        loop {
            // SAFETY: as above.
            let row = unsafe { after.before().as_ref() }?;
            if row.thread == thread {
                after.set_before(row.before());
                return Some(row);
            }
            after = row;
        }
    }

    #[inline(always)]
    fn rows_of(&self, region: u32) -> Option<&OwnRows> {
        // SAFETY: this thread alone, and callers let go of it before they call `keep`.
        unsafe { &*self.rows.get() }.get(region as usize)
    }

    fn keep(&self, region: u32, own: impl FnOnce(&mut OwnRows)) {
        // SAFETY: as above; `own` sets a pointer.
        let rows = unsafe { &mut *self.rows.get() };
        rows.resize_with(rows.len().max(region as usize + 1), || OwnRows::NONE);
        own(&mut rows[region as usize]);
    }

    pub(super) fn table(&self) -> &Table {
        // SAFETY: another one comes in the child of a fork only, which no reference lives to see.
        unsafe { &*self.table.get() }
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
            assert_eq!((row.region, row.thread), (region, thread));
            let before = *known.entry((region, thread)).or_insert(ptr::from_ref(row));
            assert!(ptr::eq(before, row), "one row of region {region}, thread {thread}");
        }
        assert_eq!(known.len(), 8 * 7);
        assert_eq!(worker.table().rows.lock().len(), known.len());
    }
}
