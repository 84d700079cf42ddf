//! One execution of a region: the runtime's team with a body of ours around the program's.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::adapt::{self, Choice};
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
    /// How many threads take part; written by thread 0.
    size: Cell<u32>,
    depth: u32,
    choice: Option<Choice>,
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
pub(crate) fn run(call: &Call, start: impl FnOnce(&Team, u32)) -> bool {
    let Some(mut team) = Team::of(call) else { return false };
    let Some(region) = team.region else {
        start(&team, call.threads);
        return true;
    };
    let worker = Worker::here();
    if adapt::is_wished() {
        team.choice = Some(adapt::choose(region, worker, call.entry, call.threads));
    }
    let threads = team.choice.as_ref().map_or(call.threads, |choice| choice.threads);
    team.loops = worksharing::begin(region, team.depth);
    let begun = process::now();
    worker.starts(|| start(&team, threads));
    let ended = process::now();
    if let Some(loops) = team.loops.take() {
        loops.end();
    }
    let size = team.size.get();
    worker.hosted(region.number).add(begun, ended, size, team.depth > 0);
    if let Some(choice) = &team.choice {
        let seconds = process::seconds(ended - begun);
        // ATOMICS: the runtime's end of the team orders what its members have added.
        let busy = process::seconds(team.busy.load(Ordering::Relaxed));
        if team.depth == 0 {
            worker.bound.at(None);
        }
        adapt::finished(region, worker, choice, size, seconds, busy);
    }
    true
}

impl Team {
    /// The team of a call; without a region where nothing is observed, or there are too many.
    #[inline]
    fn of(call: &Call) -> Option<Team> {
        let body = call.body as u64;
        let (runtime, region) = match region::find(body) {
            Some(region) => (region.runtime, Some(region)),
            None => Team::of_new(call)?,
        };
        let mut depth = 0;
        if region.is_some() {
            let worker = Worker::here();
            depth = worker.depth();
            if depth > 0 {
                worker.saw(Seen::NESTED);
            }
        }
        let first = match call.entry {
            // SAFETY: the compiler passes what the runtime will look at.
            Function::GOMP_parallel_reductions => unsafe { *call.data.cast::<*mut c_void>() },
            _ => std::ptr::null_mut(),
        };
        let Call { body, data, arguments, .. } = *call;
        Some(Team {
            first,
            runtime,
            region,
            body,
            data,
            arguments,
            size: Cell::new(1),
            depth,
            choice: None,
            busy: AtomicU64::new(0),
            loops: None,
        })
    }

    #[cold]
    fn of_new(call: &Call) -> Option<(&'static Runtime, Option<&'static Region>)> {
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

    /// A member of the team, as number `thread`, does its part.
    #[inline]
    pub(crate) fn take_part(&self, thread: u32, body: impl FnOnce()) {
        let Some(region) = self.region else { return body() };
        let worker = Worker::here();
        if thread == 0 {
            self.size.set(self.ask(Function::omp_get_num_threads).unwrap_or(1));
        }
        if let Some(choice) = self.choice.as_ref().filter(|_| self.depth == 0) {
            let place = choice.places.as_ref().and_then(|places| places.get(thread as usize));
            worker.bound.at(place);
        }
        let begun = worker.begin();
        match &self.loops {
            Some(loops) => worksharing::take_part(loops, thread, body),
            None => body(),
        }
        let ticks = worker.end(&begun, Some(region), thread);
        if self.choice.as_ref().is_some_and(|choice| choice.wants_busy) {
            self.busy.fetch_add(ticks, Ordering::Relaxed);
        }
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
    let thread = team.ask(Function::omp_get_thread_num).unwrap_or(0);
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
    let Some(team) = Team::of(call) else { return false };
    // On the heap, because the members need it for longer than this call.
    let team = Box::new(team);
    let worker = Worker::here();
    // The thread's own clause is used up; such regions are not adapted.
    worker.take_pushed();
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
}
