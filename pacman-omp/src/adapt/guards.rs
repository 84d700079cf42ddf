//! When a region keeps the threads that the program would have without this library.
//!
//! A narrower team is the runtime's right only where a program cannot tell. Each guard is a way
//! in which programs do tell, found in programs that break: LULESH sizes arrays with
//! `omp_get_max_threads` and sums over all of them, NAS IS divides keys by hand, threadprivate
//! data must be where the thread of that number left it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use pacman_regions::{Guard, Guarded};

use crate::process;
use crate::region::{Region, Seen};
use crate::runtime::Function;
use crate::worker::Worker;

/// What guards did for one region.
#[derive(Debug, Default)]
pub(crate) struct Guards {
    /// How many executions each decided, in the order of [`Guard::ALL`].
    decided: [AtomicU64; Guard::ALL.len()],
    /// What is never undone: see [`PINNED`].
    pinned: AtomicU32,
}

/// The program asked how many threads there may be, and then ran this region.
const PINNED: u32 = 1;

impl Guards {
    /// Whether the next execution must be as the program has it.
    pub(crate) fn forbid(
        &self,
        region: &Region,
        worker: &Worker,
        entry: Function,
        threads: u32,
    ) -> bool {
        // All are looked at, so that what is asked once is not taken for the next region's.
        let pushed = worker.take_pushed();
        if worker.depth() == 0 && process::take_asked() {
            self.pinned.store(PINNED, Ordering::Relaxed);
        }
        let seen = region.seen.get();
        let acts = |guard: &Guard| match guard {
            Guard::NumThreads => threads != 0 || pushed,
            Guard::Nested => {
                worker.depth() > 0
                    || seen & Seen::NESTED != 0
                    || entry == Function::GOMP_teams_reg
                    || process::has_teams()
            }
            Guard::TaskDepend => seen & Seen::TASK_DEPEND != 0,
            Guard::Query => self.pinned.load(Ordering::Relaxed) != 0 || seen & Seen::QUERY != 0,
            // GCC's static loops ask for both numbers, and a question of the program's own after
            // that is the same call. It does harm only beside data that is kept by thread.
            Guard::ThreadNumber => {
                seen & Seen::THREAD_NUMBER != 0
                    || (seen & Seen::BOTH_NUMBERS != 0 && (is_llvms(entry) || process::has_asked()))
            }
            Guard::ThreadLocal => region.module.thread_local > 0 || process::has_data_by_thread(),
            Guard::Replicated => {
                // Before its first execution nothing is known, and nothing is chosen either.
                let looked = seen & (Seen::SHARES | Seen::BOTH_NUMBERS) != 0;
                !looked && !shares_by_itself(entry) && region.adapted.has_run()
            }
        };
        let lifted = &process::wishes().lifted;
        let acting = Guard::ALL.iter().position(|guard| acts(guard) && !lifted.contains(guard));
        if let Some(number) = acting {
            self.decided[number].fetch_add(1, Ordering::Relaxed);
        }
        acting.is_some()
    }

    /// Those that acted, and what they saw.
    pub(crate) fn acted(&self) -> Vec<Guarded> {
        let all = Guard::ALL.iter().zip(&self.decided);
        let acted = all.filter_map(|(guard, decided)| {
            let executions = decided.load(Ordering::Relaxed);
            let guarded =
                Guarded { guard: guard.to_string(), why: why(*guard).to_owned(), executions };
            (executions > 0).then_some(guarded)
        });
        acted.collect()
    }
}

/// clang's bodies: their loops ask the runtime for shares, not for numbers.
fn is_llvms(entry: Function) -> bool {
    matches!(entry, Function::__kmpc_fork_call | Function::__kmpc_fork_call_if)
}

/// Entries of regions that are a single loop or list of sections.
fn shares_by_itself(entry: Function) -> bool {
    entry != Function::GOMP_parallel && !is_llvms(entry)
}

fn why(guard: Guard) -> &'static str {
    match guard {
        Guard::NumThreads => "the program itself says how many threads it gets",
        Guard::Nested => "it is inside another region, has regions inside, or is a league of teams",
        Guard::TaskDepend => "its tasks depend on each other",
        Guard::Query => "the program asked how many threads there may be, right before it or in it",
        Guard::ThreadNumber => {
            "its body asks for its thread's number, and may keep something by it for later"
        }
        Guard::Replicated => "it shares no work out: each of its members does all of it",
        Guard::ThreadLocal => {
            "its module has thread-local data, which may live from region to region"
        }
    }
}
