//! libgomp's entries that start a team. libomp has them too, for programs that GCC built.
//!
//! Signatures are those of GCC's `libgomp_g.h`, unchanged since GCC 9. `num_threads` is 0 if the program
//! leaves it to the runtime, and 1 if an `if` clause is false.

use std::cell::Cell;
use std::ffi::{c_long, c_uint, c_void};

use crate::counting::Counting;
use crate::execution::{self, Untimed};
use crate::function::Function;
use crate::region::{self, Region};
use crate::team::{Call, Team, TeamMode, mode};
use crate::worker::Worker;

/// The compiler's function for the body of a region.
type Body = unsafe extern "C-unwind" fn(*mut c_void);

/// A team as the real entry's data.
fn data_of(team: &Team) -> *mut c_void {
    std::ptr::from_ref(team).cast_mut().cast()
}

macro_rules! starts_a_team {
    ($via:ident: $($name:ident($($argument:ident: $type:ty),*);)+) => {$(
        #[unsafe(export_name = concat!("pacman_omp_entry_", stringify!($name)))]
        pub unsafe extern "C-unwind" fn $name(
            body: Body,
            data: *mut c_void,
            threads: c_uint,
            $($argument: $type),*
        ) {
            let body_of = body as *const c_void;
            let call = || Call::gomp(Function::$name, body_of, data, threads);
            type Entry = unsafe extern "C-unwind" fn(Body, *mut c_void, c_uint $(, $type)*);
            unsafe extern "C-unwind" fn lacking(_: Body, _: *mut c_void, _: c_uint $(, _: $type)*) {}
            let ran = execution::$via(body_of, call, move |team, threads, mode| {
                let real = team.real_or(Function::$name, lacking as *mut c_void);
                // SAFETY: the runtime's function of that name, with the program's own arguments; or `lacking`.
                unsafe {
                    let real: Entry = std::mem::transmute(real);
                    real(gomp_body(mode), data_of(team), threads $(, $argument)*);
                }
            }, |runtime| {
                let Some(real) = runtime.real(Function::$name) else { return };
                // SAFETY: as above.
                unsafe {
                    let real: Entry = std::mem::transmute(real);
                    real(body, data, threads $(, $argument)*);
                }
            });
            if !ran {
                // No runtime is loaded. The program itself checks whether one is.
                // SAFETY: as the runtime does with one thread.
                unsafe { body(data) };
            }
        }
    )+};
}

/// Has no frame on the stack, and goes on to the function for the case. One that is only counted saves few
/// registers.
#[unsafe(export_name = "pacman_omp_entry_GOMP_parallel")]
pub unsafe extern "C-unwind" fn GOMP_parallel(
    body: Body,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
) {
    // SAFETY: a compiler's call of this entry: a body, and the data that the body may use.
    unsafe {
        match region::candidate(body as usize as u64) {
            Some(first) => parallel(body, data, threads, flags, first),
            None => counted_parallel(body, data, threads, flags),
        }
    }
}

/// `GOMP_parallel` where the execution may be one that is not timed.
#[inline(never)]
unsafe extern "C-unwind" fn counted_parallel(
    body: Body,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
) {
    // SAFETY: a compiler's call of this entry: a body, and the data that the body may use.
    unsafe {
        match execution::untimed_latest(body as usize as u64, Function::GOMP_parallel) {
            Some(untimed) => bare_parallel(untimed, body, data, threads, flags),
            None => other_parallel(body, data, threads, flags),
        }
    }
}

/// Passes the call of an execution that is not timed on to the runtime's function.
///
/// Without closures, which the compiler would not inline.
#[inline(always)]
unsafe fn bare_parallel(
    (untimed, real): (Untimed, *mut c_void),
    body: Body,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
) {
    // SAFETY: the runtime's function of that name, or the one below.
    unsafe { std::mem::transmute::<*mut c_void, Parallel>(real)(body, data, threads, flags) };
    untimed.end();
}

/// `GOMP_parallel` where the region is not known yet, or has an overhead budget.
#[inline(never)]
unsafe extern "C-unwind" fn other_parallel(
    body: Body,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
) {
    let body_of = body as *const c_void;
    // SAFETY: the team lives until the runtime's function returns, after all members are done.
    let start = |team: &Team, threads, mode| unsafe { start_parallel(team, threads, mode, flags) };
    if let Some((untimed, runtime)) = execution::untimed(body_of as u64) {
        let real = runtime.real_or(Function::GOMP_parallel, lacking_parallel as *mut c_void);
        // SAFETY: the runtime's own function, with a compiler's arguments for it.
        return unsafe { bare_parallel((untimed, real), body, data, threads, flags) };
    }
    let call = Call::gomp(Function::GOMP_parallel, body_of, data, threads);
    if !execution::run_new(call, &start) {
        // SAFETY: as in the macro.
        unsafe { body(data) };
    }
}

/// `GOMP_parallel` where regions are found by their bodies, and `first` is the first candidate.
#[inline(never)]
unsafe extern "C-unwind" fn parallel(
    body: Body,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
    first: &'static Region,
) {
    let body_of = body as *const c_void;
    let call = || Call::gomp(Function::GOMP_parallel, body_of, data, threads);
    // SAFETY: the team lives until the runtime's function returns, after all members are done.
    let start =
        move |team: &Team, threads, mode| unsafe { start_parallel(team, threads, mode, flags) };
    if !execution::run_known(first, body_of, call, start) {
        // SAFETY: as in the macro.
        unsafe { body(data) };
    }
}

type Parallel = unsafe extern "C-unwind" fn(Body, *mut c_void, c_uint, c_uint);

/// Stands for the function of a runtime that lacks it.
unsafe extern "C-unwind" fn lacking_parallel(_: Body, _: *mut c_void, _: c_uint, _: c_uint) {}

/// Has the runtime start the team.
#[inline(always)]
unsafe fn start_parallel(team: &Team, threads: c_uint, mode: TeamMode, flags: c_uint) {
    let real = team.real_or(Function::GOMP_parallel, lacking_parallel as *mut c_void);
    // SAFETY: the runtime's function of that name, with the program's own arguments; or the one above.
    unsafe {
        let real: Parallel = std::mem::transmute(real);
        real(gomp_body(mode), data_of(team), threads, flags);
    }
}

starts_a_team! { run:
    GOMP_parallel_loop_static(start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_dynamic(start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_guided(start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_runtime(start: c_long, end: c_long, step: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_dynamic(start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_guided(start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_runtime(start: c_long, end: c_long, step: c_long, flags: c_uint);
    GOMP_parallel_loop_maybe_nonmonotonic_runtime(start: c_long, end: c_long, step: c_long, flags: c_uint);
    GOMP_parallel_sections(count: c_uint, flags: c_uint);
    GOMP_teams_reg(limit: c_uint, flags: c_uint);
}

// For GCC 4.8 and older: the calling thread returns from these, runs the body itself, and then calls
// `GOMP_parallel_end`.
starts_a_team! { begin:
    GOMP_parallel_start();
    GOMP_parallel_loop_static_start(start: c_long, end: c_long, step: c_long, chunk: c_long);
    GOMP_parallel_loop_dynamic_start(start: c_long, end: c_long, step: c_long, chunk: c_long);
    GOMP_parallel_loop_guided_start(start: c_long, end: c_long, step: c_long, chunk: c_long);
    GOMP_parallel_loop_runtime_start(start: c_long, end: c_long, step: c_long);
    GOMP_parallel_sections_start(count: c_uint);
}

#[unsafe(export_name = "pacman_omp_entry_GOMP_parallel_end")]
pub unsafe extern "C-unwind" fn GOMP_parallel_end() {
    execution::end(|team| {
        let Some(real) = team.real(Function::GOMP_parallel_end) else { return };
        // SAFETY: the runtime's function of that name.
        unsafe {
            let real: unsafe extern "C-unwind" fn() = std::mem::transmute(real);
            real();
        }
    });
}

/// Returns the size of the team, because task reductions are by thread.
#[unsafe(export_name = "pacman_omp_entry_GOMP_parallel_reductions")]
pub unsafe extern "C-unwind" fn GOMP_parallel_reductions(
    body: Body,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
) -> c_uint {
    let name = Function::GOMP_parallel_reductions;
    let call = || Call::gomp(name, body as *const c_void, data, threads);
    let size = Cell::new(1);
    let start = |real: Option<*mut c_void>, body: Body, data: *mut c_void, threads: c_uint| {
        let Some(real) = real else { return };
        // SAFETY: the runtime's function of that name. A team begins with the first word of data.
        unsafe {
            let real: unsafe extern "C-unwind" fn(Body, *mut c_void, c_uint, c_uint) -> c_uint =
                std::mem::transmute(real);
            size.set(real(body, data, threads, flags));
        }
    };
    let ran = execution::run(
        body as *const c_void,
        call,
        |team, threads, mode| start(team.real(name), gomp_body(mode), data_of(team), threads),
        |runtime| start(runtime.real(name), body, data, threads),
    );
    if !ran {
        // SAFETY: as the runtime does with one thread.
        unsafe { body(data) };
    }
    size.get()
}

/// The body that every member of a libgomp team runs.
#[inline(always)]
fn gomp_body(mode: TeamMode) -> Body {
    match mode {
        TeamMode::Unobserved => gomp_bare,
        TeamMode::Observed => gomp_watched::<{ mode::OBSERVED }>,
        TeamMode::Adapted => gomp_watched::<{ mode::ADAPTED }>,
        TeamMode::Waits => gomp_watched::<{ mode::WAITS }>,
        TeamMode::Sampled => gomp_watched::<{ mode::SAMPLED }>,
        TeamMode::Rotating => gomp_watched::<{ mode::ROTATING }>,
        TeamMode::Traced => gomp_watched::<{ mode::TRACED }>,
        TeamMode::Packed => gomp_watched::<{ mode::PACKED }>,
    }
}

unsafe extern "C-unwind" fn gomp_watched<const MODE: u8>(team: *mut c_void) {
    // SAFETY: the runtime passes the team that was started with this body. It lives until all members are done.
    unsafe {
        match Worker::known() {
            Some(worker) => match worker.counters() {
                Some(counters) => gomp_part::<MODE>(team, worker, counters),
                None if worker.is_prepared() => gomp_part::<MODE>(team, worker, ()),
                None => gomp_first::<MODE>(team),
            },
            None => gomp_first::<MODE>(team),
        }
    }
}

/// The first part of a thread, which opens its counters.
#[cold]
#[inline(never)]
unsafe extern "C-unwind" fn gomp_first<const MODE: u8>(team: *mut c_void) {
    Worker::here().prepared();
    // SAFETY: the runtime passes the team that was started with this body. It lives until all members are done.
    unsafe { gomp_watched::<MODE>(team) }
}

#[inline(never)]
unsafe extern "C-unwind" fn gomp_part<const MODE: u8>(
    team: *mut c_void,
    worker: &Worker,
    counting: impl Counting,
) {
    // SAFETY: `run` passes a team that lives until all members are done, with the body of its mode.
    unsafe {
        let this = &*team.cast::<Team>();
        let body = move || gomp_bare(team);
        this.take_part::<MODE>((worker, counting), move || this.number(), body);
    }
}

/// Runs the program's own body.
#[inline]
unsafe extern "C-unwind" fn gomp_bare(team: *mut c_void) {
    // SAFETY: as in `gomp_part`. The compiler's body takes its data.
    unsafe {
        let team = &*team.cast::<Team>();
        let body: Body = std::mem::transmute(team.body);
        body(team.data)
    }
}
