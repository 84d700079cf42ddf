//! The state that the library keeps for each thread.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr;

use pacman_core::backend::Reading;
use pacman_core::clock::Clock;
use pacman_regions::arena::{Row, Thread};

use super::living;
use super::ompt::OmptState;
use super::part_start::{PartStart, Started, UNREAD};
use super::records::Records;
use super::region_rows::RegionRows;
use crate::adapted::{self, Pool, TeamAffinities, ThreadBinding, WaitPolicy};
use crate::counting::{Counters, Counting, EventPlan, differences, of_events};
use crate::energy;
use crate::execution_log::ExecutionLog;
use crate::isolation::{isolated, isolated_memory};
use crate::nesting::NestingState;
use crate::notes;
use crate::packing::{self, CrewMember};
use crate::phases::PhaseState;
use crate::process;
use crate::recording::EmptyPart;
use crate::region::Region;
use crate::rows;
use crate::runtime::Runtime;
use crate::sampling::Countdowns;
use crate::seen::Seen;
use crate::set_rotation::ThreadSets;
use crate::team::Team;
use crate::tls;
use crate::waits::{UsefulTime, WaitState};

/// Tasks that run at the end of a region are in no thread's part.
const TASKS: &str = "in regions with tasks, waiting and imbalance count tasks that a thread runs at the \
                     region's end as waiting: --waits counts them as work";

/// The state of one thread. Only that thread uses it.
///
/// Every region needs the first cache line only.
#[repr(C, align(64))]
pub(crate) struct Worker {
    pub(super) nesting: Cell<NestingState>,
    /// Null before the first use; [`UNCOUNTED`] if the thread has none.
    counters: Cell<*const Counters>,
    pub(crate) rows: RegionRows,
    pub(super) thread: Cell<&'static Thread>,
    /// One more than the nesting depth at which the runtime starts a team of this library. The upper half has one
    /// more than the place of the region's countdown if the execution is not timed.
    pub(super) starting: Cell<u32>,
    /// The team of the innermost body; null if the library did not start it. Not valid outside of bodies.
    pub(crate) team: Cell<*const Team>,
    /// How the program asked for the size of teams that the thread starts: bits [`PUSHED`] and [`SET`].
    asked: Cell<u8>,
    /// The latest team had more threads than there are contexts.
    pub(crate) oversubscribed: Cell<bool>,
    clock: Clock,
    pub(crate) pool: Pool,
    pub(crate) binding: ThreadBinding,
    pub(crate) affinities: TeamAffinities,
    /// Its number in the team that may be packed.
    pub(crate) crew: CrewMember,
    pub(crate) wait_policy: WaitPolicy,
    /// Regions of GCC's older interface, which different calls begin and end.
    pub(crate) started: RefCell<Vec<Started>>,
    /// Regions that the runtime reports through OMPT.
    pub(crate) ompt: OmptState,
    /// The counters, if event sets take turns.
    pub(super) sets: ThreadSets,
    pub(crate) waits: WaitState,
    /// Calls that the library makes in place.
    pub(crate) records: Records,
    /// One part, if adaptation measures its useful time.
    pub(crate) useful: UsefulTime,
    pub(crate) phases: PhaseState,
    /// Single executions, if they are logged.
    pub(crate) log: ExecutionLog,
    /// The runtime of the regions with countdowns; `None` before the first one.
    pub(crate) counts_for: Cell<Option<&'static Runtime>>,
    pub(crate) countdowns: Countdowns,
    /// The open regions in `thread` when the thread forked.
    open_at_fork: Cell<u64>,
    /// The ticks that timing regions has cost, and the executions that were only counted, or will be.
    pub(crate) spent: Cell<u64>,
    pub(crate) counted: Cell<u64>,
}

/// The program requested the team size of its next region.
const PUSHED: u8 = 1;
/// The program set the size of all teams from then on.
const SET: u8 = 2;

/// Stands for the counters of a thread without counters.
const UNCOUNTED: *const Counters = ptr::dangling();
impl Worker {
    /// Where the entry of requests for chunks counts down.
    pub(crate) const CHUNKS_LEFT_AT: usize = offset_of!(Worker, waits.chunks.left);

    /// The calling thread's worker, made at the first use.
    #[inline]
    pub(crate) fn here() -> &'static Worker {
        Worker::known().unwrap_or_else(Worker::make)
    }

    /// The calling thread's worker, if there is one.
    #[inline]
    pub(crate) fn known() -> Option<&'static Worker> {
        // SAFETY: `make` sets it, and `retire` clears it after the thread's last code of the program.
        // No caller keeps the reference beyond its call.
        unsafe { tls::get().cast::<Worker>().as_ref() }
    }

    #[cold]
    fn make() -> &'static Worker {
        let worker: &'static Worker = isolated_memory(|| {
            let worker: &'static Worker = Box::leak(Box::new(Worker {
                nesting: Cell::default(),
                counters: Cell::new(ptr::null()),
                rows: RegionRows::default(),
                thread: Cell::new(rows::thread()),
                open_at_fork: Cell::new(0),
                starting: Cell::new(0),
                team: Cell::new(ptr::null()),
                asked: Cell::new(0),
                oversubscribed: Cell::new(false),
                clock: process::clock(),
                pool: Pool::default(),
                binding: ThreadBinding::default(),
                affinities: TeamAffinities::default(),
                crew: CrewMember::default(),
                wait_policy: WaitPolicy::default(),
                started: RefCell::default(),
                ompt: OmptState::default(),
                sets: ThreadSets::default(),
                waits: WaitState::default(),
                records: Records::default(),
                useful: UsefulTime::default(),
                phases: PhaseState::default(),
                log: ExecutionLog::default(),
                countdowns: Countdowns::default(),
                counts_for: Cell::new(None),
                spent: Cell::new(0),
                counted: Cell::new(0),
            }));
            living::enter(&worker.countdowns);
            worker
        });
        tls::set(ptr::from_ref(worker).cast());
        worker
    }

    /// Has the C library retire the workers of threads that end from now on.
    pub(crate) fn watch_threads() {
        unsafe extern "C" fn ended(worker: *mut c_void) {
            tls::clear();
            // SAFETY: leaked by `make` for this thread, which ends.
            unsafe { Box::from_raw(worker.cast::<Worker>()) }.retire();
        }
        tls::watch_threads(ended);
    }

    /// The time, in ticks of the process's clock.
    #[inline(always)]
    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// The nesting depth of the thread: the bodies that it is inside.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.nesting.get().depth()
    }

    /// The actions of the innermost body so far, in bits of [`Seen`].
    #[inline]
    pub(crate) fn seen(&self) -> u32 {
        self.nesting.get().seen()
    }

    /// The innermost body does this, in bits of [`Seen`].
    #[inline]
    pub(crate) fn saw(&self, bits: u32) {
        self.nesting.set(self.nesting.get().and_seen(bits));
    }

    /// The program requests the team size of its next region.
    pub(crate) fn pushes_size(&self) {
        self.asked.set(self.asked.get() | PUSHED);
    }

    /// The program sets the size of all teams that the thread starts from now on.
    pub(crate) fn sets_size(&self) {
        self.asked.set(self.asked.get() | SET);
    }

    /// Whether the program requested a size since the last region.
    #[inline]
    pub(crate) fn take_pushed(&self) -> bool {
        let asked = self.asked.get();
        self.asked.set(asked & !PUSHED);
        asked & PUSHED != 0
    }

    /// Whether the program set the size of the thread's teams.
    pub(crate) fn has_set_size(&self) -> bool {
        self.asked.get() & SET != 0
    }

    /// Whether the thread is outside of regions, and the program asked for no team size.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.depth() == 0 && self.asked.get() == 0
    }

    /// The number of the thread among those that live.
    pub(crate) fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// Begins the thread's part of a region, on a thread that [`is_prepared`](Self::is_prepared). `at` is the
    /// time, if the caller has read the clock already.
    #[inline(always)]
    pub(crate) fn begin_counted(&self, counting: impl Counting, at: Option<u64>) -> PartStart {
        let around = self.nesting.get();
        self.nesting.set(around.inside());
        let counters = counting.begin(around.depth() as usize).unwrap_or(UNREAD);
        PartStart {
            ticks: at.unwrap_or_else(|| self.now()),
            own_work: 0,
            shared: at.is_some(),
            around,
            counters,
        }
    }

    /// Notes in the recording that the thread began a part at `at` as number `thread` of the team, for a process that
    /// does not see its end.
    #[inline]
    pub(crate) fn opens_part(&self, region: u32, thread: u32, at: u64) {
        self.rows.row(region, thread).open(process::own(at).1);
    }

    /// Ends a part, as number `thread` of the team. Answers its ticks.
    #[inline(always)]
    pub(crate) fn end(&self, begun: &PartStart, region: &Region, thread: u32) -> u64 {
        let ticks = process::between(begun.ticks, self.now());
        if let Some(seen) = self.leave(begun) {
            if region.seen.lacks(seen) {
                Self::learned(region, seen);
            }
        }
        let row = self.rows.row(region.number, thread);
        row.add(ticks, rows::cpu);
        // After a fork the child's thread has other counters, or none yet.
        if begun.counters == self.counters.get() {
            let depth = begun.around.depth() as usize;
            // SAFETY: equal to the thread's own, so neither `UNREAD` nor `UNCOUNTED`. They began to
            // count at that depth.
            row.count(|sums| unsafe { (*begun.counters).end(depth, sums) });
        }
        ticks
    }

    /// The body of `region` did for the first time what the bits of [`Seen`] say.
    #[cold]
    #[inline(never)]
    pub(super) fn learned(region: &Region, seen: u32) {
        region.seen.add(seen);
        if seen & Seen::TASKS != 0 && !process::plan().times_waits() {
            isolated(|| notes::note(TASKS.to_owned()));
        }
    }

    /// Whether the counters were opened, or found to be missing.
    #[inline(always)]
    pub(crate) fn is_prepared(&self) -> bool {
        !self.counters.get().is_null()
    }

    /// The counters, opened at the first use; `None` if the thread is not counted.
    #[inline]
    pub(crate) fn prepared(&self) -> Option<&Counters> {
        if !self.is_prepared() {
            self.open();
        }
        self.counters()
    }

    #[cold]
    fn open(&self) {
        let counters = isolated(|| {
            if EventPlan::current().rotates() {
                self.sets.open();
                return None;
            }
            Counters::open().map(|counters| Box::into_raw(Box::new(counters)))
        });
        let counters = counters.map(<*mut Counters>::cast_const);
        self.counters.set(counters.unwrap_or(UNCOUNTED));
    }

    /// The counters, if they are open.
    #[inline(always)]
    pub(crate) fn counters(&self) -> Option<&Counters> {
        let counters = self.counters.get();
        // One comparison: null and `UNCOUNTED` are the lowest two addresses.
        // SAFETY: any other address is of counters that the thread keeps until it ends.
        (counters.addr() > UNCOUNTED.addr()).then(|| unsafe { &*counters })
    }

    /// Ends a part without a row. Answers the body's actions, in bits of [`Seen`], if there are any.
    #[inline(always)]
    pub(crate) fn leave(&self, begun: &PartStart) -> Option<u32> {
        let nesting = self.nesting.replace(begun.around);
        (nesting != begun.around.inside()).then(|| nesting.seen())
    }

    /// The cost of an empty part on this thread.
    pub(crate) fn measured(&self) -> EmptyPart {
        // Each round may be two system calls for each counter, before the first region of the program.
        const ROUNDS: usize = 31;
        let row = Row::unrecorded();
        let mut counts = Vec::with_capacity(ROUNDS);
        let (clock, mut reading) = (process::clock(), Reading::EMPTY);
        let counters = self.prepared();
        let mut ticks: Vec<u64> = (0..ROUNDS)
            .map(|_| {
                // Before the reading: the copy is none of an execution's work.
                let before = row.sums().1;
                let begun = clock.now();
                let is_begun = counters.is_some_and(|counters| counters.read(&mut reading));
                let from = clock.now();
                row.add(clock.now().saturating_sub(from), rows::cpu);
                if let (true, Some(counters)) = (is_begun, counters) {
                    row.count(|sums| counters.add_since(&reading, sums));
                }
                self.sets.measure();
                let ticks = clock.now().saturating_sub(begun);
                if is_begun {
                    counts.push(differences(&before, &row.sums().1));
                }
                ticks
            })
            .collect();
        ticks.sort_unstable();
        let path = counters.map(Counters::path).or_else(|| self.sets.measure());
        let counts = match counters {
            Some(_) => of_events(&EventPlan::current().counted, &counts),
            None => self.sets.empty_counts(ROUNDS),
        };
        EmptyPart { ticks: ticks[ROUNDS / 2], reads: path.unwrap_or("none"), counts }
    }

    /// The thread ends.
    fn retire(self: Box<Worker>) {
        isolated(|| living::leave(&self.countdowns));
        if process::plan().meters() {
            energy::forget(self.address());
        }
        adapted::leave_group(self.address());
        packing::leave(&self.crew);
        if self.counters().is_some() {
            // SAFETY: `open` leaked them, and no part of this thread is open.
            isolated(|| drop(unsafe { Box::from_raw(self.counters.get().cast_mut()) }));
        }
        let Worker { rows, thread, waits, phases, sets, log, records, .. } = *self;
        if let Some(log) = log.taken() {
            isolated(|| rows::give_back_log(log));
        }
        if process::plan().rotates_sets() {
            isolated(|| rows::give_back_sets(sets.close().into_iter()));
        }
        rows.give_back(thread.get());
        phases.retire();
        if process::plan().times_waits() {
            isolated(|| rows::give_back_waits(waits.rows().into_iter()));
        }
        waits.retire();
        records.retire();
    }

    /// The thread is about to fork. Afterwards its parent goes on with the records that both see.
    pub(crate) fn forks() {
        if let Some(worker) = Worker::known() {
            worker.open_at_fork.set(worker.thread.get().open_regions());
        }
    }

    /// In the child of a fork: counters and rows of this thread are the parent's. The open regions are
    /// the child's as well.
    pub(crate) fn forked() {
        let Some(worker) = Worker::known() else { return };
        let new = rows::thread();
        new.set_open_regions(worker.open_at_fork.get());
        worker.thread.set(new);
        worker.rows.forked();
        worker.waits.forked();
        worker.useful.forget();
        worker.phases.forked();
        worker.log.forget();
        worker.countdowns.forget();
        // The parent's counters stay allocated: open parts compare their address. The core's fork
        // handlers take their pages and descriptors from the child.
        worker.counters.set(ptr::null());
        worker.sets.forget();
        worker.affinities.forget();
        worker.wait_policy.forget();
    }
}
