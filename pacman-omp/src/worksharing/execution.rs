//! One execution of a region with barrier intervals, and the parts of its threads.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicBool, Ordering};

use try_lock::{Locked, TryLock};

use super::barrier_interval::{BarrierIntervals, Setup};
use super::partition::{Division, Index, Iterations, Share};
use super::region_run::{ALL, RegionRun};
use super::ring::Ring;
use super::schedule::Indivisible;
use crate::floating;

/// The loops of one region.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Loops {
    intervals: TryLock<BarrierIntervals>,
    /// The region has no time loop inside, as enough executions have shown.
    left_alone: AtomicBool,
}

/// The questions of an execution to the runtime and to the rest of the library.
pub(crate) trait TeamQueries: Sync {
    /// The nesting level of the calling thread, serial regions included.
    fn level(&self) -> i32;
    /// The size of its team.
    fn threads(&self) -> u32;
    /// Whether the region asked for its thread's number, as far as this thread knows.
    fn asks_for_number(&self) -> bool;
    fn now(&self) -> u64;
    /// The calling thread gets no share, and will wait at the next barrier.
    fn idles(&self);
}

/// One execution of a region. It is on the primary thread's stack, and outlives every member's part.
pub(crate) struct Execution<S> {
    ring: Ring,
    run: UnsafeCell<RegionRun<'static, Locked<'static, BarrierIntervals>>>,
    around: S,
}

// SAFETY: all members share the ring. Only thread 0 of the team touches the run; it is also the thread
// that starts and ends the team.
unsafe impl<S: Sync> Sync for Execution<S> {}

impl Loops {
    /// Begins an execution; `None` if another thread runs this region, because only one execution at a
    /// time is adapted. `refused` is the reason against adaptation.
    pub(crate) fn begin<S: TeamQueries>(
        &'static self,
        setup: &'static Setup,
        refused: Option<&'static str>,
        around: S,
    ) -> Option<Execution<S>> {
        // ATOMICS: a stale value only delays or repeats a look at the loops.
        if self.left_alone.load(Ordering::Relaxed) {
            return None;
        }
        let intervals = self.intervals.try_lock()?;
        if intervals.never_repeat() && setup.forced.is_empty() {
            self.left_alone.store(true, Ordering::Relaxed);
            return None;
        }
        let run = UnsafeCell::new(RegionRun::new(intervals, setup, refused));
        Some(Execution { ring: Ring::new(ALL), run, around })
    }

    /// Whether the loops are no longer observed.
    #[inline]
    pub(crate) fn are_left_alone(&self) -> bool {
        self.left_alone.load(Ordering::Relaxed)
    }

    /// Whether intervals are adapted one by one, so that the team must keep its size.
    pub(crate) fn adapt(&self) -> bool {
        !self.left_alone.load(Ordering::Relaxed)
            && self.intervals.try_lock().is_some_and(|intervals| intervals.adapts())
    }

    /// The loops for the recording; `place` names an address. None during an execution.
    pub(crate) fn recorded(&self, place: impl Fn(u64) -> String) -> Vec<pacman_regions::Loop> {
        self.intervals.try_lock().map_or_else(Vec::new, |intervals| intervals.recorded(place))
    }
}

/// The calling thread's part in the innermost execution with intervals.
pub(crate) struct Member<S: 'static> {
    execution: Cell<*const Execution<S>>,
    thread: Cell<u32>,
    threads: Cell<u16>,
    level: Cell<i32>,
    /// Barriers passed in this execution.
    epoch: Cell<u32>,
}

impl<S> Member<S> {
    /// A thread outside of such executions.
    pub(crate) const fn new() -> Member<S> {
        Member {
            execution: Cell::new(std::ptr::null()),
            thread: Cell::new(0),
            threads: Cell::new(0),
            level: Cell::new(0),
            epoch: Cell::new(0),
        }
    }
}

/// Restores the state around an execution, also when the body unwinds.
struct RestoreMember<'m, S: 'static> {
    member: &'m Member<S>,
    around: Member<S>,
}

impl<S> Drop for RestoreMember<'_, S> {
    fn drop(&mut self) {
        self.member.execution.swap(&self.around.execution);
        self.member.thread.swap(&self.around.thread);
        self.member.threads.swap(&self.around.threads);
        self.member.level.swap(&self.around.level);
        self.member.epoch.swap(&self.around.epoch);
    }
}

impl<S: TeamQueries> Execution<S> {
    /// Runs the calling thread's part, as number `thread` of the team.
    pub(crate) fn take_part(&self, member: &Member<S>, thread: u32, body: impl FnOnce()) {
        let threads = u16::try_from(self.around.threads()).unwrap_or(u16::MAX);
        if thread == 0 {
            // SAFETY: this is thread 0 of the team, and the reference ends here.
            let run = unsafe { &mut *self.run.get() };
            floating::isolated(|| run.begin(threads, self.around.now()));
        }
        let around = Member {
            execution: Cell::new(member.execution.replace(self)),
            thread: Cell::new(member.thread.replace(thread)),
            threads: Cell::new(member.threads.replace(threads)),
            level: Cell::new(member.level.replace(self.around.level())),
            epoch: Cell::new(member.epoch.replace(0)),
        };
        let _restored = RestoreMember { member, around };
        body();
    }

    /// The team has ended, and with it the open interval.
    pub(crate) fn end(self) {
        let now = self.around.now();
        let mut run = self.run.into_inner();
        floating::isolated(|| run.end_interval(now));
    }
}

impl<S: TeamQueries> Member<S> {
    /// Whether the calling thread is in an execution with intervals.
    #[inline]
    pub(crate) fn is_in(&self) -> bool {
        !self.execution.get().is_null()
    }

    /// The execution, unless the thread is in a region inside it: a serial one, or one without intervals.
    #[inline]
    fn innermost(&self) -> Option<&Execution<S>> {
        // SAFETY: `take_part` sets it to an execution that outlives the part.
        let execution = unsafe { self.execution.get().as_ref() }?;
        (execution.around.level() == self.level.get()).then_some(execution)
    }

    /// The thread enters a barrier of its team. `wait` returns when all threads have.
    #[inline]
    pub(crate) fn pass(&self, wait: impl FnOnce()) {
        let Some(execution) = self.innermost() else { return wait() };
        let next = self.epoch.get().wrapping_add(1);
        if self.thread.get() != 0 {
            wait();
            self.epoch.set(next);
            return;
        }
        let asks = execution.around.asks_for_number();
        // SAFETY: this is thread 0. The reference ends before the wait, which may run tasks.
        let run = unsafe { &mut *execution.run.get() };
        let width = floating::isolated(|| Some(run.decide(asks))).unwrap_or(self.threads.get());
        execution.ring.publish(next, width);
        wait();
        self.epoch.set(next);
        // SAFETY: as above.
        let run = unsafe { &mut *execution.run.get() };
        floating::isolated(|| run.passed(execution.around.now()));
    }

    /// The thread's share of a static loop whose call returns to `site`; `None` for the runtime's share.
    #[inline]
    pub(crate) fn share<T: Index>(
        &self,
        site: u64,
        iterations: Iterations<T>,
        division: impl FnOnce() -> Result<Division, Indivisible>,
        source: impl FnOnce() -> Option<String>,
    ) -> Option<Share<T>> {
        // SAFETY: as in `innermost`.
        let execution = unsafe { self.execution.get().as_ref() }?;
        let (thread, threads) = (self.thread.get(), self.threads.get());
        let width = execution.ring.read(self.epoch.get());
        if thread != 0 && width >= threads {
            return None;
        }
        let execution = self.innermost()?;
        let division = division().and_then(|division| match iterations.count() {
            Some(count) if count > u64::from(threads) => Ok(division),
            _ => Err(Indivisible::FewIterations),
        });
        if thread == 0 {
            // SAFETY: thread 0's, and nothing called here comes back.
            unsafe { &mut *execution.run.get() }.met(site, division, source);
        }
        let division = division.ok()?;
        if u32::from(width) <= thread {
            execution.around.idles();
        }
        (width < threads).then(|| iterations.share(division, thread, u32::from(width)))?
    }

    /// The thread begins a loop of which it fetches its iterations.
    #[inline]
    pub(crate) fn fetches(&self, site: u64, source: impl FnOnce() -> Option<String>) {
        if self.thread.get() != 0 {
            return;
        }
        if let Some(execution) = self.innermost() {
            // SAFETY: as in `share`.
            let run = unsafe { &mut *execution.run.get() };
            run.met(site, Err(Indivisible::Fetched), source);
        }
    }
}
