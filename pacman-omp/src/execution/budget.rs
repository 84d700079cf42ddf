//! The overhead budget: counts executions, and chooses those whose threads are timed.

use std::ffi::c_void;
use std::ptr;

use pacman_regions::arena;

use crate::first_region;
use crate::function::Function;
use crate::process;
use crate::region::Region;
use crate::runtime::Runtime;
use crate::sampling::Timed;
use crate::seen::Seen;
use crate::worker::Worker;

/// The ticks of an execution that is not timed, beyond the runtime's own: 50 where nothing leaves the cache, and more
/// where the program displaces the library's data (`docs/costs.md`).
const COUNTING: f64 = 80.0;
/// The part of the budget that timing has where counting takes the rest.
const LEAST: f64 = 0.25;

/// An execution whose threads are not timed. Its own time is measured on the thread that starts it.
#[must_use]
pub(crate) struct Untimed {
    worker: &'static Worker,
    record: &'static arena::Untimed,
    begun: u64,
}

impl Untimed {
    /// The team has ended: adds the execution.
    #[inline(always)]
    pub(crate) fn end(self) {
        self.worker.end_untimed(self.record, self.begun);
    }
}

/// Begins the execution if it is not timed. The caller passes the call on to the runtime, and then ends it.
#[inline(always)]
pub(crate) fn untimed(body: u64) -> Option<(Untimed, &'static Runtime)> {
    let (worker, runtime, place) = untimed_at(|worker, _| worker.countdowns.place(body))?;
    Some((begin(worker, place), runtime))
}

/// As [`untimed`], with the runtime's `function`; `None` as well if another body has the same hash, or the
/// function was not looked up yet.
#[inline(always)]
pub(crate) fn untimed_latest(body: u64, function: Function) -> Option<(Untimed, *mut c_void)> {
    let mut real = None;
    let (worker, _, place) = untimed_at(|worker, runtime| {
        real = runtime.looked_up(function);
        real.and_then(|_| worker.countdowns.latest_place(body))
    })?;
    Some((begin(worker, place), real?))
}

#[inline(always)]
fn begin(worker: &'static Worker, place: usize) -> Untimed {
    let record = worker.begin_untimed(place);
    Untimed { worker, record, begun: worker.now() }
}

#[inline(always)]
fn untimed_at(
    place: impl FnOnce(&Worker, &Runtime) -> Option<usize>,
) -> Option<(&'static Worker, &'static Runtime, usize)> {
    let worker = Worker::known()?;
    let runtime = worker.counts_for.get()?;
    if !process::plan().samples_by_body() || worker.depth() > 0 || worker.is_untimed() {
        return None;
    }
    let place = worker.untimed_at(place(worker, runtime))?;
    Some((worker, runtime, place))
}

/// Chooses the next execution of the region that the thread times. The program called the present one
/// at `called`. It began `since` ticks after the start of the process, and took `ticks` with a team of `threads`.
pub(crate) fn choose_next(
    worker: &Worker,
    region: &Region,
    called: u64,
    since: u64,
    ticks: u64,
    threads: u32,
) {
    let budget = process::options().overhead.map_or(1.0, |budget| budget.part());
    let now = worker.now();
    // The time of this thread outside of the execution, and the library's own work in it.
    let beside = now.saturating_sub(called).saturating_sub(ticks);
    let beside = beside + worker.waits.timed() * first_region::ticks_of_a_part();
    // Counting comes first: what it leaves of the budget, and a part in any case, is for timing.
    let elapsed = process::own(now).1 as f64;
    let counting = worker.counted.get() as f64 * COUNTING;
    let budget = (budget - counting / elapsed).max(LEAST * budget);
    // Half of it goes to any region, so that a program with few executions has all timed.
    let allowed = elapsed * budget * 0.5;
    let runtime = worker.counts_for.get().unwrap_or(region.runtime);
    worker.counts_for.set(Some(runtime));
    // A phase would lack the waits of executions inside of it that are not timed.
    let may_be_skipped = !(process::plan().times_waits() && process::has_phases())
        && region.seen.get() & (Seen::NESTED | Seen::MPI) == 0
        && ptr::eq(runtime, region.runtime)
        && worker.can_count(region);
    let timed = Timed { ticks, beside, untimed: worker.untimed(region), since, threads };
    let (mut cost, mut limit, mut before) = (0, 0, None);
    let next = worker.rows.sample(region.number, |sampler| {
        before = sampler.before(&timed);
        cost = sampler.timed(&timed);
        limit = sampler.limit();
        let spent = worker.spent.get().saturating_add(cost);
        worker.spent.set(spent);
        sampler.choose((may_be_skipped && spent as f64 > allowed).then_some(budget))
    });
    if let Some((ticks, times)) = before {
        worker.rows.put_untimed(region.number, times, ticks);
    }
    worker.rows.set_cost(region.number, cost);
    worker.counted.set(worker.counted.get().saturating_add(next.into()));
    worker.count_next(region, next, limit);
}
