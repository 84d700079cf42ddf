//! One execution of a region: the runtime's team with a body of ours around the program's.

mod call;
mod started;

pub(crate) use call::{Call, TeamMode, run};
pub(crate) use started::{Started, begin, end};

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::adapt::{self, Choice};
use crate::counting::Counting;
use crate::function::Function;
use crate::process;
use crate::region::{Region, Seen};
use crate::runtime::Runtime;
use crate::worker::{PartStart, Worker};
use crate::worksharing;

/// What the members of a team are given instead of the program's own data.
///
/// What they read is one cache line, and what thread 0 writes meanwhile is on another.
#[repr(C, align(64))]
pub(crate) struct Team {
    /// libgomp looks for a region's reductions in the first word of its data.
    first: *mut c_void,
    runtime: &'static Runtime,
    region: Option<&'static Region>,
    pub(crate) body: *const c_void,
    /// What the body takes: its data, or for LLVM's bodies the first of `words` words.
    pub(crate) data: *mut c_void,
    pub(crate) words: usize,
    /// Who starts the team and is its thread 0; null in leagues, where each team has one.
    primary: *const Worker,
    /// Null where regions are only observed.
    adapted: Cell<*const Adapted>,
    own: Own,
}

/// What concerns only the thread that starts a team, and is its thread 0.
struct Own {
    depth: u32,
    /// How many threads take part.
    size: Cell<u32>,
    /// When the entry was called.
    begun: Cell<u64>,
    /// How long the body took, in a team of one that did nothing else; otherwise [`UNKNOWN`].
    ticks: Cell<u64>,
}

const UNKNOWN: u64 = u64::MAX;

/// What is done with a team where regions are adapted.
struct Adapted {
    choice: Choice,
    /// Ticks that members were in the body, where that is wanted.
    busy: AtomicU64,
    loops: Option<worksharing::Execution>,
}

impl Adapted {
    /// Whether its members have to do with it. Else they need not look at it: it is on the stack of
    /// the thread that starts the team, and each line of that takes as long to come as a region
    /// costs otherwise.
    fn concerns_members(&self) -> bool {
        let Choice { places, affinity, wants_busy, .. } = &self.choice;
        let bound = places.is_some() || affinity.is_some() || adapt::has_bound();
        self.loops.is_some() || bound || *wants_busy
    }
}

impl Team {
    /// The team of a call. Where it is wanted, so that nothing is copied.
    #[inline(always)]
    fn new(
        call: &Call,
        runtime: &'static Runtime,
        region: Option<&'static Region>,
        worker: Option<&Worker>,
    ) -> Team {
        let depth = worker.map_or(0, Worker::depth);
        if let (Some(worker), 1..) = (worker, depth) {
            worker.saw(Seen::NESTED);
        }
        let first = match call.entry {
            // SAFETY: the compiler passes what the runtime will look at.
            Function::GOMP_parallel_reductions => unsafe { *call.data.cast::<*mut c_void>() },
            _ => ptr::null_mut(),
        };
        let primary = match (call.entry, worker) {
            (Function::GOMP_teams_reg, _) | (_, None) => ptr::null(),
            (_, Some(worker)) => ptr::from_ref(worker),
        };
        let Call { body, data, words, .. } = *call;
        let adapted = Cell::new(ptr::null());
        let (size, begun, ticks) = (Cell::new(1), Cell::new(0), Cell::new(UNKNOWN));
        let own = Own { depth, size, begun, ticks };
        Team { first, runtime, region, body, data, words, primary, adapted, own }
    }

    /// A member of the team, which is observed and `ADAPTED` or not, does its part; `number`
    /// answers which one it is.
    ///
    /// # Safety
    /// That must be so.
    #[inline(always)]
    pub(crate) unsafe fn take_part<const ADAPTED: bool>(
        &self,
        (worker, counting): (&Worker, impl Counting),
        number: impl FnOnce() -> u32,
        body: impl FnOnce(),
    ) {
        debug_assert_eq!(self.mode(), if ADAPTED { TeamMode::Adapted } else { TeamMode::Observed });
        // SAFETY: an observed team has one.
        let region = unsafe { self.region.unwrap_unchecked() };
        let is_primary = ptr::eq(worker, self.primary);
        let thread = if is_primary {
            self.own.size.set(self.runtime.ask_or(Function::omp_get_num_threads, 1));
            0
        } else if self.primary.is_null() {
            self.number_in_league()
        } else {
            number()
        };
        if ADAPTED {
            return Part { team: self, region, worker, thread }.adapted(counting, body);
        }
        let begun = self.begin(worker, counting, is_primary);
        body();
        self.end(&begun, region, worker, thread);
    }

    /// What it is watched for.
    pub(crate) fn mode(&self) -> TeamMode {
        match self.region {
            None => TeamMode::Unobserved,
            Some(_) if self.adapted.get().is_null() => TeamMode::Observed,
            Some(_) => TeamMode::Adapted,
        }
    }

    /// A part begins. A team of one has nobody to start or to wait for: its body and the region
    /// begin and end together, and the clock, dearer than all else here, is read twice, not four
    /// times.
    #[inline(always)]
    fn begin(&self, worker: &Worker, counting: impl Counting, is_primary: bool) -> PartStart {
        let alone = is_primary && self.own.size.get() == 1;
        worker.begin_counted(counting, alone.then(|| self.own.begun.get()))
    }

    /// It ends; answers how long it took.
    #[inline(always)]
    fn end(&self, begun: &PartStart, region: &Region, worker: &Worker, thread: u32) -> u64 {
        // What is left of tasks runs after the body.
        let alone = begun.is_shared() && worker.seen() & Seen::TASKS == 0;
        let ticks = worker.end(begun, region, thread);
        if alone {
            self.own.ticks.set(ticks);
        }
        ticks
    }

    /// The team has ended: enters its execution, and answers how long that took.
    #[inline(always)]
    fn enter(&self, region: &Region, worker: &Worker) -> u64 {
        let Own { depth, size, begun, ticks } = &self.own;
        let (begun, since) = process::own(begun.get());
        let ticks = match ticks.get() {
            UNKNOWN => worker.now().saturating_sub(begun),
            ticks => ticks,
        };
        worker.enter(region.number, since, ticks, size.get(), *depth > 0);
        ticks
    }

    /// The calling thread's number in a league, which counts its teams and numbers them; nobody's
    /// thread 0 has started it.
    #[cold]
    fn number_in_league(&self) -> u32 {
        let number = self.runtime.ask_or(Function::omp_get_team_num, 0);
        if number == 0 {
            self.own.size.set(self.runtime.ask_or(Function::omp_get_num_teams, 1));
        }
        number
    }

    /// The calling thread's number in the team.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.runtime.ask_or(Function::omp_get_thread_num, 0)
    }

    /// The runtime's function of that name.
    #[inline]
    pub(crate) fn real(&self, function: Function) -> Option<*mut c_void> {
        self.runtime.real(function)
    }
}

/// A member's part where regions are adapted.
struct Part<'t> {
    team: &'t Team,
    region: &'t Region,
    worker: &'t Worker,
    thread: u32,
}

impl Part<'_> {
    #[inline(always)]
    fn adapted(self, counting: impl Counting, body: impl FnOnce()) {
        let Part { team, region, worker, thread } = self;
        // SAFETY: on the stack of who started the team, until all members are done.
        let adapted = unsafe { &*team.adapted.get() };
        if team.own.depth == 0 {
            let places = adapted.choice.places.as_ref();
            worker.bound.at(places.and_then(|places| places.get(thread as usize)));
            if let Some(affinity) = &adapted.choice.affinity {
                worker.affinities.take_part(affinity, thread);
            }
        }
        let begun = team.begin(worker, counting, ptr::eq(worker, team.primary));
        match &adapted.loops {
            Some(loops) => worksharing::take_part(loops, thread, body),
            None => body(),
        }
        let ticks = team.end(&begun, region, worker, thread);
        if adapted.choice.wants_busy {
            adapted.busy.fetch_add(ticks, Ordering::Relaxed);
        }
    }
}
