//! The waits of one thread.

use std::cell::{Cell, UnsafeCell};

use pacman_regions::Cause;
use pacman_regions::arena::{WaitRow, state};

use super::chunks::ChunkRequests;
use super::company::Company;
use super::counts::{PartCounts, WaitCounts};
use super::numbers;
use super::processor::{ClockReading, Ended, ProcessorTime, own_work};
use super::table::{Key, Table};
use super::under_way::{UnderWay, WORKS};
use crate::counting::Counters;
use crate::isolation::isolated;

/// A thread's part in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartKey {
    /// A number that no other team has at the same time; 0 outside of regions.
    pub(crate) team: usize,
    /// [`state::OUTSIDE`] outside of regions.
    pub(crate) region: u32,
    pub(crate) thread: u32,
    /// The executions that the part's execution stands for.
    pub(crate) weight: u32,
    pub(crate) company: Company,
}

impl Default for PartKey {
    fn default() -> PartKey {
        let (region, thread) = (state::OUTSIDE, UNNUMBERED);
        PartKey { team: 0, region, thread, weight: 1, company: Company::ANY }
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
    open: UnderWay,
    mark: usize,
    /// `None` around a task of the same part, which goes on.
    counts: Option<PartCounts>,
    /// The processor clock when the part inside began; likewise.
    entered: Option<ClockReading>,
    /// The thread waited for the region that it started.
    was_idle: bool,
    /// The ticks of the library's own work so far: in the part around, and at the start of this one.
    around: u64,
    starting: u64,
    only_counted: u64,
}

/// The state of one thread. Only that thread uses it.
#[derive(Debug)]
pub(crate) struct WaitState {
    /// The innermost part.
    pub(super) part: Cell<PartKey>,
    pub(super) open: Cell<UnderWay>,
    /// The number of the thread outside of regions; [`UNNUMBERED`] before its first use.
    number: Cell<u32>,
    /// The waits of the latest part.
    timed: Cell<u64>,
    /// The ticks of the library's own work in the latest part.
    own: Cell<u64>,
    /// The ticks of all waits, for phases.
    pub(super) waited: Cell<u64>,
    /// Since when the thread has been outside of its part in the region that it starts; 0 if it is not.
    pub(super) idle_since: Cell<u64>,
    table: UnsafeCell<Table>,
    counts: WaitCounts,
    pub(super) processor: ProcessorTime,
    pub(crate) chunks: ChunkRequests,
    /// The requests for chunks in the present part that were not timed.
    pub(super) only_counted: Cell<u64>,
}

const UNNUMBERED: u32 = u32::MAX;

impl Default for WaitState {
    fn default() -> WaitState {
        WaitState {
            part: Cell::default(),
            open: Cell::new(WORKS),
            number: Cell::new(UNNUMBERED),
            timed: Cell::new(0),
            own: Cell::new(0),
            waited: Cell::new(0),
            idle_since: Cell::new(0),
            table: UnsafeCell::default(),
            counts: WaitCounts::default(),
            processor: ProcessorTime::default(),
            chunks: ChunkRequests::default(),
            only_counted: Cell::new(0),
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
            UNNUMBERED => self.take_number(None),
            number => number,
        }
    }

    /// The same number, which becomes `wished` if the thread has none yet and that one is free.
    pub(crate) fn number_or(&self, wished: Option<u32>) -> u32 {
        match self.number.get() {
            UNNUMBERED => self.take_number(wished),
            number => number,
        }
    }

    #[cold]
    fn take_number(&self, wished: Option<u32>) -> u32 {
        let number = isolated(|| Some(numbers::take(wished))).unwrap_or(UNNUMBERED);
        self.number.set(number);
        number
    }

    /// Whether the thread is in a wait, for a call with a stack frame at `frame`. Drops a wait whose
    /// frame is gone: the program left it by `longjmp`.
    #[inline]
    pub(crate) fn is_waiting(&self, frame: usize) -> bool {
        match self.open.get().frame {
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
        self.open.set(WORKS);
        self.add_state(state::DROPPED, 0);
    }

    /// Begins a wait. Answers the time, of which `now` reads the clock.
    #[inline(always)]
    pub(crate) fn open(&self, frame: usize, cause: Cause, now: impl Fn() -> u64) -> u64 {
        // A call of the program that is inside of this one must find it.
        self.open.set(UnderWay { frame, ..WORKS });
        let since = self.begin_waiting(cause, now(), &now);
        self.open.set(UnderWay { frame, cause, since, ..WORKS });
        since
    }

    /// The thread begins to wait, at `at` or, if anything is read, after the readings. A processor that is lost
    /// at a reading is lost to the work before.
    #[inline(always)]
    fn begin_waiting(&self, cause: Cause, at: u64, now: impl Fn() -> u64) -> u64 {
        let has_read = self.processor.ends_useful(&now, at);
        let is_counted = self.part.get().company.can_wait(cause) && self.counts.begin();
        if is_counted || has_read { now() } else { at }
    }

    /// The thread no longer waits, at `at`. Answers its call, with what it did there.
    #[inline(always)]
    fn end_waiting(&self, at: u64, now: impl Fn() -> u64) -> UnderWay {
        let mut open = self.open.get();
        let company = self.part.get().company;
        if company.can_wait(open.cause) {
            self.counts.end();
        }
        self.processor.ends_wait(now, at, |doings| {
            let waited = company.waited(open.cause, doings);
            open.has_waited |= waited;
            open.apart += if waited { 0 } else { at.saturating_sub(open.since) };
            if waited { Ended::Waiting } else { Ended::Useful }
        });
        open
    }

    /// Ends a call at `ended`. Answers the ticks in which it did not wait: those of tasks, and those without a
    /// processor, which may be all. `None` if it did not wait and no thread could make it.
    #[inline(always)]
    pub(crate) fn close(&self, ended: u64, now: impl Fn() -> u64) -> Option<u64> {
        let open = self.end_waiting(ended, now);
        self.open.set(WORKS);
        let is_wait = open.has_waited || self.part.get().company.can_wait(open.cause);
        is_wait.then_some(open.apart)
    }

    /// Ends a wait that the program leaves by an exception.
    #[cold]
    pub(crate) fn abandon(&self) {
        if self.open.get().frame != 0 {
            self.drop_open();
        }
    }

    /// Begins work of another part at `begun`: a body, or a task after the part that created it. The waits
    /// are counted if the part is.
    #[inline]
    pub(crate) fn enter(
        &self,
        part: PartKey,
        counters: Option<&Counters>,
        begun: u64,
        now: impl Fn() -> u64,
    ) -> Saved {
        self.add_rest(begun);
        let saved = self.enter_task(begun, &now);
        let (was_idle, around) = (self.end_idle(begun), self.processor.take_cost());
        let ended = if was_idle { Ended::Waiting } else { Ended::Useful };
        self.processor.read(ended, &now, begun);
        self.settle();
        self.processor.begin(true);
        let saved = Saved {
            was_idle,
            around,
            entered: Some(self.processor.latest()),
            part: self.part.replace(part),
            mark: self.table(|table| table.mark()),
            counts: Some(self.counts.replace(PartCounts::of(counters))),
            only_counted: self.only_counted.take(),
            ..saved
        };
        // The reading above is in the time that ends here.
        self.processor.take_cost();
        let started = now();
        self.chunks.begin(started, self.not_worked());
        Saved { starting: own_work(begun, started), ..saved }
    }

    /// Begins a task of the present part at `begun`.
    #[inline]
    pub(crate) fn enter_task(&self, begun: u64, now: impl Fn() -> u64) -> Saved {
        let open = match self.open.get().frame {
            0 => WORKS,
            _ => self.end_waiting(begun, now),
        };
        self.open.set(WORKS);
        let (part, counts, entered, was_idle) = (self.part.get(), None, None, false);
        Saved {
            part,
            open,
            mark: 0,
            counts,
            entered,
            was_idle,
            around: 0,
            starting: 0,
            only_counted: 0,
        }
    }

    /// Ends the work that [`enter`](Self::enter) began, at `ended`. Its waits get into the rows.
    #[inline]
    pub(crate) fn leave(&self, saved: Saved, ended: u64, now: impl Fn() -> u64) {
        if self.open.get().frame != 0 {
            self.drop_open();
        }
        if self.counts.is_complete() {
            self.add_state(state::COUNTED, 0);
        }
        self.add_rest(ended);
        let readings = self.processor.take_cost();
        self.processor.read_to_the_end(&now, ended);
        let has_lost_clock = self.settle();
        let weight = u64::from(self.part.get().weight);
        let only_counted = self.only_counted.replace(saved.only_counted);
        let known = self.table(|table| table.flush(saved.mark, weight));
        self.timed.set(known.saturating_sub(only_counted));
        match saved.entered {
            Some(entered) if !saved.part.is_none() => {
                self.processor.go_on(entered, has_lost_clock);
            }
            _ => self.processor.begin(false),
        }
        if saved.was_idle {
            self.idle_since.set(ended);
        }
        self.restore(saved, 0, ended, &now);
        let left = now();
        let own = saved.starting + readings + own_work(ended, left);
        self.own.set(own);
        self.processor.set_cost(if saved.part.is_none() { 0 } else { saved.around + own });
        self.chunks.begin(left, self.not_worked());
    }

    /// The ticks of all waits and of the library's own work in the part.
    pub(super) fn not_worked(&self) -> u64 {
        self.waited.get() + self.processor.cost()
    }

    /// Ends the time outside of the part. Answers whether there was any.
    fn end_idle(&self, at: u64) -> bool {
        let since = self.idle_since.take();
        if since != 0 {
            self.waited.set(self.waited.get() + at.saturating_sub(since));
        }
        since != 0
    }

    /// Runs a region that the thread starts inside no other. Outside of its part it waits.
    pub(crate) fn start_region<R>(&self, now: impl Fn() -> u64, run: impl FnOnce() -> R) -> R {
        if !self.processor.has_phases() {
            return run();
        }
        let begun = now();
        self.processor.ends_useful(&now, begun);
        self.idle_since.set(begun);
        let answer = run();
        let ended = now();
        self.end_idle(ended);
        self.processor.ends_wait(now, ended, |_| Ended::Waiting);
        answer
    }

    /// Ends a task of the open wait at `ended`, after `ticks`.
    #[inline]
    pub(crate) fn restore(&self, saved: Saved, ticks: u64, ended: u64, now: impl Fn() -> u64) {
        self.part.set(saved.part);
        if let Some(counts) = saved.counts {
            self.counts.replace(counts);
        }
        if saved.open.frame == 0 {
            return self.open.set(WORKS);
        }
        let since = self.begin_waiting(saved.open.cause, ended, now);
        // The time of the readings is work as the task was.
        let apart = saved.open.apart + ticks + since.saturating_sub(ended);
        self.open.set(UnderWay { since, apart, ..saved.open });
    }

    /// The number of waits of the part that ended last.
    pub(crate) fn timed(&self) -> u64 {
        self.timed.get()
    }

    /// The ticks of the library's own work in the part that ended last: its start and its end, and readings
    /// of the processor clock.
    pub(crate) fn own_work(&self) -> u64 {
        self.own.get()
    }

    /// Moves the counts and the processor time of the present part into the table. Answers whether the
    /// processor clock could not be read.
    #[inline]
    fn settle(&self) -> bool {
        self.counts.take(|place, count| self.add_state(state::COUNTS + place, count));
        let is_part = !self.part.get().is_none();
        self.processor.take(|number, count, ticks| {
            if is_part {
                self.add_sum((number.into(), Cause::Worksharing), count, ticks);
            }
        })
    }

    /// Adds a wait of the present part.
    #[inline]
    pub(crate) fn add(&self, caller: u64, cause: Cause, ticks: u64) {
        self.waited.set(self.waited.get() + ticks);
        self.add_sum((caller, cause), 1, ticks);
    }

    /// The number of the construct whose call returns to `caller`, in the present part.
    pub(crate) fn site(&self, caller: u64) -> Option<u32> {
        let key = self.key(caller);
        self.table(|table| table.site(&key))
    }

    #[inline]
    fn key(&self, caller: u64) -> Key {
        let PartKey { region, thread, .. } = self.part.get();
        let thread = if region == state::OUTSIDE { self.number.get() } else { thread };
        Key { caller, region, thread }
    }

    #[inline]
    pub(super) fn add_sum(&self, (caller, cause): (u64, Cause), count: u64, ticks: u64) {
        let key = self.key(caller);
        if !self.table(|table| table.add(&key, count, ticks)) {
            self.enter_and_add(&key, cause, (count, ticks));
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_and_add(&self, key: &Key, cause: Cause, (count, ticks): (u64, u64)) {
        isolated(|| self.table(|table| table.enter(key, cause)));
        self.table(|table| table.add(key, count, ticks));
    }

    /// Adds to a row that belongs to no construct, by its number in [`state`].
    #[inline]
    pub(crate) fn add_state(&self, number: u32, ticks: u64) {
        self.add_sum((number.into(), Cause::Worksharing), 1, ticks);
    }

    /// Moves the waits of a thread outside of regions into the rows: no end of a part does. The last of
    /// them ended at `until`, in ticks since the start of the process.
    #[inline]
    pub(crate) fn flush(&self, until: u64) {
        self.table(|table| table.flush_outside(until));
    }

    /// The thread ends, and gives its number back.
    pub(crate) fn retire(&self) {
        if self.number.get() != UNNUMBERED {
            isolated(|| numbers::give_back(self.number.get()));
        }
    }

    /// The rows of the thread, which ends.
    pub(crate) fn rows(&self) -> Vec<&'static WaitRow> {
        // A part that the thread left by its end leaves nothing to the next thread.
        self.table(|table| table.rows().inspect(|row| row.forget_open()).collect())
    }

    /// In the child of a fork: all rows are the parent's.
    pub(crate) fn forked(&self) {
        self.table(Table::forget);
        self.counts.replace(PartCounts::NONE);
        self.processor.forget();
    }

    #[inline(always)]
    fn table<R>(&self, act: impl FnOnce(&mut Table) -> R) -> R {
        // SAFETY: only this thread uses it, and `act` does not come back here.
        act(unsafe { &mut *self.table.get() })
    }
}
