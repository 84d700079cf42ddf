//! The calling thread, as a member of teams.

mod own_rows;

use std::cell::{Cell, RefCell, UnsafeCell};
use std::ptr;
use std::sync::atomic::{Ordering, compiler_fence};

use pacman_core::backend::Reading;
use pacman_core::clock::Clock;
use pacman_regions::arena::{Row, Thread};

use crate::adapt::{Bound, Pool, TeamAffinities, WaitPolicy};
use crate::counting::{Counters, Counting};
use crate::entry::ompt::OmptState;
use crate::isolation::isolated;
use crate::nesting::NestingState;
use crate::process;
use crate::region::{Region, Seen};
use crate::rows;
use crate::tls;
use crate::worksharing::Member;
use own_rows::OwnRows;

/// What the library keeps for a thread. Its thread alone has it.
///
/// What every region needs is on its first cache line.
#[repr(C, align(64))]
pub(crate) struct Worker {
    nesting: Cell<NestingState>,
    /// Null before they are wanted, [`UNCOUNTED`] where there are none.
    counters: Cell<*const Counters>,
    /// By region.
    rows: UnsafeCell<Vec<OwnRows>>,
    thread: Cell<&'static Thread>,
    /// What that had when the thread forked.
    open_at_fork: Cell<u64>,
    /// One more than the depth at which the runtime is starting a team that this library knows of.
    starting: Cell<u32>,
    /// The program itself has said how many threads its next region gets.
    pushed: Cell<bool>,
    /// The latest team had more threads than there are contexts.
    pub(crate) oversubscribed: Cell<bool>,
    clock: Clock,
    pub(crate) pool: Pool,
    pub(crate) member: Member,
    pub(crate) bound: Bound,
    pub(crate) affinities: TeamAffinities,
    pub(crate) wait_policy: WaitPolicy,
    /// Regions of GCC's older interface, which are begun and ended by different calls.
    pub(crate) started: RefCell<Vec<crate::team::Started>>,
    /// Regions that the runtime tells of.
    pub(crate) ompt: OmptState,
}

/// Stands for the counters of a thread that has none.
const UNCOUNTED: *const Counters = ptr::dangling();
/// Stands for those of an execution whose begin could not be read; no thread's.
const UNREAD: *const Counters = ptr::without_provenance(2 * align_of::<Counters>());

/// An execution of a body that has begun on this thread.
pub(crate) struct PartStart {
    ticks: u64,
    /// Somebody else's beginning, too.
    shared: bool,
    around: NestingState,
    /// The counters that it began to count by, or [`UNREAD`].
    counters: *const Counters,
}

impl PartStart {
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
        unsafe { tls::get().as_ref() }
    }

    #[cold]
    fn make() -> &'static Worker {
        let worker: &'static Worker = isolated(|| {
            Box::leak(Box::new(Worker {
                nesting: Cell::default(),
                counters: Cell::new(ptr::null()),
                rows: UnsafeCell::default(),
                thread: Cell::new(rows::thread()),
                open_at_fork: Cell::new(0),
                starting: Cell::new(0),
                pushed: Cell::new(false),
                oversubscribed: Cell::new(false),
                clock: process::clock(),
                pool: Pool::default(),
                member: Member::new(),
                bound: Bound::default(),
                affinities: TeamAffinities::default(),
                wait_policy: WaitPolicy::default(),
                started: RefCell::default(),
                ompt: OmptState::default(),
            }))
        });
        tls::set(worker);
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
        self.nesting.get().depth()
    }

    /// What the innermost body was seen to do so far.
    #[inline]
    pub(crate) fn seen(&self) -> u32 {
        self.nesting.get().seen()
    }

    #[inline]
    fn learn(&self, learn: impl FnOnce(NestingState) -> NestingState) {
        self.nesting.set(learn(self.nesting.get()));
    }

    /// The innermost body does what `bits` say.
    #[inline]
    pub(crate) fn saw(&self, bits: u32) {
        self.learn(|nesting| nesting.and_seen(bits));
    }

    /// The innermost body asks for its thread's number (1), or for how many there are (-1).
    #[inline]
    pub(crate) fn asked_for_number(&self, which: i16) {
        self.learn(|nesting| {
            // GCC's loops ask how many there are first. Who asks the other way round is the program.
            let early = which > 0 && nesting.unpaired() >= 0;
            let seen = Seen::BOTH_NUMBERS | if early { Seen::THREAD_NUMBER } else { 0 };
            nesting.and_seen(seen).and_asked(which)
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
    pub(crate) fn run_as_primary(&self, whole: impl FnOnce()) {
        self.open_region();
        whole();
        self.close_region();
    }

    /// The thread starts a region.
    #[inline]
    pub(crate) fn open_region(&self) {
        let thread = self.thread.get();
        thread.set_open_regions(thread.open_regions() + 1);
        // ATOMICS: a signal handler that ends the process may come at any instruction, here or on a
        // member of the team, which the runtime's own barriers order.
        compiler_fence(Ordering::SeqCst);
    }

    /// It is in the rows.
    #[inline]
    pub(crate) fn close_region(&self) {
        compiler_fence(Ordering::SeqCst);
        let thread = self.thread.get();
        thread.set_open_regions(thread.open_regions() - 1);
    }

    /// Whether such a team is being started, and none of its bodies runs here yet.
    pub(crate) fn is_starting(&self) -> bool {
        self.starting.get() == self.depth() + 1
    }

    /// The thread begins its part of a region.
    #[inline(always)]
    pub(crate) fn begin(&self) -> PartStart {
        match self.prepared() {
            Some(counters) => self.begin_counted(counters, None),
            None => self.begin_counted((), None),
        }
    }

    /// The same for who has asked [`is_prepared`](Worker::is_prepared) before; `at` is when, if
    /// somebody has looked already.
    #[inline(always)]
    pub(crate) fn begin_counted(&self, counting: impl Counting, at: Option<u64>) -> PartStart {
        let around = self.nesting.get();
        self.nesting.set(around.inside());
        let counters = counting.begin(around.depth() as usize).unwrap_or(UNREAD);
        PartStart {
            ticks: at.unwrap_or_else(|| self.now()),
            shared: at.is_some(),
            around,
            counters,
        }
    }

    /// It ends that part, as number `thread`; answers how long it took.
    #[inline(always)]
    pub(crate) fn end(&self, begun: &PartStart, region: &Region, thread: u32) -> u64 {
        let ticks = process::between(begun.ticks, self.now());
        if let Some(seen) = self.leave(begun) {
            region.seen.add(seen);
        }
        let row = self.row(region.number, thread);
        row.add(ticks, rows::cpu);
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
        let counters =
            isolated(|| Counters::open().map(|counters| Box::into_raw(Box::new(counters))));
        let counters = counters.map(<*mut Counters>::cast_const);
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
    pub(crate) fn leave(&self, begun: &PartStart) -> Option<u32> {
        let nesting = self.nesting.replace(begun.around);
        (nesting != begun.around.inside())
            .then(|| nesting.seen() | if nesting.unpaired() != 0 { Seen::THREAD_NUMBER } else { 0 })
    }

    /// What begin and end take on this thread in ticks, a median; and how counts are read.
    pub(crate) fn measured(&self) -> (u64, &'static str) {
        const ROUNDS: usize = 101;
        let row = Row::unrecorded();
        let (clock, mut reading) = (process::clock(), Reading::EMPTY);
        let counters = self.prepared();
        let mut ticks: Vec<u64> = (0..ROUNDS)
            .map(|_| {
                let begun = clock.now();
                let is_begun = counters.is_some_and(|counters| counters.read(&mut reading));
                let from = clock.now();
                row.add(clock.now().saturating_sub(from), rows::cpu);
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
            isolated(|| drop(unsafe { Box::from_raw(self.counters.get().cast_mut()) }));
        }
        let Worker { rows, thread, .. } = *self;
        own_rows::give_back(thread.get(), &rows.into_inner());
    }

    /// The thread is about to fork. Its parent goes on with what it records, where both can see it.
    pub(crate) fn forks() {
        if let Some(worker) = Worker::known() {
            worker.open_at_fork.set(worker.thread.get().open_regions());
        }
    }

    /// In the child of a fork: what this thread has counted, and counts by, is the parent's. The
    /// regions that it is inside of are the child's as well.
    pub(crate) fn forked() {
        let Some(worker) = Worker::known() else { return };
        let new = rows::thread();
        new.set_open_regions(worker.open_at_fork.get());
        worker.thread.set(new);
        // SAFETY: this thread's own, and no reference to it lives here.
        for own in unsafe { &mut *worker.rows.get() } {
            own.forked();
        }
        // The parent's are left to themselves: their pages and descriptors are taken from the child
        // by who watches forks, and executions that are open know them by their address.
        worker.counters.set(ptr::null());
        worker.affinities.forget();
        worker.wait_policy.forget();
    }
}
