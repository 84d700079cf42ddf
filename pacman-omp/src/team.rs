//! One execution of a region: the runtime's team with a body of ours around the program's.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::adapt::{self, Choice, Course};
use crate::callers;
use crate::counting::Counting;
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

impl Adapted {
    /// Whether its members have to do with it. Else they need not look at it: it is on the stack of
    /// the thread that starts the team, and each line of that takes as long to come as a region
    /// costs otherwise.
    fn concerns_members(&self) -> bool {
        let Choice { places, crew, wants_busy, .. } = &self.choice;
        let bound = places.is_some() || crew.is_some() || adapt::has_bound();
        self.loops.is_some() || bound || *wants_busy
    }
}

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
pub(crate) enum Manner {
    Bare,
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
    start: impl FnOnce(&Team, u32, Manner),
) -> bool {
    let Some(region) = region::find(body as u64) else { return run_new(call(), start) };
    run_region(region, call, start);
    true
}

/// The same for a region that is not known yet, or not observed.
#[inline(never)]
fn run_new(call: Call, start: impl FnOnce(&Team, u32, Manner)) -> bool {
    match Met::of(call.entry, call.body as u64, call.source) {
        None => return false,
        Some(Met { region: Some(region), .. }) => run_region(region, || call, start),
        Some(Met { runtime, region: None }) => {
            start(&Team::new(&call, runtime, None, None), call.threads, Manner::Bare);
        }
    }
    true
}

/// The call is put together in each branch by itself: for a function it would be in memory.
#[inline(always)]
fn run_region(
    region: &'static Region,
    call: impl Fn() -> Call,
    start: impl FnOnce(&Team, u32, Manner),
) {
    let worker = Worker::here();
    if !adapt::is_wished() {
        return run_observed(region, worker, call(), start, |_, _| ());
    }
    let Call { entry, threads, .. } = call();
    let steady = match adapt::course(region, worker, entry, threads) {
        Course::Steady(steady) => steady,
        other => return run_wished(region, worker, &other, call(), start),
    };
    let call = Call { threads: steady.threads(), ..call() };
    run_observed(region, worker, call, start, |size, ticks| {
        if !steady.ended(worker, size, ticks) {
            adapt::finished_steady(region, worker, steady, size, ticks);
        }
    });
}

/// Runs it as the call is; `ended` is told with how many threads, and how many ticks it took.
#[inline(always)]
fn run_observed(
    region: &'static Region,
    worker: &Worker,
    call: Call,
    start: impl FnOnce(&Team, u32, Manner),
    ended: impl FnOnce(u32, u64),
) {
    let team = Team::new(&call, region.runtime, Some(region), Some(worker));
    worker.hosts(|| {
        team.own.begun.set(worker.now());
        worker.starts(|| start(&team, call.threads, Manner::Observed));
        let ticks = team.enter(region, worker);
        ended(team.own.size.get(), ticks);
    });
}

/// Runs it where regions are adapted, and this one not as before.
#[inline(never)]
fn run_wished(
    region: &'static Region,
    worker: &Worker,
    course: &Course<'_>,
    call: Call,
    start: impl FnOnce(&Team, u32, Manner),
) {
    match course {
        Course::Alone => run_observed(region, worker, call, start, |size, ticks| {
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
    start: impl FnOnce(&Team, u32, Manner),
) {
    let team = Team::new(&call, region.runtime, Some(region), Some(worker));
    worker.hosts(|| {
        let adapted = Adapted {
            choice: adapt::choose(region, worker, call.entry, call.threads),
            busy: AtomicU64::new(0),
            loops: worksharing::begin(region, team.own.depth),
        };
        let manner = if adapted.concerns_members() { Manner::Adapted } else { Manner::Observed };
        if manner == Manner::Adapted {
            team.adapted.set(&raw const adapted);
        }
        team.own.begun.set(worker.now());
        worker.starts(|| start(&team, adapted.choice.threads, manner));
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
        floating::apart(|| adapt::finished(region, worker, &adapted.choice, size, ticks, busy));
    });
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
        if !process::is_observed() || region::are_enough() {
            return callers::known_runtime_for(body, entry)
                .map(|runtime| Met { runtime, region: None });
        }
        entry::ompt::passed();
        let runtime = callers::runtime_for(body, entry)?;
        // SAFETY: LLVM's descriptions are constants of the program that end in a zero.
        let source = (!source.is_null()).then(|| unsafe { CStr::from_ptr(source) });
        let source = source.map(|text| text.to_string_lossy().into_owned());
        process::first_region(runtime, 1);
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
        debug_assert_eq!(self.manner(), if ADAPTED { Manner::Adapted } else { Manner::Observed });
        // SAFETY: an observed team has one.
        let region = unsafe { self.region.unwrap_unchecked() };
        let is_host = ptr::eq(worker, self.host);
        let thread = if is_host {
            self.own.size.set(self.runtime.ask_or(Function::omp_get_num_threads, 1));
            0
        } else if self.host.is_null() {
            self.number_in_league()
        } else {
            number()
        };
        if ADAPTED {
            return Part { team: self, region, worker, thread }.adapted(counting, body);
        }
        let begun = self.begin(worker, counting, is_host);
        body();
        self.end(&begun, region, worker, thread);
    }

    /// What it is watched for.
    pub(crate) fn manner(&self) -> Manner {
        match self.region {
            None => Manner::Bare,
            Some(_) if self.adapted.get().is_null() => Manner::Observed,
            Some(_) => Manner::Adapted,
        }
    }

    /// A part begins. A team of one has nobody to start or to wait for: its body and the region
    /// begin and end together, and the clock, dearer than all else here, is read twice, not four
    /// times.
    #[inline(always)]
    fn begin(&self, worker: &Worker, counting: impl Counting, is_host: bool) -> Begun {
        let alone = is_host && self.own.size.get() == 1;
        worker.begin_counted(counting, alone.then(|| self.own.begun.get()))
    }

    /// It ends; answers how long it took.
    #[inline(always)]
    fn end(&self, begun: &Begun, region: &Region, worker: &Worker, thread: u32) -> u64 {
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
        worker.hosted(region.number).add(since, ticks, size.get(), *depth > 0);
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
            if let Some(crew) = &adapted.choice.crew {
                worker.crews.take_part(crew, thread);
            }
        }
        let begun = team.begin(worker, counting, ptr::eq(worker, team.host));
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
    start: impl FnOnce(&Team, u32, Manner),
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
    worker.starts(|| start(&team, call.threads, team.manner()));
    team.own.size.set(team.runtime.ask_or(Function::omp_get_num_threads, 1));
    let part = worker.begin();
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
