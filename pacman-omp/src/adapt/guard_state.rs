//! The guards' state of one region.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pacman_regions::{Guard, Guarded, Site};
use try_lock::TryLock;

use crate::code::Unproved;
use crate::function::Function;
use crate::interpose::is_own;
use crate::isolation::isolated;
use crate::module::Module;
use crate::once::once;
use crate::seen::Seen;

#[derive(Debug, Default)]
pub(crate) struct Guards {
    /// The executions that each guard decided.
    decided: [AtomicU64; Guard::ALL.len()],
    /// The program asked how many threads there may be, and then ran this region. Never undone.
    pinned: AtomicBool,
    /// The first question for numbers in the body, and the first question how many threads there may be.
    /// Their modules may be gone when the recording ends.
    number_at: OnceLock<Option<Site>>,
    query_at: OnceLock<Option<Site>>,
    /// It is proved that others notice nothing of a thread without iterations.
    only_shares: AtomicBool,
    /// The examination of the machine code of the body; see `questions`.
    examined: TryLock<Option<Examined>>,
    /// See [`tells_threads_apart`](Guards::tells_threads_apart).
    numbers: OnceLock<bool>,
}

/// The answer of an examination.
#[derive(Debug)]
struct Examined {
    /// The address of the body then: the answers for its calls are of no use elsewhere.
    body: u64,
    /// The reason why its questions for numbers are not proved to divide loops, with its place in the
    /// symbol table of the module.
    unproved: Option<(&'static str, u64)>,
}

impl Guards {
    /// The machine code of the body is loaded again, perhaps elsewhere.
    pub(super) fn is_loaded_again(&self) {
        if let Some(mut examined) = self.examined.try_lock() {
            *examined = None;
        }
    }

    /// Examines the machine code of the body, unless that is done. The caller holds [`MAKING`].
    pub(super) fn examine(&self, body: u64, bias: u64, examine: impl FnOnce() -> Option<Unproved>) {
        // The record of the region may be written at this instant, without the answer.
        let Some(mut examined) = self.examined.try_lock() else { return };
        if examined.as_ref().is_none_or(|known| known.body != body) {
            let unproved = examine().map(|unproved| (unproved.why, unproved.at.wrapping_sub(bias)));
            *examined = Some(Examined { body, unproved });
        }
    }

    /// The program asked how many threads there may be right before it ran the region. The call returns
    /// to `at`; 0 if that is unknown.
    pub(super) fn pin(&self, at: u64) {
        self.pinned.store(true, Ordering::Relaxed);
        first(&self.query_at, at);
    }

    /// The body asked what `seen` says. Its latest question returns to `at`; 0 if that is unknown.
    pub(super) fn asked(&self, seen: u32, at: u64) {
        if seen & Seen::QUERY == 0 {
            first(&self.number_at, at);
        } else if seen & (Seen::THREAD_NUMBER | Seen::BOTH_NUMBERS) == 0 {
            first(&self.query_at, at);
        }
    }

    pub(super) fn is_pinned(&self) -> bool {
        self.pinned.load(Ordering::Relaxed)
    }

    /// The machine code of the body is proved to do nothing in threads without iterations, or not.
    pub(super) fn set_only_shares(&self, proved: bool) {
        self.only_shares.store(proved, Ordering::Relaxed);
    }

    pub(super) fn does_only_shares(&self) -> bool {
        self.only_shares.load(Ordering::Relaxed)
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
            let (guard_name, mut why) = (guard.to_string(), why(*guard).to_owned());
            let examined = self.examined.try_lock();
            let unproved = examined.as_ref().and_then(|known| known.as_ref()?.unproved);
            if let (Guard::ThreadNumber, Some((unproved, offset))) = (guard, unproved) {
                why += &format!("; {unproved} ({offset:#x})");
            }
            let at = match guard {
                Guard::Query => self.query_at.get(),
                Guard::ThreadNumber => self.number_at.get(),
                _ => None,
            };
            let at = at.cloned().flatten();
            let guarded = Guarded { guard: guard_name, why, executions, at };
            (executions > 0).then_some(guarded)
        });
        acted.collect()
    }
}

/// Keeps the first call.
fn first(place: &OnceLock<Option<Site>>, at: u64) {
    if at != 0 && place.get().is_none() {
        once(place, || isolated(|| site(at)));
    }
}

/// The call that returns to `at`.
fn site(at: u64) -> Option<Site> {
    let call = at.checked_sub(1)?;
    let module = Module::of(call);
    // Code of this library or outside of any file has no name.
    (!module.path.as_os_str().is_empty() && !is_own(call)).then(|| Site {
        address: call.wrapping_sub(module.bias),
        module: module.path.clone(),
        identity: module.identity.clone(),
        source: None,
    })
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
