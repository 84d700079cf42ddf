//! The overhead budget: counts executions, and chooses those that are timed.

use std::ffi::c_void;
use std::ptr;

use crate::first_region;
use crate::function::Function;
use crate::process;
use crate::region::Region;
use crate::runtime::Runtime;
use crate::seen::Seen;
use crate::worker::Worker;

/// The ticks of an execution that is only counted, beyond the runtime's own: 23 ns of a TSC of 2.6 GHz in LULESH
/// at `-s 12`, which displaces the library's data (`docs/costs.md`).
const COUNTING: f64 = 60.0;
/// The part of the budget that timing has where counting takes the rest.
const LEAST: f64 = 0.25;

/// The calling thread and the runtime, if the execution is only counted. Counts it. The caller passes the call on
/// to the runtime, between the begin and the end of a start.
#[inline(always)]
pub(crate) fn only_counts(body: u64) -> Option<(&'static Worker, &'static Runtime)> {
    only_counts_at(|worker, _| worker.countdowns.place(body))
}

/// As [`only_counts`], with the runtime's `function`; `None` as well if another body has the same hash, or the
/// function was not looked up yet.
#[inline(always)]
pub(crate) fn only_counts_latest(
    body: u64,
    function: Function,
) -> Option<(&'static Worker, *mut c_void)> {
    let mut real = None;
    let (worker, _) = only_counts_at(|worker, runtime| {
        real = runtime.looked_up(function);
        real.and_then(|_| worker.countdowns.latest_place(body))
    })?;
    Some((worker, real?))
}

#[inline(always)]
fn only_counts_at(
    place: impl FnOnce(&Worker, &Runtime) -> Option<usize>,
) -> Option<(&'static Worker, &'static Runtime)> {
    let worker = Worker::known()?;
    let runtime = worker.counts_for.get()?;
    if !process::is_sampled_by_body() || worker.depth() > 0 {
        return None;
    }
    let is_only_counted = worker.counts_only(place(worker, runtime)?);
    is_only_counted.then_some((worker, runtime))
}

/// Chooses the next execution of the region that the thread times. The program called the present one
/// at `called`, and it took `ticks` with a team of `size`.
pub(super) fn choose_next(worker: &Worker, region: &Region, called: u64, ticks: u64, size: u32) {
    let budget = process::overhead_budget();
    let now = worker.now();
    // The time of this thread outside of the execution, and the library's own work in it. The members' parts
    // take as long again.
    let outside = now.saturating_sub(called).saturating_sub(ticks);
    let cost = outside * u64::from(size.min(2));
    let cost = cost + worker.waits.timed() * first_region::ticks_of_a_part();
    // Counting comes first: what it leaves of the budget, and a part in any case, is for timing.
    let elapsed = process::own(now).1 as f64;
    let counting = worker.counted.get() as f64 * COUNTING;
    let budget = (budget - counting / elapsed).max(LEAST * budget);
    // Half of it goes to any region, so that a program with few executions has all timed.
    let allowed = elapsed * budget * 0.5;
    let runtime = worker.counts_for.get().unwrap_or(region.runtime);
    worker.counts_for.set(Some(runtime));
    // A phase would lack the waits of executions inside of it that are only counted.
    let may_be_skipped = !(process::has_waits() && process::has_phases())
        && region.seen.get() & (Seen::NESTED | Seen::MPI) == 0
        && ptr::eq(runtime, region.runtime)
        && worker.can_count(region);
    let next = worker.rows.sample(region.number, |sampler| {
        let spent = worker.spent.get().saturating_add(sampler.timed(ticks, cost));
        worker.spent.set(spent);
        sampler.choose((may_be_skipped && spent as f64 > allowed).then_some(budget))
    });
    worker.counted.set(worker.counted.get().saturating_add(next.into()));
    worker.count_next(region, next);
}
