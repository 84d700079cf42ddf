//! A member's part in a team.

use std::ptr;

use pacman_regions::RuntimeFamily;
use pacman_regions::arena::Nested;

use crate::counting::Counting;
use crate::function::Function;
use crate::packing;
use crate::process;
use crate::region::Region;
use crate::rows;
use crate::seen::Seen;
use crate::team::{AdaptedRun, Team, UNKNOWN, mode};
use crate::waits::{Company, PartKey};
use crate::worker::{PartStart, Worker, waits};

impl Team {
    /// Runs a member's part; `number` answers its number in the team.
    ///
    /// # Safety
    /// `MODE` must be the team's, one of [`mode`].
    #[inline(always)]
    pub(crate) unsafe fn take_part<const MODE: u8>(
        &self,
        (worker, counting): (&Worker, impl Counting),
        number: impl FnOnce() -> u32,
        body: impl FnOnce(),
    ) {
        // SAFETY: an observed team has one.
        let region = unsafe { self.region.unwrap_unchecked() };
        let is_primary = self.is_primary(worker);
        let thread = if is_primary {
            self.own.size.set(self.runtime.ask_or(Function::omp_get_num_threads, 1));
            0
        } else if self.primary.is_null() {
            self.number_in_league()
        } else {
            number()
        };
        if MODE == mode::ADAPTED {
            return self.adapted(region, (worker, counting), thread, body);
        }
        if MODE == mode::PACKED {
            packing::take_part(&worker.crew, thread, rows::cpu);
        }
        let mut begun = self.begin::<MODE>(region, (worker, counting), is_primary);
        let may_wait = MODE == mode::SAMPLED || MODE == mode::TRACED || MODE == mode::ROTATING;
        if MODE == mode::WAITS || may_wait && process::plan().times_waits() {
            let starting = begun.since(self.own.begun.get());
            let counters = begun.counters();
            // A reading of the processor clock takes longer than a short part.
            begun.later(waits::part(worker, self.key(region, thread), starting, counters, body));
        } else {
            if may_wait {
                worker.opens_part(region.number, thread, begun.at());
            }
            body();
        }
        self.end::<MODE>(&begun, region, worker, thread);
    }

    /// A member's part in an adapted team.
    #[inline(always)]
    fn adapted(
        &self,
        region: &Region,
        (worker, counting): (&Worker, impl Counting),
        thread: u32,
        body: impl FnOnce(),
    ) {
        // SAFETY: on the stack of the primary thread until all members are done.
        let AdaptedRun { choice, time } = unsafe { &*self.adapted.get() };
        if self.own.depth == 0 {
            let places = choice.places.as_ref();
            worker.binding.bind(places.and_then(|places| places.get(thread as usize)));
            if let Some(affinity) = &choice.affinity {
                worker.affinities.take_part(affinity, thread);
            }
        }
        let is_primary = self.is_primary(worker);
        let mut begun = self.begin::<{ mode::ADAPTED }>(region, (worker, counting), is_primary);
        if choice.measures_waits {
            worker.useful.begin(worker.depth(), || worker.now());
        }
        body();
        let measured = choice.measures_waits.then(|| {
            let time = worker.useful.end(|| worker.now());
            begun.later(worker.useful.own_work());
            time
        });
        let ticks = self.end::<{ mode::ADAPTED }>(&begun, region, worker, thread);
        if choice.wants_busy {
            time.busy_for(ticks);
            if let Some(measured) = measured {
                time.measured(measured);
            }
        }
    }

    /// The part of number `thread`, for its waits.
    pub(super) fn key(&self, region: &Region, thread: u32) -> PartKey {
        let (team, weight) = (ptr::from_ref(self).addr(), self.weight());
        let company = Company {
            // Number 0 has set the size, and others have company.
            is_team: thread > 0 || self.own.size.get() > 1,
            is_nested: self.own.depth > 0,
            yields: self.runtime.family == RuntimeFamily::Libomp,
        };
        PartKey { team, region: region.number, thread, weight, company }
    }

    /// Whether `worker` is the team's primary thread.
    #[inline(always)]
    fn is_primary(&self, worker: &Worker) -> bool {
        ptr::eq(ptr::from_ref(worker).cast(), self.primary)
    }

    /// Begins a part. In a team of one the body and the region begin and end together, so two clock
    /// readings do instead of four. A reading costs more than everything else here.
    #[inline(always)]
    fn begin<const MODE: u8>(
        &self,
        region: &Region,
        (worker, counting): (&Worker, impl Counting),
        is_primary: bool,
    ) -> PartStart {
        worker.team.set(self);
        if MODE == mode::ROTATING {
            return worker.begin_in_set(region);
        }
        let alone = is_primary && self.own.size.get() == 1;
        worker.begin_counted(counting, alone.then(|| self.own.begun.get()))
    }

    /// Ends a part; answers its ticks.
    #[inline(always)]
    fn end<const MODE: u8>(
        &self,
        begun: &PartStart,
        region: &Region,
        worker: &Worker,
        thread: u32,
    ) -> u64 {
        // Remaining tasks run after the body.
        let alone = begun.is_shared() && worker.seen() & Seen::TASKS == 0;
        let ticks = match MODE {
            mode::SAMPLED => worker.end_weighted(begun, region, thread, self.weight()),
            mode::OBSERVED | mode::WAITS | mode::PACKED => worker.end(begun, region, thread),
            // In other modes a team that is within another one of its region has the same body.
            _ if self.is_within() => worker.end_weighted(begun, region, thread, 0),
            mode::TRACED => worker.end_logged(begun, region, thread),
            mode::ROTATING => worker.end_in_set(begun, region, thread),
            _ => worker.end(begun, region, thread),
        };
        if alone {
            self.own.ticks.set(ticks);
        }
        ticks
    }

    /// The team has ended: enters the execution in the rows.
    #[inline(always)]
    pub(super) fn enter(
        &self,
        region: &Region,
        worker: &Worker,
        (since, ticks): (u64, u64),
        nested: impl FnOnce() -> Nested,
    ) {
        let (region, size) = (region.number, self.own.size.get());
        worker.rows.enter((region, || worker.starter()), since, ticks, size, nested);
    }

    /// As [`enter`](Self::enter), for an execution inside no other region that stands for as many as its
    /// weight says.
    pub(super) fn enter_weighted(&self, region: &Region, worker: &Worker, since: u64, ticks: u64) {
        let (size, weight) = (self.own.size.get(), self.weight());
        let region = (region.number, || worker.starter());
        worker.rows.enter_weighted(region, since, ticks, size, weight);
    }

    /// The ticks from the start of the process to the execution, and those of the execution.
    #[inline(always)]
    pub(super) fn time(&self, worker: &Worker) -> (u64, u64) {
        let (begun, since) = process::own(self.own.begun.get());
        let ticks = match self.own.ticks.get() {
            UNKNOWN => worker.now().saturating_sub(begun),
            ticks => ticks,
        };
        (since, ticks)
    }

    /// Takes the library's own work in the primary thread's part out of the execution, which has ended.
    pub(super) fn leave_out_own_work(&self, worker: &Worker) {
        self.own.begun.set(self.own.begun.get() + worker.waits.own_work());
    }

    /// The number of the calling thread's team in a league. No member of a league is the thread that
    /// started it.
    #[cold]
    fn number_in_league(&self) -> u32 {
        let number = self.runtime.ask_or(Function::omp_get_team_num, 0);
        if number == 0 {
            self.own.size.set(self.runtime.ask_or(Function::omp_get_num_teams, 1));
        }
        number
    }
}
