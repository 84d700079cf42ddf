//! One execution of a region: the runtime's team with a body of ours around the program's.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::adapt::{self, Choice};
use crate::entry;
use crate::process;
use crate::region::{self, Region, Seen};
use crate::runtime::{Function, Runtime};
use crate::worker::{Begun, Worker};
use crate::worksharing;

/// What the members of a team are given instead of the program's own data.
#[repr(C)]
pub(crate) struct Team {
    /// libgomp looks for a region's reductions in the first word of its data.
    first: *mut c_void,
    runtime: &'static Runtime,
    region: Option<&'static Region>,
    pub(crate) body: *const c_void,
    pub(crate) data: *mut c_void,
    /// LLVM's bodies have their arguments by number: how many, and where they are.
    pub(crate) arguments: (usize, *const usize),
    /// Who starts the team and is its thread 0; null in leagues, where each team has one.
    host: *const Worker,
    /// How many threads take part; written by thread 0.
    size: Cell<u32>,
    depth: u32,
    /// Null where regions are only observed.
    adapted: Cell<*const Adapted>,
}

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
    pub(crate) arguments: (usize, *const usize),
    /// The threads that the program asks for; 0 if it leaves that to the runtime.
    pub(crate) threads: u32,
    /// LLVM's description of the place in the source.
    pub(crate) source: *const std::ffi::c_char,
}

impl Call {
    /// A call of one of libgomp's entries.
    pub(crate) fn gomp(
        entry: Function,
        body: *const c_void,
        data: *mut c_void,
        threads: u32,
    ) -> Call {
        let source = std::ptr::null();
        Call { entry, body, data, arguments: (0, std::ptr::null()), threads, source }
    }
}

/// Runs one execution: `start` has the real entry start a team of so many threads (0: as many as
/// the runtime likes) on [`gomp_body`] or LLVM's, with the team it is given. False if there is no
/// runtime at all.
#[inline]
pub(crate) fn run(call: &Call, start: impl FnOnce(&Team, u32)) -> bool {
    let Some(met) = Met::of(call) else { return false };
    let team = Team::new(call, &met);
    let (Some(region), Some(worker)) = (met.region, met.worker) else {
        start(&team, call.threads);
        return true;
    };
    worker.hosts(|| {
        if adapt::is_wished() {
            return run_adapted(&team, region, worker, call, start);
        }
        let begun = process::now();
        worker.starts(|| start(&team, call.threads));
        let ended = process::now();
        worker.hosted(region.number).add(begun, ended, team.size.get(), team.depth > 0);
    });
    true
}

fn run_adapted(
    team: &Team,
    region: &'static Region,
    worker: &Worker,
    call: &Call,
    start: impl FnOnce(&Team, u32),
) {
    let adapted = Adapted {
        choice: adapt::choose(region, worker, call.entry, call.threads),
        busy: AtomicU64::new(0),
        loops: worksharing::begin(region, team.depth),
    };
    team.adapted.set(&raw const adapted);
    let begun = process::now();
    worker.starts(|| start(team, adapted.choice.threads));
    let ended = process::now();
    let size = team.size.get();
    worker.hosted(region.number).add(begun, ended, size, team.depth > 0);
    if team.depth == 0 {
        worker.bound.at(None);
    }
    if let Some(loops) = adapted.loops {
        loops.end();
    }
    let seconds = process::seconds(ended - begun);
    // ATOMICS: the runtime's end of the team orders what its members have added.
    let busy = process::seconds(adapted.busy.load(Ordering::Relaxed));
    adapt::finished(region, worker, &adapted.choice, size, seconds, busy);
}

/// What a call is found to be of.
struct Met {
    runtime: &'static Runtime,
    region: Option<&'static Region>,
    worker: Option<&'static Worker>,
}

impl Met {
    /// Who starts which region; none of both where nothing is observed, or there are too many.
    #[inline(always)]
    fn of(call: &Call) -> Option<Met> {
        let (runtime, region) = match region::find(call.body as u64) {
            Some(region) => (region.runtime, Some(region)),
            None => Met::of_new(call)?,
        };
        Some(Met { runtime, region, worker: region.map(|_| Worker::here()) })
    }

    #[cold]
    fn of_new(call: &Call) -> Option<(&'static Runtime, Option<&'static Region>)> {
        entry::ompt::passed();
        let runtime = Runtime::of(call.body as u64, call.entry)?;
        if !process::is_observed() {
            return Some((runtime, None));
        }
        // SAFETY: LLVM's descriptions are constants of the program that end in a zero.
        let source =
            (!call.source.is_null()).then(|| unsafe { std::ffi::CStr::from_ptr(call.source) });
        let source = source.map(|text| text.to_string_lossy().into_owned());
        process::first_region(runtime);
        Some((runtime, region::enter(call.body as u64, call.entry, runtime, source)))
    }
}

impl Team {
    /// The team of a call. Where it is wanted, so that nothing is copied.
    #[inline(always)]
    fn new(call: &Call, met: &Met) -> Team {
        let Met { runtime, region, worker } = *met;
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
        let Call { body, data, arguments, .. } = *call;
        let (size, adapted) = (Cell::new(1), Cell::new(ptr::null()));
        Team { first, runtime, region, body, data, arguments, host, size, depth, adapted }
    }

    /// A member of the team, as number `thread`, does its part.
    #[inline]
    pub(crate) fn take_part(&self, thread: u32, body: impl FnOnce()) {
        let Some(region) = self.region else { return body() };
        // SAFETY: thread 0 is who called the entry, and is in it still.
        let host = if thread == 0 { unsafe { self.host.as_ref() } } else { None };
        let worker = host.unwrap_or_else(|| Worker::here());
        if thread == 0 {
            self.size.set(self.ask(self.question_of_size()).unwrap_or(1));
        }
        // SAFETY: on the stack of who started the team, until all members are done.
        if let Some(adapted) = unsafe { self.adapted.get().as_ref() } {
            return self.take_part_adapted(adapted, region, worker, thread, body);
        }
        let begun = worker.begin();
        body();
        worker.end(&begun, Some(region), thread);
    }

    fn take_part_adapted(
        &self,
        adapted: &Adapted,
        region: &Region,
        worker: &Worker,
        thread: u32,
        body: impl FnOnce(),
    ) {
        if self.depth == 0 {
            let places = adapted.choice.places.as_ref();
            worker.bound.at(places.and_then(|places| places.get(thread as usize)));
        }
        let begun = worker.begin();
        match &adapted.loops {
            Some(loops) => worksharing::take_part(loops, thread, body),
            None => body(),
        }
        let ticks = worker.end(&begun, Some(region), thread);
        if adapted.choice.wants_busy {
            adapted.busy.fetch_add(ticks, Ordering::Relaxed);
        }
    }

    /// A league counts its teams, and numbers them.
    fn question_of_size(&self) -> Function {
        match self.host.is_null() {
            true => Function::omp_get_num_teams,
            false => Function::omp_get_num_threads,
        }
    }

    /// The calling thread's number among the members.
    #[inline]
    fn number(&self) -> u32 {
        let question = match self.host.is_null() {
            true => Function::omp_get_team_num,
            false => Function::omp_get_thread_num,
        };
        self.ask(question).unwrap_or(0)
    }

    /// Asks the runtime one of its questions that take nothing.
    #[inline]
    fn ask(&self, function: Function) -> Option<u32> {
        let real = self.runtime.real(function)?;
        // SAFETY: such functions of the OpenMP API take nothing and answer an int.
        let real: extern "C" fn() -> i32 = unsafe { std::mem::transmute(real) };
        Some(real() as u32)
    }

    /// The runtime's function of that name.
    #[inline]
    pub(crate) fn real(&self, function: Function) -> Option<*mut c_void> {
        self.runtime.real(function)
    }
}

/// What every member of a libgomp team runs.
pub(crate) unsafe extern "C-unwind" fn gomp_body(team: *mut c_void) {
    // SAFETY: `run` passes a team that lives until all members are done.
    let team = unsafe { &*team.cast::<Team>() };
    let thread = team.number();
    // SAFETY: the compiler's body takes its data.
    let body: extern "C-unwind" fn(*mut c_void) = unsafe { std::mem::transmute(team.body) };
    team.take_part(thread, || body(team.data));
}

/// An execution of GCC's older interface: the thread that starts the team runs the body itself,
/// between two calls.
pub(crate) struct Started {
    team: Box<Team>,
    begun: u64,
    own: Begun,
}

/// As [`run`], for an entry that returns when the team has started.
pub(crate) fn begin(call: &Call, start: impl FnOnce(&Team, u32)) -> bool {
    let Some(met) = Met::of(call) else { return false };
    // On the heap, because the members need it for longer than this call.
    let team = Box::new(Team::new(call, &met));
    let worker = Worker::here();
    // The thread's own clause is used up; such regions are not adapted.
    worker.take_pushed();
    worker.begins_to_host();
    let begun = process::now();
    worker.starts(|| start(&team, call.threads));
    team.size.set(team.ask(Function::omp_get_num_threads).unwrap_or(1));
    let own = worker.begin();
    worker.started.borrow_mut().push(Started { team, begun, own });
    true
}

/// The thread that called [`begin`] has run the body; `end` ends the real team.
pub(crate) fn end(end: impl FnOnce(&Team)) {
    let worker = Worker::here();
    // Without a beginning there is no runtime either, and nothing to end.
    let Some(Started { team, begun, own }) = worker.started.borrow_mut().pop() else { return };
    worker.end(&own, team.region, 0);
    end(&team);
    if let Some(region) = team.region {
        let nested = team.depth > 0;
        worker.hosted(region.number).add(begun, process::now(), team.size.get(), nested);
    }
    worker.ends_to_host();
}
