//! libomp's own interface for tools (OMPT), for regions that do not pass this library: where the
//! runtime is linked into the program, or found before preloaded libraries (`RTLD_DEEPBIND`).
//!
//! It costs every region of the runtime some hundred nanoseconds, and a tool has to say at the
//! runtime's beginning whether it wants it. By then a program whose calls do pass has called one of
//! our entries; only where none has been called the tool is there. What passes all the same is told
//! apart: its team is being started by this very thread.
//!
//! Regions are only observed this way: their teams have started when the tool is told.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use pacman_core::fork::Lock;

use crate::function::Function;
use crate::process;
use crate::region::{self, Region, Seen};
use crate::runtime::Runtime;
use crate::worker::{Begun, Worker};

/// Some call has come to one of the entries here.
static PASSED: AtomicBool = AtomicBool::new(false);

/// A function of the runtime that has asked for a tool.
static RUNTIME: AtomicU64 = AtomicU64::new(0);

/// Calls of the program to libomp come here.
#[inline]
pub(crate) fn passed() {
    if !PASSED.load(Ordering::Relaxed) {
        PASSED.store(true, Ordering::Relaxed);
    }
}

type LookUp = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// `ompt_start_tool_result_t` of the OpenMP specification.
#[repr(C)]
pub struct StartToolResult {
    initialize: unsafe extern "C" fn(LookUp, c_int, *mut u64) -> c_int,
    finalize: unsafe extern "C" fn(*mut u64),
    data: u64,
}

/// The runtime asks for a tool when it begins.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompt_start_tool(_: c_uint, _: *const c_char) -> *mut StartToolResult {
    static mut RESULT: StartToolResult =
        StartToolResult { initialize, finalize: finalized, data: 0 };
    match process::is_observed() && !PASSED.load(Ordering::Relaxed) {
        true => &raw mut RESULT,
        false => ptr::null_mut(),
    }
}

// Numbers of events and of their details, from the specification's `omp-tools.h`.
const PARALLEL_BEGIN: c_int = 3;
const PARALLEL_END: c_int = 4;
const IMPLICIT_TASK: c_int = 7;
const SYNC_REGION: c_int = 23;
const BEGIN: c_int = 1;
const INITIAL_TASK: c_int = 1;
/// The barrier at a region's end, from OpenMP 5.1 on; and any implicit one before that.
const END_OF_REGION: c_int = 9;
const IMPLICIT_BARRIER: c_int = 2;

unsafe extern "C" fn initialize(look_up: LookUp, _: c_int, _: *mut u64) -> c_int {
    RUNTIME.store(look_up as *const c_void as u64, Ordering::Relaxed);
    // SAFETY: the runtime's own way to find its function.
    let set = unsafe { look_up(c"ompt_set_callback".as_ptr()) };
    if set.is_null() {
        return 0;
    }
    // SAFETY: the specification has `ompt_set_callback` so; the callbacks have the types that it
    // gives their numbers.
    unsafe {
        let set: unsafe extern "C" fn(c_int, *const c_void) -> c_int = std::mem::transmute(set);
        set(PARALLEL_BEGIN, parallel_begin as *const c_void);
        set(PARALLEL_END, parallel_end as *const c_void);
        set(IMPLICIT_TASK, implicit_task as *const c_void);
        set(SYNC_REGION, sync_region as *const c_void);
    }
    process::note("regions that cannot be interposed are observed through OMPT".to_owned());
    1
}

unsafe extern "C" fn finalized(_: *mut u64) {}

/// A region under way. The runtime hands its number from callback to callback.
///
/// The number and not a pointer: LLVM 14 tells of the end of teams' regions whose beginning it has
/// not told of, with whatever is in the word.
pub(crate) struct Parallel {
    region: &'static Region,
    begun: u64,
    depth: u32,
    size: AtomicU32,
}

/// A member's part of it.
struct Part {
    begun: Option<Begun>,
    number: u32,
    region: &'static Region,
}

/// By the number that the runtime was given.
pub(crate) static UNDER_WAY: Lock<BTreeMap<u64, Arc<Parallel>>> = Lock::new(BTreeMap::new());

thread_local! {
    /// The parts that the thread has in regions, by the numbers in the runtime's words.
    static PARTS: RefCell<BTreeMap<u64, Part>> = const { RefCell::new(BTreeMap::new()) };
}

/// The runtime goes on with a thread when the program has ended it, and its own data with it.
fn with_parts<R>(act: impl FnOnce(&mut BTreeMap<u64, Part>) -> R) -> Option<R> {
    PARTS.try_with(|parts| act(&mut parts.borrow_mut())).ok()
}

/// A number that is no other's.
fn unused() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0x7061_636d_616e_0001);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

unsafe extern "C" fn parallel_begin(
    _task: *mut u64,
    _frame: *const c_void,
    parallel: *mut u64,
    _requested: c_uint,
    _flags: c_int,
    caller: *const c_void,
) {
    // SAFETY: the runtime's word for us, of this region alone.
    unsafe { *parallel = 0 };
    let worker = Worker::here();
    if worker.is_starting() {
        return;
    }
    let Some(region) = region_at(caller) else { return };
    let depth = worker.depth();
    if depth > 0 {
        worker.saw(Seen::NESTED);
    }
    let number = unused();
    let (begun, size) = (worker.now(), AtomicU32::new(1));
    UNDER_WAY.lock().insert(number, Arc::new(Parallel { region, begun, depth, size }));
    // SAFETY: as above.
    unsafe { *parallel = number };
}

/// The region that is started there: known by the call, for the body is the runtime's secret.
fn region_at(caller: *const c_void) -> Option<&'static Region> {
    let caller = caller as u64;
    region::find(caller).or_else(|| {
        let runtime = Runtime::out_of_reach(RUNTIME.load(Ordering::Relaxed));
        process::first_region(runtime);
        region::enter(caller, Function::ompt_start_tool, runtime, None)
    })
}

unsafe extern "C" fn parallel_end(
    parallel: *mut u64,
    _task: *mut u64,
    _flags: c_int,
    _caller: *const c_void,
) {
    // SAFETY: the runtime's word for us.
    let Some(ended) = UNDER_WAY.lock().remove(unsafe { &*parallel }) else { return };
    let (worker, size) = (Worker::here(), ended.size.load(Ordering::Relaxed));
    let hosted = worker.hosted(ended.region.number);
    let ticks = process::between(ended.begun, worker.now());
    hosted.add(ended.begun, ticks, size, ended.depth > 0);
}

unsafe extern "C" fn implicit_task(
    endpoint: c_int,
    parallel: *mut u64,
    task: *mut u64,
    size: c_uint,
    number: c_uint,
    flags: c_int,
) {
    // SAFETY: the runtime's word for us, of this member alone.
    let slot = unsafe { &mut *task };
    if endpoint != BEGIN {
        end(*slot);
        with_parts(|parts| parts.remove(slot));
        *slot = 0;
        return;
    }
    *slot = 0;
    if flags & INITIAL_TASK != 0 || parallel.is_null() {
        return;
    }
    // SAFETY: the runtime's word for us, of the member's region.
    let Some(around) = UNDER_WAY.lock().get(unsafe { &*parallel }).cloned() else { return };
    if number == 0 {
        around.size.store(size, Ordering::Relaxed);
    }
    *slot = unused();
    with_parts(|parts| {
        let begun = Some(Worker::here().begin());
        parts.insert(*slot, Part { begun, number, region: around.region });
    });
}

/// Workers are told of a region's end when the next one begins: the barrier is where it ended.
unsafe extern "C" fn sync_region(
    kind: c_int,
    endpoint: c_int,
    _parallel: *mut u64,
    task: *mut u64,
    caller: *const c_void,
) {
    // Of the older barriers the one at the end has no caller: workers are in the runtime by then.
    let at_end = kind == END_OF_REGION || (kind == IMPLICIT_BARRIER && caller.is_null());
    if endpoint == BEGIN && at_end && !task.is_null() {
        // SAFETY: the runtime's word for us, of this member.
        end(unsafe { *task });
    }
}

/// The part of that number has ended, if it has not before.
fn end(part: u64) {
    with_parts(|parts| {
        let Some(part) = parts.get_mut(&part) else { return };
        if let Some(begun) = part.begun.take() {
            Worker::here().end(&begun, part.region, part.number);
        }
    });
}
