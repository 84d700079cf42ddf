//! The waits of one thread.

use std::cell::{Cell, UnsafeCell};

use pacman_regions::Cause;
use pacman_regions::arena::{WaitRow, state};

use super::numbers;
use super::table::{Key, Table};
use crate::isolation::isolated;

/// A thread's part in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartKey {
    /// A number that no other team has at the same time; 0 outside of regions.
    pub(crate) team: usize,
    /// [`state::OUTSIDE`] outside of regions.
    pub(crate) region: u32,
    pub(crate) thread: u32,
}

impl Default for PartKey {
    fn default() -> PartKey {
        PartKey { team: 0, region: state::OUTSIDE, thread: UNNUMBERED }
    }
}

impl PartKey {
    #[inline(always)]
    pub(crate) fn is_none(self) -> bool {
        self.team == 0
    }
}

/// The states around a part or a task, restored after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saved {
    part: PartKey,
    open: usize,
    tasks: u64,
    mark: usize,
}

/// The state of one thread. Only that thread uses it.
#[derive(Debug)]
pub(crate) struct WaitState {
    /// The innermost part.
    part: Cell<PartKey>,
    /// The stack address of the open wait; 0 if the thread works.
    open: Cell<usize>,
    /// The ticks of tasks in the open wait.
    tasks: Cell<u64>,
    /// The number of the thread outside of regions; [`UNNUMBERED`] before its first use.
    number: Cell<u32>,
    table: UnsafeCell<Table>,
}

const UNNUMBERED: u32 = u32::MAX;

impl Default for WaitState {
    fn default() -> WaitState {
        WaitState {
            part: Cell::default(),
            open: Cell::new(0),
            tasks: Cell::new(0),
            number: Cell::new(UNNUMBERED),
            table: UnsafeCell::default(),
        }
    }
}

/// The wait of a runtime's callbacks, which has no frame on the stack: every frame is inside of it.
pub(crate) const REPORTED: usize = usize::MAX;

impl WaitState {
    #[inline(always)]
    pub(crate) fn part(&self) -> PartKey {
        self.part.get()
    }

    /// The number of the thread outside of regions.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        match self.number.get() {
            UNNUMBERED => self.take_number(),
            number => number,
        }
    }

    #[cold]
    fn take_number(&self) -> u32 {
        let number = isolated(numbers::take);
        self.number.set(number);
        number
    }

    /// Whether the thread is in a wait, for a call with a stack frame at `frame`. Drops a wait whose
    /// frame is gone: the program left it by `longjmp`.
    #[inline]
    pub(crate) fn is_waiting(&self, frame: usize) -> bool {
        match self.open.get() {
            0 => false,
            // Stacks grow down.
            open if frame < open => true,
            _ => {
                self.drop_open();
                false
            }
        }
    }

    #[cold]
    fn drop_open(&self) {
        self.open.set(0);
        self.tasks.set(0);
        self.add_state(state::DROPPED, 0);
    }

    /// Begins a wait.
    #[inline(always)]
    pub(crate) fn open(&self, frame: usize) {
        self.open.set(frame);
        self.tasks.set(0);
    }

    /// Ends the wait. Answers the ticks of tasks in it.
    #[inline(always)]
    pub(crate) fn close(&self) -> u64 {
        self.open.set(0);
        self.tasks.replace(0)
    }

    /// Ends a wait that the program leaves by an exception.
    #[cold]
    pub(crate) fn abandon(&self) {
        if self.open.get() != 0 {
            self.drop_open();
        }
    }

    /// Begins work of `part`: a body or a task.
    #[inline]
    pub(crate) fn enter(&self, part: PartKey) -> Saved {
        Saved {
            part: self.part.replace(part),
            open: self.open.replace(0),
            tasks: self.tasks.replace(0),
            mark: self.table(|table| table.mark()),
        }
    }

    /// Ends that work, whose waits get into the rows.
    #[inline]
    pub(crate) fn leave(&self, saved: Saved) {
        if self.open.get() != 0 {
            self.drop_open();
        }
        self.table(|table| table.flush(saved.mark));
        self.restore(saved, 0);
    }

    /// Ends a task of the open wait, after `ticks`.
    #[inline]
    pub(crate) fn restore(&self, saved: Saved, ticks: u64) {
        self.part.set(saved.part);
        self.open.set(saved.open);
        self.tasks.set(saved.tasks + ticks);
    }

    /// Adds a wait of the present part.
    #[inline]
    pub(crate) fn add(&self, caller: u64, cause: Cause, ticks: u64) {
        let PartKey { region, thread, .. } = self.part.get();
        let thread = if region == state::OUTSIDE { self.number.get() } else { thread };
        let key = Key { caller, region, thread };
        if !self.table(|table| table.add(&key, ticks)) {
            self.enter_and_add(&key, cause, ticks);
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_and_add(&self, key: &Key, cause: Cause, ticks: u64) {
        isolated(|| self.table(|table| table.enter(key, cause)));
        self.table(|table| table.add(key, ticks));
    }

    /// Adds to a row that belongs to no construct, by its number in [`state`].
    #[inline]
    pub(crate) fn add_state(&self, number: u32, ticks: u64) {
        self.add(u64::from(number), Cause::Worksharing, ticks);
    }

    /// Moves the waits of a thread outside of regions into the rows: no end of a part does.
    #[inline]
    pub(crate) fn flush(&self) {
        self.table(|table| table.flush(0));
    }

    /// The thread ends, and gives its number back.
    pub(crate) fn retire(&self) {
        if self.number.get() != UNNUMBERED {
            numbers::give_back(self.number.get());
        }
    }

    /// The rows of the thread, which ends.
    pub(crate) fn rows(&self) -> Vec<&'static WaitRow> {
        self.table(|table| table.rows().collect())
    }

    /// In the child of a fork: all rows are the parent's.
    pub(crate) fn forked(&self) {
        self.table(Table::forget);
    }

    #[inline(always)]
    fn table<R>(&self, act: impl FnOnce(&mut Table) -> R) -> R {
        // SAFETY: only this thread uses it, and `act` does not come back here.
        act(unsafe { &mut *self.table.get() })
    }
}
