//! libomp's tool interface (OMPT), for regions that do not pass this library: the runtime is linked into
//! the program, or bound before preloaded libraries (`RTLD_DEEPBIND`).
//!
//! OMPT costs every region of the runtime more than interposition, even if the tool requests nothing. A
//! tool must decide when the runtime starts. libomp starts at its first call, and calls that pass this
//! library have called an entry by then: the tool is there only if no entry was called. A runtime that
//! starts when it is loaded always gets the tool. A region that passes the library all the same is
//! recognised, because this thread is starting its team.
//!
//! Such regions are only observed: their teams have started when the tool hears of them.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use pacman_regions::arena::Nested;

use super::ompt_waits;
use crate::adapt;
use crate::energy;
use crate::first_region;
use crate::function::Function;
use crate::interpose;
use crate::isolation::isolated;
use crate::notes;
use crate::process;
use crate::region::{self, Region};
use crate::runtime::Runtime;
use crate::seen::Seen;
use crate::team::Decision;
use crate::waits::{Company, PartKey};
use crate::worker::{OmptState, OpenRegion, ParallelData, Part, TimedPart, Worker, waits};

/// A function of the runtime that asked for a tool.
static RUNTIME: AtomicU64 = AtomicU64::new(0);

type LookUp = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// `ompt_start_tool_result_t` of the OpenMP specification.
#[repr(C)]
pub struct StartToolResult {
    initialize: unsafe extern "C" fn(LookUp, c_int, *mut u64) -> c_int,
    finalize: unsafe extern "C" fn(*mut u64),
    data: u64,
}

/// The runtime asks for a tool when it starts.
#[unsafe(export_name = "pacman_omp_entry_ompt_start_tool")]
pub unsafe extern "C" fn ompt_start_tool(_: c_uint, _: *const c_char) -> *mut StartToolResult {
    static mut RESULT: StartToolResult =
        StartToolResult { initialize, finalize: finalized, data: 0 };
    match process::is_observed() && !interpose::has_interposed() {
        true => &raw mut RESULT,
        false => ptr::null_mut(),
    }
}

// Events and their details, from the specification's `omp-tools.h`.
const PARALLEL_BEGIN: c_int = 3;
const PARALLEL_END: c_int = 4;
const IMPLICIT_TASK: c_int = 7;
const SYNC_REGION: c_int = 23;
const BEGIN: c_int = 1;
/// The barrier at a region's end since OpenMP 5.1, and any implicit barrier before that.
const END_OF_REGION: c_int = 9;
const IMPLICIT_BARRIER: c_int = 2;

unsafe extern "C" fn initialize(look_up: LookUp, _: c_int, _: *mut u64) -> c_int {
    RUNTIME.store(look_up as *const c_void as u64, Ordering::Relaxed);
    // SAFETY: the runtime's own look-up function.
    let set = unsafe { look_up(c"ompt_set_callback".as_ptr()) };
    if set.is_null() {
        return 0;
    }
    // SAFETY: the specification's type of `ompt_set_callback`, and its types for these callbacks.
    unsafe {
        let set: unsafe extern "C" fn(c_int, *const c_void) -> c_int = std::mem::transmute(set);
        set(PARALLEL_BEGIN, parallel_begin as *const c_void);
        set(PARALLEL_END, parallel_end as *const c_void);
        set(IMPLICIT_TASK, implicit_task as *const c_void);
        set(SYNC_REGION, sync_region as *const c_void);
        if process::plan().times_waits() {
            ompt_waits::register(set);
        }
    }
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
    // SAFETY: the tool's word for this region.
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
    let is_within = worker.ompt.is_inside(region);
    let data = ParallelData::of(region, is_within);
    let nested = match is_nested {
        true if is_within => Nested::Within,
        true => Nested::Inside,
        false => Nested::No,
    };
    let Decision { meters, .. } = Decision::of(process::plan(), nested, false);
    if meters {
        energy::begin(worker.address());
    }
    worker.open_region();
    regions.push(OpenRegion { data, region, begun: worker.now(), size: 1, nested, meters });
    // SAFETY: as above.
    unsafe { *parallel = data.0 };
}

/// The region that starts at a call. The runtime does not show the body.
fn region_at(caller: *const c_void, requested: c_uint) -> Option<&'static Region> {
    // LLVM 14 does not report the call that starts a league.
    let call = before(caller)?;
    region::find(call).or_else(|| {
        let runtime = Runtime::out_of_reach(RUNTIME.load(Ordering::Relaxed));
        first_region::meet(runtime, requested.max(1));
        isolated(|| {
            // A runtime that starts before the program's first call gets a tool, and needs none.
            notes::note("regions that cannot be interposed are observed through OMPT".to_owned());
            adapt::enter_region(call, Function::ompt_start_tool, runtime, None)
        })
    })
}

/// An address inside the call: the one after it may belong to another line or function.
fn before(caller: *const c_void) -> Option<u64> {
    (caller as u64).checked_sub(1)
}

unsafe extern "C" fn parallel_end(
    parallel: *mut u64,
    _task: *mut u64,
    _flags: c_int,
    caller: *const c_void,
) {
    // SAFETY: the tool's word for this region.
    let data = ParallelData(unsafe { *parallel });
    let Some(worker) = Worker::known() else { return };
    let Some(ended) = taken(worker, data, caller) else { return };
    let own_work = if process::plan().times_waits() { worker.waits.own_work() } else { 0 };
    let (begun, since) = process::own(ended.begun + own_work);
    let ticks = worker.now().saturating_sub(begun);
    let region = (ended.region.number, || worker.starter());
    worker.rows.enter(region, since, ticks, ended.size, || ended.nested);
    worker.close_region();
    if ended.meters {
        energy::end(worker.address(), ended.region.number);
    }
}

/// Takes out the open region that has ended, if it is known.
fn taken(worker: &Worker, data: ParallelData, caller: *const c_void) -> Option<OpenRegion> {
    let mut regions = worker.ompt.regions.try_borrow_mut().ok()?;
    let known = regions.iter().rposition(|region| region.data == data);
    // LLVM 19 has freed an inner team by now, and the word may belong to another thread's region.
    let called = || regions.iter().rposition(|it| Some(it.region.body()) == before(caller));
    let place = known.or_else(called)?;
    Some(regions.swap_remove(place))
}

unsafe extern "C" fn implicit_task(
    endpoint: c_int,
    parallel: *mut u64,
    task: *mut u64,
    size: c_uint,
    number: c_uint,
    _flags: c_int,
) {
    // SAFETY: the tool's word for this member.
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
    // SAFETY: the tool's word for the member's region.
    let data = ParallelData(unsafe { *parallel });
    let Some(region) = data.region() else { return };
    let worker = Worker::here();
    let OmptState { regions, parts, .. } = &worker.ompt;
    let (mut region_begun, mut is_nested) = (None, false);
    if number == 0 {
        let Ok(mut regions) = regions.try_borrow_mut() else { return };
        let Some(open_regions) = regions.iter_mut().rfind(|region| region.data == data) else {
            return;
        };
        open_regions.size = size;
        region_begun = Some(open_regions.begun);
        is_nested = open_regions.nested != Nested::No;
    }
    let Ok(mut parts) = parts.try_borrow_mut() else { return };
    *task = data.0;
    let nested = if data.is_within() { Nested::Within } else { Nested::No };
    let decision = Decision::of(process::plan(), nested, false);
    let outer = worker.team.replace(ptr::null());
    let begun = worker.begin_as(decision.mode, Some(region));
    let waits = decision.times_waits.then(|| {
        let (team, region) = (data.0 as usize, region.number);
        let weight = u32::from(!data.is_within());
        let company = Company { is_team: size > 1, is_nested, yields: true };
        let key = PartKey { team, region, thread: number, weight, company };
        let starting = region_begun.map(|region| begun.since(region));
        let open = worker.ompt.open.try_borrow().map_or(0, |open| open.len());
        let around = waits::begin_part(worker, key, begun.counters());
        TimedPart { key, around, starting, open }
    });
    parts.push(Part { task: data.0, begun, number, region, waits, mode: decision.mode, outer });
}

/// Ends a part at the region's last barrier: workers hear of the end only when the next region begins.
unsafe extern "C" fn sync_region(
    kind: c_int,
    endpoint: c_int,
    _parallel: *mut u64,
    task: *mut u64,
    caller: *const c_void,
) {
    // Of the older implicit barriers only the last has no caller: workers are in the runtime by then.
    // The primary thread's has the caller that started the region.
    let at_end = kind == END_OF_REGION
        || (kind == IMPLICIT_BARRIER && (caller.is_null() || has_started_innermost(caller)));
    if endpoint == BEGIN && at_end && !task.is_null() {
        // SAFETY: the tool's word for this member.
        end(unsafe { *task });
    }
}

/// Whether the call at `caller` started the innermost region of the calling thread.
fn has_started_innermost(caller: *const c_void) -> bool {
    let Some(worker) = Worker::known() else { return false };
    let Ok(parts) = worker.ompt.parts.try_borrow() else { return false };
    parts.last().is_some_and(|part| part.number == 0 && Some(part.region.body()) == before(caller))
}

/// Ends a part of the calling thread, unless it has ended already.
fn end(task: u64) {
    let Some(worker) = Worker::known() else { return };
    let Ok(mut parts) = worker.ompt.parts.try_borrow_mut() else { return };
    let Some(place) = parts.iter().rposition(|part| part.task == task) else { return };
    let Part { mut begun, number, region, waits, mode, outer, .. } = parts.swap_remove(place);
    drop(parts);
    worker.team.set(outer);
    if let Some(TimedPart { key, around, starting, open }) = waits {
        begun.later(waits::end_part(worker, around, starting));
        worker.ompt.latest.set(key);
        // LLVM 14 reports no end of a barrier that is cancelled.
        if let Ok(mut all) = worker.ompt.open.try_borrow_mut() {
            all.truncate(open);
        }
    }
    worker.end_as(mode, &begun, region, number);
}
