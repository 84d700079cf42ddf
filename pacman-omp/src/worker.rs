//! The calling thread, as a member of teams.

use std::arch::{asm, global_asm};
use std::cell::{Cell, RefCell, UnsafeCell};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, compiler_fence};

use pacman_core::clock::Clock;

use crate::adapt::{Bound, Pool};
use crate::counting::{Counters, Plan};
use crate::floating;
use crate::innermost::Innermost;
use crate::process;
use crate::region::{Region, Seen};
use crate::rows::{Hosted, Row, Table};
use crate::worksharing::Member;

/// What the library keeps for a thread. Its thread alone has it.
pub(crate) struct Worker {
    innermost: Cell<Innermost>,
    /// The program itself has said how many threads its next region gets.
    pushed: Cell<bool>,
    clock: Clock,
    /// Whether there are counters to read; they are opened when they are first wanted.
    is_counted: Cell<bool>,
    counters: UnsafeCell<Option<Counters>>,
    /// By region.
    rows: UnsafeCell<Vec<OwnRows>>,
    table: UnsafeCell<Arc<Table>>,
    pub(crate) member: Member,
    pub(crate) pool: Pool,
    pub(crate) bound: Bound,
    /// Regions of GCC's older interface, which are begun and ended by different calls.
    pub(crate) started: RefCell<Vec<crate::team::Started>>,
}

/// Rows of the thread's table, which keeps them for as long as the thread lives; null before they
/// are wanted.
#[derive(Clone, Copy)]
struct OwnRows {
    /// Of the number that the thread had in the region last.
    row: *const Row,
    hosted: *const Hosted,
}

/// An execution of a body that has begun on this thread.
pub(crate) struct Begun {
    ticks: u64,
    /// Somebody else's beginning, too.
    shared: bool,
    around: Innermost,
}

impl Begun {
    /// Whether it began when its region did.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }
}

// The calling thread's worker: a word of thread-local storage in the block that the loader lays out
// when the program starts, which is where this library is loaded. It is read in two instructions;
// what the compiler would do for a library that may be loaded at any time is a call with a dozen.
// There is no destructor: the main thread's would come before the program's last regions.
global_asm!(
    ".pushsection .tbss.pacman_omp_worker, \"awT\", @nobits",
    ".balign 8",
    ".hidden pacman_omp_worker",
    ".globl pacman_omp_worker",
    ".type pacman_omp_worker, @object",
    ".size pacman_omp_worker, 8",
    "pacman_omp_worker:",
    ".zero 8",
    ".popsection",
);

#[inline(always)]
fn worker() -> *const Worker {
    let worker;
    // SAFETY: reads the word above.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + pacman_omp_worker@GOTTPOFF]",
            "mov {0}, qword ptr fs:[{0}]",
            out(reg) worker,
            options(nostack, readonly, preserves_flags)
        );
    }
    worker
}

fn set_worker(worker: *const Worker) {
    // SAFETY: writes the word above.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + pacman_omp_worker@GOTTPOFF]",
            "mov qword ptr fs:[{0}], {1}",
            out(reg) _,
            in(reg) worker,
            options(nostack, preserves_flags)
        );
    }
}

/// Calls [`ended`] where a thread has a worker; made when the library is loaded.
static ENDING: AtomicU32 = AtomicU32::new(NO_KEY);

/// `pthread_setspecific` refuses it: the rows of such threads stay where `rows::sums` finds them.
const NO_KEY: libc::pthread_key_t = libc::pthread_key_t::MAX;

/// Has the C library call [`ended`] for threads that end from now on.
pub(crate) fn watch_threads() {
    let mut key = 0;
    // SAFETY: the key is written before it is used, and never deleted.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(ended)) } == 0 {
        ENDING.store(key, Ordering::Relaxed);
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
        // SAFETY: set by `make`, and taken back by `ended` when the thread runs no more of the
        // program's code. Nobody keeps the reference beyond a call.
        unsafe { worker().as_ref() }
    }

    #[cold]
    fn make() -> &'static Worker {
        let worker: &'static Worker = Box::leak(Box::new(Worker {
            innermost: Cell::default(),
            pushed: Cell::new(false),
            clock: process::clock(),
            is_counted: Cell::new(true),
            counters: UnsafeCell::new(None),
            rows: UnsafeCell::default(),
            table: UnsafeCell::new(Table::enlisted()),
            member: Member::new(),
            pool: Pool::default(),
            bound: Bound::default(),
            started: RefCell::default(),
        }));
        set_worker(worker);
        // SAFETY: the pointer comes back to `ended`, at this thread's end.
        unsafe {
            libc::pthread_setspecific(ENDING.load(Ordering::Relaxed), ptr::from_ref(worker).cast())
        };
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

    /// Runs `start`, which has the runtime start a team that this library knows of.
    #[inline]
    pub(crate) fn starts(&self, start: impl FnOnce()) {
        let around = self.innermost.get().is_starting();
        self.learn(|innermost| innermost.and_starting(true));
        start();
        self.learn(|innermost| innermost.and_starting(around));
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
        self.innermost.get().is_starting()
    }

    /// The thread begins its part of a region; `at` is when, if somebody has looked already.
    #[inline(always)]
    pub(crate) fn begin(&self, at: Option<u64>) -> Begun {
        if self.is_counted() {
            self.begin_counted::<true>(at)
        } else {
            self.begin_counted::<false>(at)
        }
    }

    /// Whether its counters are to be read where bodies begin and end.
    #[inline(always)]
    pub(crate) fn is_counted(&self) -> bool {
        self.is_counted.get()
    }

    /// [`begin`](Worker::begin) for who knows whether the thread is counted, and asks for both ends
    /// at once.
    #[inline(always)]
    pub(crate) fn begin_counted<const COUNTED: bool>(&self, at: Option<u64>) -> Begun {
        let around = self.innermost.get();
        self.innermost.set(around.inside());
        if COUNTED {
            self.begin_to_count(around.depth() as usize);
        }
        Begun { ticks: at.unwrap_or_else(|| self.now()), shared: at.is_some(), around }
    }

    /// It ends that part, as number `thread`; answers how long it took.
    #[inline(always)]
    pub(crate) fn end(&self, begun: &Begun, region: &Region, thread: u32) -> u64 {
        if self.is_counted() {
            self.end_counted::<true>(begun, region, thread)
        } else {
            self.end_counted::<false>(begun, region, thread)
        }
    }

    /// [`end`](Worker::end), as [`begin_counted`](Worker::begin_counted).
    #[inline(always)]
    pub(crate) fn end_counted<const COUNTED: bool>(
        &self,
        begun: &Begun,
        region: &Region,
        thread: u32,
    ) -> u64 {
        let ticks = process::between(begun.ticks, self.now());
        let seen = self.leave(begun);
        let row = self.row(region.number, thread);
        row.add(ticks);
        if COUNTED {
            self.count(begun.around.depth() as usize, row);
        }
        if seen != 0 {
            region.seen.add(seen);
        }
        ticks
    }

    /// It ends that part without an entry; answers what the body was seen to do.
    #[inline(always)]
    pub(crate) fn leave(&self, begun: &Begun) -> u32 {
        let innermost = self.innermost.replace(begun.around);
        innermost.seen() | if innermost.unpaired() != 0 { Seen::THREAD_NUMBER } else { 0 }
    }

    /// Reads where a body begins that is inside of `depth` others.
    #[inline(always)]
    fn begin_to_count(&self, depth: usize) {
        if let Some(counters) = self.counters() {
            counters.begin(depth);
        }
    }

    /// Reads where it ends.
    #[inline(always)]
    fn count(&self, depth: usize, row: &Row) {
        // Where they could not be opened at the beginning there is nothing to end.
        // SAFETY: as in `counters`.
        let counters = unsafe { &mut *self.counters.get() }.as_mut();
        if let Some(counted) = counters.and_then(|counters| counters.end(depth)) {
            row.count(&counted);
        }
    }

    /// The thread's counters, opened when they are first wanted; `None` if it is not counted.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    fn counters(&self) -> Option<&mut Counters> {
        // SAFETY: this thread alone. Callers use it for the counters' own code, which does not come
        // back, and keep it no longer.
        let counters = unsafe { &mut *self.counters.get() };
        if counters.is_none() {
            self.open(counters);
        }
        counters.as_mut()
    }

    #[cold]
    fn open(&self, counters: &mut Option<Counters>) {
        *counters = floating::apart(Counters::open);
        self.is_counted.set(counters.is_some());
    }

    /// Where executions that this thread starts are entered.
    #[inline]
    pub(crate) fn hosted(&self, region: u32) -> &Hosted {
        // SAFETY: a row of the thread's table.
        unsafe { self.rows_of(region).hosted.as_ref() }.unwrap_or_else(|| self.new_hosted(region))
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

    #[inline]
    fn row(&self, region: u32, thread: u32) -> &Row {
        // SAFETY: a row of the thread's table.
        let row = unsafe { self.rows_of(region).row.as_ref() };
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

    #[inline]
    fn rows_of(&self, region: u32) -> OwnRows {
        // SAFETY: this thread alone, and the reference ends here.
        let rows = unsafe { &*self.rows.get() };
        rows.get(region as usize).copied().unwrap_or(OwnRows::NONE)
    }

    fn keep(&self, region: u32, own: impl FnOnce(&mut OwnRows)) {
        // SAFETY: as above; `own` sets a pointer.
        let rows = unsafe { &mut *self.rows.get() };
        rows.resize(rows.len().max(region as usize + 1), OwnRows::NONE);
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
        let (clock, mut counters) = (process::clock(), self.counters());
        let mut ticks: Vec<u64> = (0..ROUNDS)
            .map(|_| {
                let begun = clock.now();
                if let Some(counters) = &mut counters {
                    counters.begin(0);
                }
                let from = clock.now();
                row.add(clock.now().saturating_sub(from));
                if let Some(counted) = counters.as_mut().and_then(|counters| counters.end(0)) {
                    row.count(&counted);
                }
                clock.now().saturating_sub(begun)
            })
            .collect();
        ticks.sort_unstable();
        (ticks[ROUNDS / 2], counters.map_or("none", |counters| counters.path()))
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
            (*worker.rows.get()).clear();
            if let Some(counters) = (*worker.counters.get()).take() {
                counters.abandon();
            }
        }
        worker.is_counted.set(true);
    }
}

impl OwnRows {
    const NONE: OwnRows = OwnRows { row: ptr::null(), hosted: ptr::null() };
}

/// A thread of the program ends.
unsafe extern "C" fn ended(worker: *mut c_void) {
    set_worker(ptr::null());
    // SAFETY: `make` leaked it for this thread, which ends.
    let worker = unsafe { Box::from_raw(worker.cast::<Worker>()) };
    worker.table.into_inner().retire();
}
