//! One execution of a region with intervals, and the threads that take part in it.

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
    /// It has run often enough to be known for one without a time loop inside.
    left_alone: AtomicBool,
}

/// What an execution asks of the runtime and of the rest of the library.
pub(crate) trait TeamQueries: Sync {
    /// How many regions the calling thread is inside of, of one thread or more.
    fn level(&self) -> i32;
    /// How many threads its team has.
    fn threads(&self) -> u32;
    /// Whether the region was seen to ask for its thread's number, as far as this thread knows.
    fn asks_for_number(&self) -> bool;
    /// Ticks of the clock.
    fn now(&self) -> u64;
    /// The calling thread gets nothing and will wait at the next barrier.
    fn idles(&self);
}

/// One execution of a region: lives on the stack of the thread that starts the team, for longer
/// than any member's part.
pub(crate) struct Execution<S> {
    ring: Ring,
    run: UnsafeCell<RegionRun<'static, Locked<'static, BarrierIntervals>>>,
    around: S,
}

// SAFETY: the ring is for all members; the course is touched by the team's thread 0 while the
// team runs, and by the thread that started it (the same one) before and after.
unsafe impl<S: Sync> Sync for Execution<S> {}

impl Loops {
    /// Begins an execution; `None` if another one of this region is under way, which alone is
    /// adapted then. `refused` says why nothing may be adapted.
    pub(crate) fn begin<S: TeamQueries>(
        &'static self,
        setup: &'static Setup,
        refused: Option<&'static str>,
        around: S,
    ) -> Option<Execution<S>> {
        // ATOMICS: nothing hangs on it but whether anybody looks.
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

    /// Whether they repeat too seldom to be looked at.
    #[inline]
    pub(crate) fn are_left_alone(&self) -> bool {
        self.left_alone.load(Ordering::Relaxed)
    }

    /// Whether intervals are adapted one by one, so that the team had better keep its size.
    pub(crate) fn adapt(&self) -> bool {
        !self.left_alone.load(Ordering::Relaxed)
            && self.intervals.try_lock().is_some_and(|intervals| intervals.adapts())
    }

    /// For the recording; `place` names an address. Nothing while an execution is under way.
    pub(crate) fn recorded(&self, place: impl Fn(u64) -> String) -> Vec<pacman_regions::Loop> {
        self.intervals.try_lock().map_or_else(Vec::new, |intervals| intervals.recorded(place))
    }
}

/// The calling thread's part in the innermost execution that has intervals.
pub(crate) struct Member<S: 'static> {
    execution: Cell<*const Execution<S>>,
    thread: Cell<u32>,
    threads: Cell<u16>,
    level: Cell<i32>,
    /// Barriers passed in this execution.
    epoch: Cell<u32>,
}

impl<S> Member<S> {
    /// In none.
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

/// Puts back what was there around an execution, also when the body is left by unwinding.
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
    /// The calling thread does its part, as number `thread` of the team.
    pub(crate) fn take_part(&self, member: &Member<S>, thread: u32, body: impl FnOnce()) {
        let threads = u16::try_from(self.around.threads()).unwrap_or(u16::MAX);
        if thread == 0 {
            // SAFETY: this is the team's thread 0, and the reference ends here.
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

    /// The team has ended; what ran since its last barrier has, too.
    pub(crate) fn end(self) {
        let now = self.around.now();
        let mut run = self.run.into_inner();
        floating::isolated(|| run.end_interval(now));
    }
}

impl<S: TeamQueries> Member<S> {
    /// Whether the calling thread is in an execution with intervals at all.
    #[inline]
    pub(crate) fn is_in(&self) -> bool {
        !self.execution.get().is_null()
    }

    /// The execution, unless the thread is in another region inside of it: one that the runtime
    /// serialised, or that has no intervals.
    #[inline]
    fn innermost(&self) -> Option<&Execution<S>> {
        // SAFETY: set by `take_part` to an execution that outlives the part.
        let execution = unsafe { self.execution.get().as_ref() }?;
        (execution.around.level() == self.level.get()).then_some(execution)
    }

    /// The thread enters a barrier of its team; `wait` returns when all have.
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
        // SAFETY: thread 0's; the reference ends before the wait, in which it may run tasks.
        let run = unsafe { &mut *execution.run.get() };
        let width = floating::isolated(|| run.decide(asks));
        execution.ring.publish(next, width);
        wait();
        self.epoch.set(next);
        // SAFETY: as above.
        let run = unsafe { &mut *execution.run.get() };
        floating::isolated(|| run.passed(execution.around.now()));
    }

    /// The thread begins a static loop whose call returns to `site`: its share, if that is not
    /// the runtime's.
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
