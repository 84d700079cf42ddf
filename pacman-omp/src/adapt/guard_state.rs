//! The guards' state of one region.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pacman_regions::{Guard, Guarded};

use crate::function::Function;
use crate::isolation::isolated;
use crate::module::Module;
use crate::once::once;

#[derive(Debug, Default)]
pub(crate) struct Guards {
    /// The executions that each guard decided.
    decided: [AtomicU64; Guard::ALL.len()],
    /// The program asked how many threads there may be, and then ran this region. Never undone.
    pinned: AtomicBool,
    /// See [`tells_threads_apart`](Guards::tells_threads_apart).
    numbers: OnceLock<bool>,
}

impl Guards {
    /// The program asked how many threads there may be right before it ran the region.
    pub(super) fn pin(&self) {
        self.pinned.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_pinned(&self) -> bool {
        self.pinned.load(Ordering::Relaxed)
    }

    /// Guard number `guard` decided an execution.
    pub(super) fn count(&self, guard: u32) {
        self.decided[guard as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the module of `body` may ask for the numbers of its threads.
    ///
    /// A program that set the number of threads may keep data for each, and needs the numbers to get at
    /// the data. GCC's own static loops ask for numbers as well; the two questions look the same.
    #[cold]
    pub(super) fn tells_threads_apart(&self, body: u64) -> bool {
        *once(&self.numbers, || isolated(|| Module::imports(body, Function::tells_threads_apart)))
    }

    /// The guards that acted, and what they saw.
    pub(super) fn acted(&self) -> Vec<Guarded> {
        let acted = Guard::ALL.iter().filter_map(|guard| {
            let executions = self.decided[*guard as usize].load(Ordering::Relaxed);
            let guarded =
                Guarded { guard: guard.to_string(), why: why(*guard).to_owned(), executions };
            (executions > 0).then_some(guarded)
        });
        acted.collect()
    }
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
