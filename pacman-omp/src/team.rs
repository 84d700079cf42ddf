//! One execution of a region: the runtime's team with a body of ours around the program's.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::adapt::{self, Choice};
use crate::entry;
use crate::floating;
use crate::function::Function;
use crate::process;
use crate::region::{self, Region, Seen};
use crate::runtime::Runtime;
use crate::worker::{Begun, Worker};
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
    host: *const Worker,
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

/// What is known of a region when its entry is called.
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

/// Runs one execution of `body`, which is called as `call` says: `start` has the real entry start a
/// team of so many threads (0: as many as the runtime likes) on [`gomp_body`] or LLVM's, with the
/// team it is given. False if there is no runtime at all.
#[inline(always)]
pub(crate) fn run(
    body: *const c_void,
    call: impl FnOnce() -> Call,
    start: impl FnOnce(&Team, u32),
) -> bool {
    let Some(region) = region::find(body as u64) else { return run_new(call(), start) };
    run_region(region, call(), start);
    true
}

/// The same for a region that is not known yet, or not observed.
#[inline(never)]
fn run_new(call: Call, start: impl FnOnce(&Team, u32)) -> bool {
    match Met::of(call.entry, call.body as u64, call.source) {
        None => return false,
        Some(Met { region: Some(region), .. }) => run_region(region, call, start),
        Some(Met { runtime, region: None }) => {
            start(&Team::new(&call, runtime, None, None), call.threads);
        }
    }
    true
}

#[inline(always)]
fn run_region(region: &'static Region, call: Call, start: impl FnOnce(&Team, u32)) {
    let worker = Worker::here();
    let team = Team::new(&call, region.runtime, Some(region), Some(worker));
    worker.hosts(|| {
        if adapt::is_wished() {
            return run_adapted(&team, region, worker, call.entry, call.threads, start);
        }
        team.own.begun.set(worker.now());
        worker.starts(|| start(&team, call.threads));
        team.enter(region, worker);
    });
}

#[inline(never)]
fn run_adapted(
    team: &Team,
    region: &'static Region,
    worker: &Worker,
    entry: Function,
    threads: u32,
    start: impl FnOnce(&Team, u32),
) {
    let adapted = Adapted {
        choice: adapt::choose(region, worker, entry, threads),
        busy: AtomicU64::new(0),
        loops: worksharing::begin(region, team.own.depth),
    };
    team.adapted.set(&raw const adapted);
    team.own.begun.set(worker.now());
    worker.starts(|| start(team, adapted.choice.threads));
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
    floating::apart(|| adapt::finished(region, worker, &adapted.choice, size, ticks, busy));
}

/// What a call is found to be of.
struct Met {
    runtime: &'static Runtime,
    /// `None` where nothing is observed, or there are too many.
    region: Option<&'static Region>,
}

impl Met {
    /// `None` if there is no runtime.
    #[cold]
    fn of(entry: Function, body: u64, source: *const c_char) -> Option<Met> {
        entry::ompt::passed();
        let runtime = Runtime::of(body, entry)?;
        if !process::is_observed() {
            return Some(Met { runtime, region: None });
        }
        // SAFETY: LLVM's descriptions are constants of the program that end in a zero.
        let source = (!source.is_null()).then(|| unsafe { CStr::from_ptr(source) });
        let source = source.map(|text| text.to_string_lossy().into_owned());
        process::first_region(runtime);
        Some(Met { runtime, region: region::enter(body, entry, runtime, source) })
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
        let host = match (call.entry, worker) {
            (Function::GOMP_teams_reg, _) | (_, None) => ptr::null(),
            (_, Some(worker)) => ptr::from_ref(worker),
        };
        let Call { body, data, words, .. } = *call;
        let adapted = Cell::new(ptr::null());
        let (size, begun, ticks) = (Cell::new(1), Cell::new(0), Cell::new(UNKNOWN));
        let own = Own { depth, size, begun, ticks };
        Team { first, runtime, region, body, data, words, host, adapted, own }
    }

    /// A member of the team does its part; `number` answers which one it is. `COUNTED` says what
    /// [`is_counted`] did.
    #[inline(always)]
    pub(crate) fn take_part<const COUNTED: bool>(
        &self,
        number: impl FnOnce() -> u32,
        body: impl FnOnce(),
    ) {
        let Some(region) = self.region else { return body() };
        let worker = Worker::here();
        let is_host = ptr::eq(worker, self.host);
        let thread = if is_host { 0 } else { self.other(number) };
        if is_host {
            let size = self.runtime.ask(Function::omp_get_num_threads);
            self.own.size.set(size.unwrap_or(1));
        }
        // SAFETY: on the stack of who started the team, until all members are done.
        if let Some(adapted) = unsafe { self.adapted.get().as_ref() } {
            return self.take_part_adapted::<COUNTED>(adapted, region, worker, thread, body);
        }
        let begun = self.begin::<COUNTED>(worker, is_host);
        body();
        self.end::<COUNTED>(&begun, region, worker, thread);
    }

    #[inline(never)]
    fn take_part_adapted<const COUNTED: bool>(
        &self,
        adapted: &Adapted,
        region: &Region,
        worker: &Worker,
        thread: u32,
        body: impl FnOnce(),
    ) {
        if self.own.depth == 0 {
            let places = adapted.choice.places.as_ref();
            worker.bound.at(places.and_then(|places| places.get(thread as usize)));
        }
        let begun = self.begin::<COUNTED>(worker, ptr::eq(worker, self.host));
        match &adapted.loops {
            Some(loops) => worksharing::take_part(loops, thread, body),
            None => body(),
        }
        let ticks = self.end::<COUNTED>(&begun, region, worker, thread);
        if adapted.choice.wants_busy {
            adapted.busy.fetch_add(ticks, Ordering::Relaxed);
        }
    }

    /// A part begins. A team of one has nobody to start or to wait for: its body and the region
    /// begin and end together, and the clock, dearer than all else here, is read twice, not four
    /// times.
    #[inline(always)]
    fn begin<const COUNTED: bool>(&self, worker: &Worker, is_host: bool) -> Begun {
        let alone = is_host && self.own.size.get() == 1;
        worker.begin_counted::<COUNTED>(alone.then(|| self.own.begun.get()))
    }

    /// It ends; answers how long it took.
    #[inline(always)]
    fn end<const COUNTED: bool>(
        &self,
        begun: &Begun,
        region: &Region,
        worker: &Worker,
        thread: u32,
    ) -> u64 {
        // What is left of tasks runs after the body.
        let alone = begun.is_shared() && worker.seen() & (Seen::SHARES | Seen::TASK_DEPEND) == 0;
        let ticks = worker.end_counted::<COUNTED>(begun, region, thread);
        if alone {
            self.own.ticks.set(ticks);
        }
        ticks
    }

    /// The team has ended: enters its execution, and answers how long that took.
    #[inline(always)]
    fn enter(&self, region: &Region, worker: &Worker) -> u64 {
        let Own { depth, size, begun, ticks } = &self.own;
        let begun = begun.get();
        let ticks = match ticks.get() {
            UNKNOWN => process::between(begun, worker.now()),
            ticks => ticks,
        };
        worker.hosted(region.number).add(begun, ticks, size.get(), *depth > 0);
        ticks
    }

    /// The number of a member that did not start the team; in a league, which counts its teams and
    /// numbers them, it may be 0.
    #[inline]
    fn other(&self, number: impl FnOnce() -> u32) -> u32 {
        let number = number();
        if number == 0 && self.host.is_null() {
            let size = self.runtime.ask(Function::omp_get_num_teams);
            self.own.size.set(size.unwrap_or(1));
        }
        number
    }

    /// The calling thread's number among the members.
    fn number(&self) -> u32 {
        let question = match self.host.is_null() {
            true => Function::omp_get_team_num,
            false => Function::omp_get_thread_num,
        };
        self.runtime.ask(question).unwrap_or(0)
    }

    /// The runtime's function of that name.
    #[inline]
    pub(crate) fn real(&self, function: Function) -> Option<*mut c_void> {
        self.runtime.real(function)
    }
}

/// Whether the calling thread's counters are read around its parts, or are to be opened. Who asks
/// goes on in a function of its own for either case: neither then carries what the other needs.
#[inline(always)]
pub(crate) fn is_counted() -> bool {
    Worker::known().is_none_or(Worker::is_counted)
}

/// What every member of a libgomp team runs.
pub(crate) unsafe extern "C-unwind" fn gomp_body(team: *mut c_void) {
    // SAFETY: passed on.
    unsafe { if is_counted() { gomp_part::<true>(team) } else { gomp_part::<false>(team) } }
}

#[inline(never)]
unsafe extern "C-unwind" fn gomp_part<const COUNTED: bool>(team: *mut c_void) {
    // SAFETY: `run` passes a team that lives until all members are done.
    let team = unsafe { &*team.cast::<Team>() };
    // SAFETY: the compiler's body takes its data.
    let body: extern "C-unwind" fn(*mut c_void) = unsafe { std::mem::transmute(team.body) };
    team.take_part::<COUNTED>(|| team.number(), || body(team.data));
}

/// An execution of GCC's older interface: the thread that starts the team runs the body itself,
/// between two calls.
pub(crate) struct Started {
    team: Box<Team>,
    part: Begun,
}

/// As [`run`], for an entry that returns when the team has started.
pub(crate) fn begin(
    body: *const c_void,
    call: impl FnOnce() -> Call,
    start: impl FnOnce(&Team, u32),
) -> bool {
    let (call, known) = (call(), region::find(body as u64));
    let met = known.map(|region| Met { runtime: region.runtime, region: Some(region) });
    let met = met.or_else(|| Met::of(call.entry, call.body as u64, call.source));
    let Some(Met { runtime, region }) = met else { return false };
    let worker = Worker::here();
    // On the heap, because the members need it for longer than this call.
    let team = Box::new(Team::new(&call, runtime, region, region.map(|_| worker)));
    // The thread's own clause is used up; such regions are not adapted.
    worker.take_pushed();
    worker.begins_to_host();
    team.own.begun.set(worker.now());
    worker.starts(|| start(&team, call.threads));
    team.own.size.set(team.runtime.ask(Function::omp_get_num_threads).unwrap_or(1));
    let part = worker.begin(None);
    worker.started.borrow_mut().push(Started { team, part });
    true
}

/// The thread that called [`begin`] has run the body; `end` ends the real team.
pub(crate) fn end(end: impl FnOnce(&Team)) {
    let worker = Worker::here();
    // Without a beginning there is no runtime either, and nothing to end.
    let Some(Started { team, part }) = worker.started.borrow_mut().pop() else { return };
    match team.region {
        Some(region) => {
            worker.end(&part, region, 0);
            end(&team);
            team.enter(region, worker);
        }
        None => {
            worker.leave(&part);
            end(&team);
        }
    }
    worker.ends_to_host();
}
