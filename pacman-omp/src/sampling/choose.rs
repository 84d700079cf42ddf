//! What observing an execution has cost, and the choice of the next one.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::process;
use crate::worker::Worker;

/// An observed execution.
pub(crate) struct Observing {
    /// The time of the program's call, in ticks.
    pub(crate) called: u64,
    /// The ticks of the execution.
    pub(crate) ticks: u64,
    /// Those of the executions that it stands for.
    pub(crate) represented: u64,
    /// The timed waits of the primary thread.
    pub(crate) waits: u64,
    /// The library need not see every execution.
    pub(crate) may_skip: bool,
}

/// The ticks of a begin and an end; a timed wait costs about as much.
static BEGIN_AND_END: AtomicU64 = AtomicU64::new(0);

/// Sets the measured ticks of a begin and an end.
pub(crate) fn set_begin_and_end(ticks: u64) {
    BEGIN_AND_END.store(ticks, Ordering::Relaxed);
}

/// Chooses the next execution of the region that the thread observes.
pub(crate) fn choose_next(worker: &Worker, region: u32, observing: &Observing) {
    let budget = process::overhead_budget();
    let now = worker.now();
    let outside = now.saturating_sub(observing.called).saturating_sub(observing.ticks);
    let waits = observing.waits * BEGIN_AND_END.load(Ordering::Relaxed);
    let cost = outside * UNSEEN + waits;
    let spent = worker.spent.add(cost);
    // Half of the budget goes to any region, so that a program with few executions has all observed.
    let allowed = process::own(now).1 as f64 * budget * 0.5;
    let may_skip = observing.may_skip && spent as f64 > allowed;
    worker.rows.sample(region, |sampler| {
        sampler.observed(observing.represented, cost, may_skip.then_some(budget))
    });
}

/// The cost of observing in units of the time that the primary thread takes outside of the execution.
/// The members' parts take as long again.
const UNSEEN: u64 = 2;
