//! The calling thread, as a member of teams.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{Ordering, compiler_fence};

use pacman_core::backend::Reading;
use pacman_core::clock::Clock;

use crate::adapt::{Bound, Crews, Pool, Steady, Waits};
use crate::counting::{Counters, Counting, Plan};
use crate::entry::ompt::UnderWay;
use crate::floating;
use crate::innermost::Innermost;
use crate::process;
use crate::region::{Region, Seen};
use crate::rows::{Hosted, Row, Table, Widths};
use crate::word;
use crate::worksharing::Member;

/// What the library keeps for a thread. Its thread alone has it.
///
/// What every region needs is on its first cache line.
#[repr(C, align(64))]
pub(crate) struct Worker {
    innermost: Cell<Innermost>,
    /// Null before they are wanted, [`UNCOUNTED`] where there are none.
    counters: Cell<*const Counters>,
    /// By region.
    rows: UnsafeCell<Vec<OwnRows>>,
    table: UnsafeCell<Arc<Table>>,
    /// One more than the depth at which the runtime is starting a team that this library knows of.
    starting: Cell<u32>,
    /// The program itself has said how many threads its next region gets.
    pushed: Cell<bool>,
    /// The latest team had more threads than there are contexts.
    pub(crate) crowded: Cell<bool>,
    clock: Clock,
    pub(crate) pool: Pool,
    pub(crate) member: Member,
    pub(crate) bound: Bound,
    pub(crate) crews: Crews,
    pub(crate) waits: Waits,
    /// Regions of GCC's older interface, which are begun and ended by different calls.
    pub(crate) started: RefCell<Vec<crate::team::Started>>,
    /// Regions that the runtime tells of.
    pub(crate) under_way: UnderWay,
}

/// Stands for the counters of a thread that has none.
const UNCOUNTED: *const Counters = ptr::dangling();
/// Stands for those of an execution whose begin could not be read; no thread's.
const UNREAD: *const Counters = ptr::without_provenance(2 * align_of::<Counters>());

/// What a thread has of a region. The rows are its table's, which keeps them for as long as the
/// thread lives; null before they are wanted.
struct OwnRows {
    /// Of the number that the thread had in the region last.
    row: *const Row,
    hosted: *const Hosted,
    steady: Option<Box<Steady>>,
}

/// An execution of a body that has begun on this thread.
pub(crate) struct Begun {
    ticks: u64,
    /// Somebody else's beginning, too.
    shared: bool,
    around: Innermost,
    /// The counters that it began to count by, or [`UNREAD`].
    counters: *const Counters,
}

impl Begun {
    /// Whether it began when its region did.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }
}

impl Worker {
    /// The calling thread's, made when it is first wanted.
    #[inline]
    pub(crate) fn here() -> &'static Worker {
        Worker::known().unwrap_or_else(Worker::make)
    }

    /// The calling thread's, if it has been in a team.
    #[inline]
    pub(crate) fn known() -> Option<&'static Worker> {
        // SAFETY: set by `make`, and taken back when the thread runs no more of the program's
        // code. Nobody keeps the reference beyond a call.
        unsafe { word::get().as_ref() }
    }

    #[cold]
    fn make() -> &'static Worker {
        let worker: &'static Worker = Box::leak(Box::new(Worker {
            innermost: Cell::default(),
            counters: Cell::new(ptr::null()),
            rows: UnsafeCell::default(),
            table: UnsafeCell::new(Table::enlisted()),
            starting: Cell::new(0),
            pushed: Cell::new(false),
            crowded: Cell::new(false),
            clock: process::clock(),
            pool: Pool::default(),
            member: Member::new(),
            bound: Bound::default(),
            crews: Crews::default(),
            waits: Waits::default(),
            started: RefCell::default(),
            under_way: UnderWay::default(),
        }));
        word::set(worker);
        worker
    }

    /// The time, in ticks of the process's clock.
    #[inline(always)]
    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// How many bodies of regions the thread is inside of.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.innermost.get().depth()
    }

    /// What the innermost body was seen to do so far.
    #[inline]
    pub(crate) fn seen(&self) -> u32 {
        self.innermost.get().seen()
    }

    #[inline]
    fn learn(&self, learn: impl FnOnce(Innermost) -> Innermost) {
        self.innermost.set(learn(self.innermost.get()));
    }

    /// The innermost body does what `bits` say.
    #[inline]
    pub(crate) fn saw(&self, bits: u32) {
        self.learn(|innermost| innermost.and_seen(bits));
    }

    /// The innermost body asks for its thread's number (1), or for how many there are (-1).
    #[inline]
    pub(crate) fn asked_for_number(&self, which: i16) {
        self.learn(|innermost| {
            // GCC's loops ask how many there are first. Who asks the other way round is the program.
            let early = which > 0 && innermost.unpaired() >= 0;
            let seen = Seen::BOTH_NUMBERS | if early { Seen::THREAD_NUMBER } else { 0 };
            innermost.and_seen(seen).and_asked(which)
        });
    }

    /// The program has said how many threads its next region gets.
    pub(crate) fn push(&self) {
        self.pushed.set(true);
    }

    /// Whether it has, since the last region.
    #[inline]
    pub(crate) fn take_pushed(&self) -> bool {
        self.pushed.replace(false)
    }

    /// Whether it is inside of no body, and the program has not said how many threads its next
    /// region gets.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.depth() == 0 && !self.pushed.get()
    }

    /// Runs `start`, which has the runtime start a team that this library knows of.
    #[inline]
    pub(crate) fn starts(&self, start: impl FnOnce()) {
        let around = self.starting.replace(self.depth() + 1);
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
        let hosting = &self.table().hosting;
        hosting.store(hosting.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        // ATOMICS: a signal handler that ends the process may come at any instruction, here or on a
        // member of the team, which the runtime's own barriers order.
        compiler_fence(Ordering::SeqCst);
    }

    /// It is in the rows.
    #[inline]
    pub(crate) fn ends_to_host(&self) {
        compiler_fence(Ordering::SeqCst);
        let hosting = &self.table().hosting;
        hosting.store(hosting.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    /// Whether such a team is being started, and none of its bodies runs here yet.
    pub(crate) fn is_starting(&self) -> bool {
        self.starting.get() == self.depth() + 1
    }

    /// The thread begins its part of a region.
    #[inline(always)]
    pub(crate) fn begin(&self) -> Begun {
        match self.prepared() {
            Some(counters) => self.begin_counted(counters, None),
            None => self.begin_counted((), None),
        }
    }

    /// The same for who has asked [`is_prepared`](Worker::is_prepared) before; `at` is when, if
    /// somebody has looked already.
    #[inline(always)]
    pub(crate) fn begin_counted(&self, counting: impl Counting, at: Option<u64>) -> Begun {
        let around = self.innermost.get();
        self.innermost.set(around.inside());
        let counters = counting.begin(around.depth() as usize).unwrap_or(UNREAD);
        Begun { ticks: at.unwrap_or_else(|| self.now()), shared: at.is_some(), around, counters }
    }

    /// It ends that part, as number `thread`; answers how long it took.
    #[inline(always)]
    pub(crate) fn end(&self, begun: &Begun, region: &Region, thread: u32) -> u64 {
        let ticks = process::between(begun.ticks, self.now());
        if let Some(seen) = self.leave(begun) {
            region.seen.add(seen);
        }
        let row = self.row(region.number, thread);
        row.add(ticks);
        // In the child of a fork the thread has others, or none yet.
        if begun.counters == self.counters.get() {
            let depth = begun.around.depth() as usize;
            // SAFETY: neither `UNREAD` nor what stands for a thread's having none, so they are the
            // thread's, and began to count at that depth.
            row.count(|sums| unsafe { (*begun.counters).end(depth, sums) });
        }
        ticks
    }

    /// Whether it is known if the thread is counted, and by which counters.
    #[inline(always)]
    pub(crate) fn is_prepared(&self) -> bool {
        !self.counters.get().is_null()
    }

    /// Its counters, which are opened when they are first wanted; `None` if it is not counted.
    #[inline]
    pub(crate) fn prepared(&self) -> Option<&Counters> {
        if !self.is_prepared() {
            self.open();
        }
        self.counters()
    }

    #[cold]
    fn open(&self) {
        let counters = floating::apart(Counters::open);
        let counters = counters.map(|counters| Box::into_raw(Box::new(counters)).cast_const());
        self.counters.set(counters.unwrap_or(UNCOUNTED));
    }

    /// Its counters, where they are open.
    #[inline(always)]
    pub(crate) fn counters(&self) -> Option<&Counters> {
        let counters = self.counters.get();
        // One comparison: null and what stands for none are the lowest two addresses.
        // SAFETY: any other is of counters that the thread keeps until it ends.
        (counters.addr() > UNCOUNTED.addr()).then(|| unsafe { &*counters })
    }

    /// It ends that part without an entry; answers what the body was seen to do, if anything.
    #[inline(always)]
    pub(crate) fn leave(&self, begun: &Begun) -> Option<u32> {
        let innermost = self.innermost.replace(begun.around);
        (innermost != begun.around.inside()).then(|| {
            innermost.seen() | if innermost.unpaired() != 0 { Seen::THREAD_NUMBER } else { 0 }
        })
    }

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
    fn row(&self, region: u32, thread: u32) -> &Row {
        // SAFETY: a row of the thread's table.
        let row = self.rows_of(region).and_then(|own| unsafe { own.row.as_ref() });
        row.filter(|row| row.thread == thread).unwrap_or_else(|| self.other_row(region, thread))
    }

    /// The row for a number that the thread did not have in this region last time.
    #[cold]
    fn other_row(&self, region: u32, thread: u32) -> &Row {
        let mut all = self.table().rows.lock();
        let known = all.iter().find(|row| (row.region, row.thread) == (region, thread));
        let known = known.map(Arc::as_ptr);
        let row = known.unwrap_or_else(|| {
            let new = Arc::new(Row::new(region, thread, Plan::current().counted.len()));
            let row = Arc::as_ptr(&new);
            all.push(new);
            row
        });
        self.keep(region, |own| own.row = row);
        // SAFETY: the table has it.
        unsafe { &*row }
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

    fn table(&self) -> &Table {
        // SAFETY: another one comes in the child of a fork only, which no reference lives to see.
        unsafe { &*self.table.get() }
    }

    /// What begin and end take on this thread in ticks, a median; and how counts are read.
    pub(crate) fn measured(&self) -> (u64, &'static str) {
        const ROUNDS: usize = 101;
        let row = Row::new(u32::MAX, 0, Plan::current().counted.len());
        let (clock, mut reading) = (process::clock(), Reading::EMPTY);
        let counters = self.prepared();
        let mut ticks: Vec<u64> = (0..ROUNDS)
            .map(|_| {
                let begun = clock.now();
                let is_begun = counters.is_some_and(|counters| counters.read(&mut reading));
                let from = clock.now();
                row.add(clock.now().saturating_sub(from));
                if let (true, Some(counters)) = (is_begun, counters) {
                    row.count(|sums| counters.add_since(&reading, sums));
                }
                clock.now().saturating_sub(begun)
            })
            .collect();
        ticks.sort_unstable();
        (ticks[ROUNDS / 2], counters.map_or("none", Counters::path))
    }

    /// Its thread ends.
    pub(crate) fn retire(self: Box<Worker>) {
        if self.counters().is_some() {
            // SAFETY: `open` made it a pointer, and no execution of this thread goes on.
            drop(unsafe { Box::from_raw(self.counters.get().cast_mut()) });
        }
        self.table.into_inner().retire();
    }

    /// In the child of a fork: what this thread has counted, and counts by, is the parent's. The
    /// regions that it is inside of are the child's as well.
    pub(crate) fn forked() {
        let Some(worker) = Worker::known() else { return };
        let new = Table::enlisted();
        new.hosting.store(worker.table().hosting.load(Ordering::Relaxed), Ordering::Relaxed);
        // SAFETY: this thread's own, and no reference to either lives here. The old table is left
        // to itself: another thread may have been reading it.
        unsafe {
            std::mem::forget(std::mem::replace(&mut *worker.table.get(), new));
            // The region that the thread is inside of will look at what it keeps for it.
            for own in &mut *worker.rows.get() {
                (own.row, own.hosted) = (ptr::null(), ptr::null());
                own.steady.iter().for_each(|steady| steady.forget());
            }
        }
        // The parent's are left to themselves: their pages and descriptors are taken from the child
        // by who watches forks, and executions that are open know them by their address.
        worker.counters.set(ptr::null());
        worker.crews.forget();
        worker.waits.forget();
    }
}

impl OwnRows {
    const NONE: OwnRows = OwnRows { row: ptr::null(), hosted: ptr::null(), steady: None };
}
