//! The calling thread, as a member of teams.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence};

use crate::adapt::{Bound, Pool};
use crate::counting::{Counters, Plan};
use crate::process;
use crate::region::{Region, Seen};
use crate::rows::{Hosted, Row, Table};

/// What the library keeps for a thread. Its thread alone has it.
pub(crate) struct Worker {
    /// How many bodies of regions the thread is inside of.
    depth: Cell<u32>,
    /// What the innermost body was seen to do; see [`Seen`](crate::region::Seen).
    seen: Cell<u32>,
    /// How much more often it asked for its number than how many threads there are.
    unpaired: Cell<i32>,
    /// The runtime is starting a team that this library knows of.
    starting: Cell<bool>,
    /// The program itself has said how many threads its next region gets.
    pushed: Cell<bool>,
    counters: UnsafeCell<Option<Counters>>,
    pub(crate) pool: Pool,
    pub(crate) bound: Bound,
    /// By region: the row of the number that the thread had in it last.
    rows: UnsafeCell<Vec<Option<Arc<Row>>>>,
    hosted: UnsafeCell<Vec<Option<Arc<Hosted>>>>,
    table: Arc<Table>,
    /// Regions of GCC's older interface, which are begun and ended by different calls.
    pub(crate) started: RefCell<Vec<crate::team::Started>>,
}

/// An execution of a body that has begun on this thread.
pub(crate) struct Begun {
    ticks: u64,
    /// What the body around this one was seen to do so far.
    around: (u32, i32),
}

thread_local! {
    /// No destructor here: the main thread's would come before the program's last regions.
    static HERE: Cell<*const Worker> = const { Cell::new(std::ptr::null()) };
}

static ENDING: OnceLock<libc::pthread_key_t> = OnceLock::new();

impl Worker {
    /// The calling thread's, made when it is first wanted.
    #[inline]
    pub(crate) fn here() -> &'static Worker {
        let here = HERE.get();
        // SAFETY: set by `make`, and taken back by `ended` when the thread runs no more of the
        // program's code. Nobody keeps the reference beyond a call.
        if here.is_null() { Worker::make() } else { unsafe { &*here } }
    }

    /// The calling thread's, if it has been in a team.
    #[inline]
    pub(crate) fn known() -> Option<&'static Worker> {
        // SAFETY: as in `here`.
        unsafe { HERE.get().as_ref() }
    }

    #[cold]
    fn make() -> &'static Worker {
        let worker: &'static Worker = Box::leak(Box::new(Worker {
            depth: Cell::new(0),
            seen: Cell::new(0),
            unpaired: Cell::new(0),
            starting: Cell::new(false),
            pushed: Cell::new(false),
            counters: UnsafeCell::new(None),
            pool: Pool::default(),
            bound: Bound::default(),
            rows: UnsafeCell::default(),
            hosted: UnsafeCell::default(),
            table: Table::enlisted(),
            started: RefCell::default(),
        }));
        HERE.set(worker);
        let key = *ENDING.get_or_init(|| {
            let mut key = 0;
            // SAFETY: the key is written before it is used, and never deleted. A system without
            // a free key leaves 0, which `pthread_setspecific` refuses or keeps for nobody: the
            // rows of such threads stay where `rows::sums` finds them.
            unsafe { libc::pthread_key_create(&raw mut key, Some(ended)) };
            key
        });
        // SAFETY: the pointer comes back to `ended`, at this thread's end.
        unsafe { libc::pthread_setspecific(key, std::ptr::from_ref(worker).cast()) };
        worker
    }

    /// How many bodies of regions the thread is inside of.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.depth.get()
    }

    /// What the innermost body was seen to do so far.
    #[inline]
    pub(crate) fn seen(&self) -> u32 {
        self.seen.get()
    }

    /// The innermost body does what `bits` say.
    #[inline]
    pub(crate) fn saw(&self, bits: u32) {
        self.seen.set(self.seen.get() | bits);
    }

    /// The innermost body asks for its thread's number (1), or for how many there are (-1).
    #[inline]
    pub(crate) fn asked_for_number(&self, which: i32) {
        // GCC's loops ask how many there are first. Who asks the other way round is the program.
        let early = which > 0 && self.unpaired.get() >= 0;
        self.saw(Seen::BOTH_NUMBERS | if early { Seen::THREAD_NUMBER } else { 0 });
        self.unpaired.set(self.unpaired.get().wrapping_add(which));
    }

    /// The program has said how many threads its next region gets.
    pub(crate) fn push(&self) {
        self.pushed.set(true);
    }

    /// Runs `start`, which has the runtime start a team that this library knows of.
    #[inline]
    pub(crate) fn starts(&self, start: impl FnOnce()) {
        let around = self.starting.replace(true);
        start();
        self.starting.set(around);
    }

    /// Runs `whole`: a region that this thread starts, until it is entered in its rows.
    #[inline]
    pub(crate) fn hosts(&self, whole: impl FnOnce()) {
        self.begins_to_host();
        whole();
        self.ends_to_host();
    }

    /// The thread starts a region.
    #[inline]
    pub(crate) fn begins_to_host(&self) {
        let hosting = &self.table.hosting;
        hosting.store(hosting.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        // ATOMICS: a signal handler that ends the process may come at any instruction, here or on a
        // member of the team, which the runtime's own barriers order.
        compiler_fence(Ordering::SeqCst);
    }

    /// It is in the rows.
    #[inline]
    pub(crate) fn ends_to_host(&self) {
        compiler_fence(Ordering::SeqCst);
        let hosting = &self.table.hosting;
        hosting.store(hosting.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    /// Whether such a team is being started, and none of its bodies runs here yet.
    pub(crate) fn is_starting(&self) -> bool {
        self.starting.get()
    }

    /// Whether it has, since the last region.
    #[inline]
    pub(crate) fn take_pushed(&self) -> bool {
        self.pushed.replace(false)
    }

    /// The thread begins its part of a region, as number `thread`.
    #[inline]
    pub(crate) fn begin(&self) -> Begun {
        let depth = self.depth.get();
        self.depth.set(depth + 1);
        self.starting.set(false);
        let around = (self.seen.replace(0), self.unpaired.replace(0));
        let ticks = self.with_counters(|counters| counters.begin(depth as usize));
        Begun { ticks, around }
    }

    /// The thread ends its part of a region; answers how long that took.
    #[inline]
    pub(crate) fn end(&self, begun: &Begun, region: Option<&Region>, thread: u32) -> u64 {
        let depth = self.depth.get() - 1;
        self.depth.set(depth);
        let mut seen = self.seen.replace(begun.around.0);
        if self.unpaired.replace(begun.around.1) != 0 {
            seen |= Seen::THREAD_NUMBER;
        }
        let Some(region) = region else { return 0 };
        let row = self.row(region.number, thread);
        let ticks = self.with_counters(|counters| {
            let (end, counted) = counters.end(depth as usize);
            // In a child that was forked inside a region the clock's past is not this process's.
            let ticks = end.saturating_sub(begun.ticks);
            row.add(ticks, counted.as_ref());
            ticks
        });
        if seen != 0 {
            region.seen.add(seen);
        }
        ticks
    }

    /// Where executions that this thread starts are entered.
    #[inline]
    pub(crate) fn hosted(&self, region: u32) -> &Hosted {
        // SAFETY: this thread alone, and no reference to the list lives across a call that could
        // come back here.
        let hosted = unsafe { &mut *self.hosted.get() };
        if !matches!(hosted.get(region as usize), Some(Some(_))) {
            hosted.resize(hosted.len().max(region as usize + 1), None);
            let new = Arc::new(Hosted::new(region));
            self.table.hosted.lock().push(Arc::clone(&new));
            hosted[region as usize] = Some(new);
        }
        // The list may grow: what it points to stays.
        let found: *const Hosted =
            hosted[region as usize].as_deref().map_or(std::ptr::null(), |it| it);
        // SAFETY: just found or made; the table keeps it for as long as the worker lives.
        unsafe { &*found }
    }

    #[inline]
    fn row(&self, region: u32, thread: u32) -> &Row {
        // SAFETY: as in `hosted`.
        let rows = unsafe { &mut *self.rows.get() };
        if let Some(Some(row)) = rows.get(region as usize) {
            if row.thread == thread {
                let row: *const Row = &raw const **row;
                // SAFETY: the table keeps it for as long as the worker lives.
                return unsafe { &*row };
            }
        }
        self.other_row(region, thread)
    }

    /// The row for a number that the thread did not have in this region last time.
    #[cold]
    fn other_row(&self, region: u32, thread: u32) -> &Row {
        let mut all = self.table.rows.lock();
        let known = all.iter().find(|row| (row.region, row.thread) == (region, thread)).cloned();
        let row = known.unwrap_or_else(|| {
            let new = Arc::new(Row::new(region, thread, Plan::current().counted.len()));
            all.push(Arc::clone(&new));
            new
        });
        // SAFETY: as in `hosted`.
        let rows = unsafe { &mut *self.rows.get() };
        rows.resize(rows.len().max(region as usize + 1), None);
        let found: *const Row = &raw const *row;
        rows[region as usize] = Some(row);
        // SAFETY: the table keeps it for as long as the worker lives.
        unsafe { &*found }
    }

    #[inline]
    fn with_counters<R>(&self, act: impl FnOnce(&mut Counters) -> R) -> R {
        // SAFETY: this thread alone, and `act` runs the counters' code, which does not come back.
        let counters = unsafe { &mut *self.counters.get() };
        act(counters.get_or_insert_with(Counters::open))
    }

    /// What begin and end take on this thread in ticks, a median; and how counts are read.
    pub(crate) fn measured(&self) -> (u64, &'static str) {
        const ROUNDS: usize = 101;
        let row = Row::new(u32::MAX, 0, Plan::current().counted.len());
        self.with_counters(|counters| {
            let clock = process::clock();
            let mut ticks: Vec<u64> = (0..ROUNDS)
                .map(|_| {
                    let begun = clock.now();
                    let from = counters.begin(0);
                    let (to, counted) = counters.end(0);
                    row.add(to.saturating_sub(from), counted.as_ref());
                    clock.now() - begun
                })
                .collect();
            ticks.sort_unstable();
            (ticks[ROUNDS / 2], counters.path())
        })
    }

    /// In the child of a fork: what this thread had is the parent's.
    pub(crate) fn forked() {
        let Some(old) = Worker::known() else { return };
        HERE.set(std::ptr::null());
        let new = Worker::make();
        // Bodies that were open when the process was forked end in the child as well.
        new.depth.set(old.depth.get());
        // SAFETY: this thread's own.
        if let Some(counters) = unsafe { (*old.counters.get()).take() } {
            counters.abandon();
        }
    }
}

/// A thread of the program ends.
unsafe extern "C" fn ended(worker: *mut c_void) {
    HERE.set(std::ptr::null());
    // SAFETY: `make` leaked it for this thread, which ends.
    let worker = unsafe { Box::from_raw(worker.cast::<Worker>()) };
    worker.table.retire();
}
