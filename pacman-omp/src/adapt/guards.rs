//! When a region keeps the threads that the program would have without this library.
//!
//! A narrower team is the runtime's right only where a program cannot tell. Each guard is a way
//! in which programs do tell, found in programs that break: LULESH sizes arrays with
//! `omp_get_max_threads` and sums over all of them, NAS IS divides keys by hand, threadprivate
//! data must be where the thread of that number left it.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use pacman_regions::{Guard, Guarded};

use crate::fork;
use crate::function::Function;
use crate::isolation::isolated;
use crate::module::Module;
use crate::process;
use crate::region::{Region, Seen};
use crate::worker::Worker;

/// What guards did for one region.
#[derive(Debug, Default)]
pub(crate) struct Guards {
    /// How many executions each decided.
    decided: [AtomicU64; Guard::ALL.len()],
    /// What is never undone: see [`PINNED`].
    pinned: AtomicU32,
    /// See [`tells_threads_apart`](Guards::tells_threads_apart).
    numbers: OnceLock<bool>,
}

/// The program asked how many threads there may be, and then ran this region.
const PINNED: u32 = 1;

/// Guards that the user has switched off, a bit each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifted(u32);

impl Lifted {
    /// Those of the list.
    pub(crate) fn of(guards: &BTreeSet<Guard>) -> Lifted {
        Lifted(guards.iter().fold(0, |all, &guard| all | bit(guard, true)))
    }
}

#[inline(always)]
fn bit(guard: Guard, acts: bool) -> u32 {
    u32::from(acts) << guard as u32
}

impl Guards {
    /// Takes what the program has done for this region alone: it pins the region if it asked how
    /// many threads there may be, or decided it and could tell them apart; whether it has said how
    /// many it gets.
    #[inline]
    pub(crate) fn take(&self, region: &Region, worker: &Worker) -> bool {
        if worker.depth() == 0 {
            let (asked, decided) = (process::take_asked(), process::take_decided());
            if asked || (decided && self.tells_threads_apart(region)) {
                self.pinned.store(PINNED, Ordering::Relaxed);
            }
        }
        worker.take_pushed()
    }

    /// Whether the region's module may ask for the numbers of its threads. Who has decided how many
    /// there are may keep data for each; without numbers there is no way to it. GCC's own static
    /// loops ask for numbers, and nobody can tell whose question that is.
    #[cold]
    fn tells_threads_apart(&self, region: &Region) -> bool {
        *fork::once(&self.numbers, || {
            isolated(|| Module::imports(region.body, Function::tells_threads_apart))
        })
    }

    /// Whether the next execution must be as the program has it, for another reason than those in
    /// `lifted`.
    #[inline]
    pub(crate) fn forbid(
        &self,
        lifted: Lifted,
        region: &Region,
        worker: &Worker,
        entry: Function,
        threads: u32,
    ) -> bool {
        let pushed = self.take(region, worker);
        let seen = region.seen.get();
        let saw = |bits: u32| seen & bits != 0;
        let llvm = is_llvms(entry);
        // GCC's static loops ask for both numbers, and a question of the program's own after that is
        // the same call. It does harm only beside data that is kept by thread.
        let both = saw(Seen::BOTH_NUMBERS);
        // Before its first execution nothing is known, and nothing is chosen either.
        let looked = both || saw(Seen::SHARES) || shares_by_itself(entry);
        let nested = worker.depth() > 0 || saw(Seen::NESTED) || entry == Function::GOMP_teams_reg;
        let data = region.module.thread_local > 0 || process::has_data_by_thread();
        let acting = bit(Guard::NumThreads, threads != 0 || pushed)
            | bit(Guard::Nested, nested || process::has_teams())
            | bit(Guard::TaskDepend, saw(Seen::TASK_DEPEND))
            | bit(Guard::Query, self.pinned.load(Ordering::Relaxed) != 0 || saw(Seen::QUERY))
            | bit(Guard::ThreadNumber, saw(Seen::THREAD_NUMBER))
            | bit(Guard::ThreadNumber, both && (llvm || process::has_asked()))
            | bit(Guard::ThreadLocal, data)
            | bit(Guard::Replicated, !looked && region.adapted.has_run());
        let acting = acting & !lifted.0;
        if acting == 0 {
            return false;
        }
        self.decided[acting.trailing_zeros() as usize].fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Those that acted, and what they saw.
    pub(crate) fn acted(&self) -> Vec<Guarded> {
        let acted = Guard::ALL.iter().filter_map(|guard| {
            let executions = self.decided[*guard as usize].load(Ordering::Relaxed);
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
        Guard::Query => {
            "the program asked or said how many threads there may be, right before it or in it"
        }
        Guard::ThreadNumber => {
            "its body asks for its thread's number, and may keep something by it for later"
        }
        Guard::Replicated => "it shares no work out: each of its members does all of it",
        Guard::ThreadLocal => {
            "its module has thread-local data, which may live from region to region"
        }
    }
}
