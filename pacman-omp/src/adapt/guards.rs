//! Guards: when a region keeps the threads that the program would have without this library.
//!
//! A smaller team is allowed only where a program cannot notice it. Each guard is a way in which
//! programs do notice, found in programs that break. LULESH sizes arrays with `omp_get_max_threads`
//! and sums over all of them. NAS IS divides keys by hand. Threadprivate data must stay with the
//! thread of their number.

use std::collections::BTreeSet;

use pacman_regions::Guard;

use crate::function::Function;
use crate::program;
use crate::region::Region;
use crate::seen::Seen;
use crate::worker::Worker;

/// Guards that the user has switched off, one bit each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifted(u32);

impl Lifted {
    pub(crate) fn of(guards: &BTreeSet<Guard>) -> Lifted {
        Lifted(guards.iter().fold(0, |all, &guard| all | bit(guard, true)))
    }
}

#[inline(always)]
fn bit(guard: Guard, acts: bool) -> u32 {
    u32::from(acts) << guard as u32
}

/// Takes the program's requests for this region alone. Pins the region if the program asked for the
/// number of threads. Also pins it if the program set the number and can tell threads apart.
///
/// Answers whether the program requested a team size for this region.
#[inline]
pub(super) fn take(region: &Region, worker: &Worker) -> bool {
    if worker.depth() == 0 {
        let guards = &region.adapted.guards;
        let (asked, decided) = (program::take_asked(), program::take_decided());
        if asked || (decided && guards.tells_threads_apart(region.body())) {
            guards.pin(program::latest_query());
        }
    }
    worker.take_pushed()
}

/// Whether a guard that is not `lifted` keeps the next execution as the program has it.
#[inline]
pub(super) fn forbid(
    lifted: Lifted,
    region: &Region,
    worker: &Worker,
    entry: Function,
    threads: u32,
) -> bool {
    let guards = &region.adapted.guards;
    let pushed = take(region, worker);
    let seen = region.seen.get();
    let saw = |bits: u32| seen & bits != 0;
    let llvm = is_llvms(entry);
    // GCC's static loops ask for both numbers. A later question of the program is the same call, and
    // harmful only beside data that the program keeps by thread.
    let both = saw(Seen::BOTH_NUMBERS);
    let only_shares = only_shares(region);
    // Before the first execution nothing is known; `choose` then leaves the team as it is.
    let looked = both || saw(Seen::SHARES) || shares_by_itself(entry);
    let nested = worker.depth() > 0 || saw(Seen::NESTED) || entry == Function::GOMP_teams_reg;
    let data = region.module.thread_local > 0 || program::has_data_by_thread();
    let acting = bit(Guard::NumThreads, threads != 0 || pushed)
        | bit(Guard::Nested, nested || program::has_teams())
        | bit(Guard::TaskDepend, saw(Seen::TASK_DEPEND))
        | bit(Guard::Query, guards.is_pinned() && !only_shares || saw(Seen::QUERY))
        | bit(Guard::ThreadNumber, saw(Seen::THREAD_NUMBER))
        | bit(Guard::ThreadNumber, both && (llvm || program::has_asked()))
        | bit(Guard::ThreadLocal, data)
        | bit(Guard::Replicated, !looked && region.adapted.has_run());
    let acting = acting & !lifted.0;
    if acting == 0 {
        return false;
    }
    guards.count(acting.trailing_zeros());
    true
}

/// The number of threads that the program asks for. It is 0 if the request changes nothing: the region would get as
/// many anyway, and nobody can count them.
#[inline(always)]
pub(super) fn asked_for(region: &Region, worker: &Worker, threads: u32) -> u32 {
    if threads != 0 && is_usual(region, worker, threads) { 0 } else { threads }
}

#[inline(never)]
fn is_usual(region: &Region, worker: &Worker, threads: u32) -> bool {
    worker.depth() == 0 && only_shares(region) && worker.pool.usual(region.runtime) == Some(threads)
}

/// Whether all questions of the body were proved to divide static loops, and a thread does nothing else. So the region
/// cannot find data by its threads' numbers, and nobody can count its threads.
#[inline]
fn only_shares(region: &Region) -> bool {
    let seen = region.seen.get();
    let saw = |bits: u32| seen & bits != 0;
    saw(Seen::STATIC_LOOP) && !saw(Seen::QUESTIONS) && region.adapted.guards.does_only_shares()
}

/// Whether clang made the body: its loops ask the runtime for shares, not for numbers.
pub(super) fn is_llvms(entry: Function) -> bool {
    matches!(entry, Function::__kmpc_fork_call | Function::__kmpc_fork_call_if)
}

/// Whether a region of this entry is a single loop or list of sections.
fn shares_by_itself(entry: Function) -> bool {
    entry != Function::GOMP_parallel && !is_llvms(entry)
}
