//! From the call of an entry to the end of its region: found or made known, and run as is wished.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Adapted, Team};
use crate::adapt::{self, Decision};
use crate::entry;
use crate::floating;
use crate::function::Function;
use crate::interpose;
use crate::isolation::isolated;
use crate::process;
use crate::region::{self, Region};
use crate::runtime::Runtime;
use crate::worker::Worker;
use crate::worksharing;

/// What is known of a region when its entry is called.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) entry: Function,
    pub(crate) body: *const c_void,
    pub(crate) data: *mut c_void,
    /// How many words LLVM's body takes, from `data` on.
    pub(crate) words: usize,
    /// The threads that the program asks for; 0 if it leaves that to the runtime.
    pub(crate) threads: u32,
    /// LLVM's description of the place in the source.
    pub(crate) source: *const c_char,
}

impl Call {
    /// A call of one of libgomp's entries.
    pub(crate) fn gomp(
        entry: Function,
        body: *const c_void,
        data: *mut c_void,
        threads: u32,
    ) -> Call {
        Call { entry, body, data, words: 0, threads, source: ptr::null() }
    }
}

/// What a team is watched for. Each has a body of ours by itself, which need not ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TeamMode {
    Unobserved,
    Observed,
    Adapted,
}

/// Runs one execution of `body`, which is called as `call` says: `start` has the real entry start a
/// team of so many threads (0: as many as the runtime likes) on the body for that manner, with the
/// team it is given. False if there is no runtime at all.
#[inline(always)]
pub(crate) fn run(
    body: *const c_void,
    call: impl Fn() -> Call,
    start: impl FnOnce(&Team, u32, TeamMode),
) -> bool {
    let Some(region) = region::find(body as u64) else { return run_new(call(), start) };
    run_region(region, call, start);
    true
}

/// The same for a region that is not known yet, or not observed.
#[inline(never)]
fn run_new(call: Call, start: impl FnOnce(&Team, u32, TeamMode)) -> bool {
    match CallTarget::of(call.entry, call.body as u64, call.source) {
        None => return false,
        Some(CallTarget { region: Some(region), .. }) => run_region(region, || call, start),
        Some(CallTarget { runtime, region: None }) => {
            start(&Team::new(&call, runtime, None, None), call.threads, TeamMode::Unobserved);
        }
    }
    true
}

/// The call is put together in each branch by itself: for a function it would be in memory.
#[inline(always)]
fn run_region(
    region: &'static Region,
    call: impl Fn() -> Call,
    start: impl FnOnce(&Team, u32, TeamMode),
) {
    let worker = Worker::here();
    if !adapt::is_wished() {
        return run_observed(region, worker, call(), start, |_, _| ());
    }
    let Call { entry, threads, .. } = call();
    let cached = match adapt::decide(region, worker, entry, threads) {
        Decision::Cached(cached) => cached,
        other => return run_wished(region, worker, &other, call(), start),
    };
    let call = Call { threads: cached.threads(), ..call() };
    run_observed(region, worker, call, start, |size, ticks| {
        if !cached.ended(worker, size, ticks) {
            adapt::finished_cached(region, worker, cached, size, ticks);
        }
    });
}

/// Runs it as the call is; `ended` is told with how many threads, and how many ticks it took.
#[inline(always)]
fn run_observed(
    region: &'static Region,
    worker: &Worker,
    call: Call,
    start: impl FnOnce(&Team, u32, TeamMode),
    ended: impl FnOnce(u32, u64),
) {
    let team = Team::new(&call, region.runtime, Some(region), Some(worker));
    worker.run_as_primary(|| {
        team.own.begun.set(worker.now());
        worker.starts(|| start(&team, call.threads, TeamMode::Observed));
        let ticks = team.enter(region, worker);
        ended(team.own.size.get(), ticks);
    });
}

/// Runs it where regions are adapted, and this one not as before.
#[inline(never)]
fn run_wished(
    region: &'static Region,
    worker: &Worker,
    decide: &Decision<'_>,
    call: Call,
    start: impl FnOnce(&Team, u32, TeamMode),
) {
    match decide {
        Decision::Unadapted => run_observed(region, worker, call, start, |size, ticks| {
            adapt::finished_alone(region, worker, size, ticks);
        }),
        _ => run_adapted(region, worker, call, start),
    }
}

#[inline(never)]
fn run_adapted(
    region: &'static Region,
    worker: &Worker,
    call: Call,
    start: impl FnOnce(&Team, u32, TeamMode),
) {
    let team = Team::new(&call, region.runtime, Some(region), Some(worker));
    worker.run_as_primary(|| {
        let adapted = Adapted {
            choice: adapt::choose(region, worker, call.entry, call.threads),
            busy: AtomicU64::new(0),
            loops: worksharing::begin(region, team.own.depth),
        };
        let mode = if adapted.concerns_members() { TeamMode::Adapted } else { TeamMode::Observed };
        if mode == TeamMode::Adapted {
            team.adapted.set(&raw const adapted);
        }
        team.own.begun.set(worker.now());
        worker.starts(|| start(&team, adapted.choice.threads, mode));
        let ticks = team.enter(region, worker);
        if team.own.depth == 0 {
            worker.bound.at(None);
        }
        if let Some(loops) = adapted.loops {
            loops.end();
        }
        // ATOMICS: the runtime's end of the team orders what its members have added.
        let busy = adapted.busy.load(Ordering::Relaxed);
        let size = team.own.size.get();
        if adapted.choice.is_the_program_s() {
            return adapt::finished_alone(region, worker, size, ticks);
        }
        floating::isolated(|| adapt::finished(region, worker, &adapted.choice, size, ticks, busy));
    });
}

/// What a call is found to be of.
pub(super) struct CallTarget {
    pub(super) runtime: &'static Runtime,
    /// `None` where nothing is observed, or there are too many.
    pub(super) region: Option<&'static Region>,
}

impl CallTarget {
    /// `None` if there is no runtime.
    #[cold]
    pub(super) fn of(entry: Function, body: u64, source: *const c_char) -> Option<CallTarget> {
        if !process::is_observed() || region::are_enough() {
            return interpose::known_runtime_for(body, entry)
                .map(|runtime| CallTarget { runtime, region: None });
        }
        entry::ompt::note_interposed();
        let runtime = isolated(|| interpose::runtime_for(body, entry))?;
        // SAFETY: LLVM's descriptions are constants of the program that end in a zero.
        let source = (!source.is_null()).then(|| unsafe { CStr::from_ptr(source) });
        let source = source.map(|text| text.to_string_lossy().into_owned());
        process::first_region(runtime, 1);
        Some(CallTarget {
            runtime,
            region: isolated(|| region::enter(body, entry, runtime, source)),
        })
    }
}
