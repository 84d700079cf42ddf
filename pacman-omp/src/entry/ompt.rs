//! libomp's own interface for tools (OMPT), for regions that do not pass this library: where the
//! runtime is linked into the program, or found before preloaded libraries (`RTLD_DEEPBIND`).
//!
//! It costs every region of the runtime more than passing us does, whatever the tool is told of, and a
//! tool has to say at the runtime's beginning whether it wants it. By then a program whose calls do pass has called one of
//! our entries; only where none has been called the tool is there. What passes all the same is told
//! apart: its team is being started by this very thread.
//!
//! Regions are only observed this way: their teams have started when the tool is told.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ompt_state::{OmptState, OpenRegion, ParallelData, Part};
use crate::adapt;
use crate::first_region;
use crate::function::Function;
use crate::interpose;
use crate::isolation::isolated;
use crate::notes;
use crate::process;
use crate::region::{self, Region};
use crate::runtime::Runtime;
use crate::seen::Seen;
use crate::worker::Worker;

/// A function of the runtime that has asked for a tool.
static RUNTIME: AtomicU64 = AtomicU64::new(0);

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
    match process::is_observed() && !interpose::has_interposed() {
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
    notes::note("regions that cannot be interposed are observed through OMPT".to_owned());
    1
}

unsafe extern "C" fn finalized(_: *mut u64) {}

unsafe extern "C" fn parallel_begin(
    _task: *mut u64,
    _frame: *const c_void,
    parallel: *mut u64,
    requested: c_uint,
    _flags: c_int,
    caller: *const c_void,
) {
    // SAFETY: the runtime's word for us, of this region alone.
    unsafe { *parallel = 0 };
    let worker = Worker::here();
    if worker.is_starting() {
        return;
    }
    let Some(region) = region_at(caller, requested) else { return };
    let is_nested = worker.depth() > 0;
    if is_nested {
        worker.saw(Seen::NESTED);
    }
    let Ok(mut regions) = worker.ompt.regions.try_borrow_mut() else { return };
    let data = ParallelData::of(region);
    worker.open_region();
    regions.push(OpenRegion { data, region, begun: worker.now(), size: 1, is_nested });
    // SAFETY: as above.
    unsafe { *parallel = data.0 };
}

/// The region that is started there: known by the call, for the body is the runtime's secret.
fn region_at(caller: *const c_void, requested: c_uint) -> Option<&'static Region> {
    // LLVM 14 does not say where a league is started.
    let call = before(caller)?;
    region::find(call).or_else(|| {
        let runtime = Runtime::out_of_reach(RUNTIME.load(Ordering::Relaxed));
        first_region::meet(runtime, requested.max(1));
        isolated(|| adapt::enter_region(call, Function::ompt_start_tool, runtime, None))
    })
}

/// What comes after a call may be another line's, or another function's.
fn before(caller: *const c_void) -> Option<u64> {
    (caller as u64).checked_sub(1)
}

unsafe extern "C" fn parallel_end(
    parallel: *mut u64,
    _task: *mut u64,
    _flags: c_int,
    caller: *const c_void,
) {
    // SAFETY: the runtime's word for us.
    let data = ParallelData(unsafe { *parallel });
    let Some(worker) = Worker::known() else { return };
    let Ok(mut regions) = worker.ompt.regions.try_borrow_mut() else { return };
    let known = regions.iter().rposition(|region| region.data == data);
    // LLVM 19 has freed an inner team by now, and the word may be of another thread's region.
    let called = || regions.iter().rposition(|it| Some(it.region.body) == before(caller));
    let Some(place) = known.or_else(called) else { return };
    let ended = regions.swap_remove(place);
    drop(regions);
    let (begun, since) = process::own(ended.begun);
    let ticks = worker.now().saturating_sub(begun);
    worker.rows.enter(ended.region.number, since, ticks, ended.size, ended.is_nested);
    worker.close_region();
}

unsafe extern "C" fn implicit_task(
    endpoint: c_int,
    parallel: *mut u64,
    task: *mut u64,
    size: c_uint,
    number: c_uint,
    _flags: c_int,
) {
    // SAFETY: the runtime's word for us, of this member alone.
    let task = unsafe { &mut *task };
    if endpoint != BEGIN {
        end(*task);
        *task = 0;
        return;
    }
    *task = 0;
    if parallel.is_null() {
        return;
    }
    // SAFETY: the runtime's word for us, of the member's region.
    let data = ParallelData(unsafe { *parallel });
    let Some(region) = data.region() else { return };
    let worker = Worker::here();
    let OmptState { regions, parts } = &worker.ompt;
    if number == 0 {
        let Ok(mut regions) = regions.try_borrow_mut() else { return };
        let Some(open_regions) = regions.iter_mut().rfind(|region| region.data == data) else {
            return;
        };
        open_regions.size = size;
    }
    let Ok(mut parts) = parts.try_borrow_mut() else { return };
    *task = data.0;
    parts.push(Part { task: data.0, begun: worker.begin(), number, region });
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

/// That part of the calling thread has ended, if it has not before.
fn end(task: u64) {
    let Some(worker) = Worker::known() else { return };
    let Ok(mut parts) = worker.ompt.parts.try_borrow_mut() else { return };
    let Some(place) = parts.iter().rposition(|part| part.task == task) else { return };
    let Part { begun, number, region, .. } = parts.swap_remove(place);
    drop(parts);
    worker.end(&begun, region, number);
}
