//! libgomp's dynamic loops, whose threads may take several chunks at once; see `adapt/chunks.rs`.
//!
//! The first thread of a team that starts a loop has the runtime make it, and the runtime ignores the chunk
//! that the others pass. libomp, which has these entries too, takes each thread's own chunk; there all
//! members of a team know the same multiple. Signatures are those of GCC's `libgomp_g.h`.

use std::ffi::{c_int, c_long, c_ulonglong, c_void};

use super::{Stack, watched};
use crate::adapt::joined_chunks;
use crate::function::{CallKind, Function};
use crate::interpose::real_for;
use crate::process;
use crate::team::Team;
use crate::worker::{DynamicLoops, Worker};

/// `omp_sched_dynamic`, without the modifier in the highest bit.
const DYNAMIC: c_int = 2;
const MODIFIERS: c_int = 1 << 31;

/// The loops of the calling thread, for a call that returns to `caller`. `None` if this library leaves the loop
/// as it is.
#[inline]
fn concerned(caller: u64) -> Option<&'static DynamicLoops> {
    if !process::is_adapted() {
        return None;
    }
    watched::watch(CallKind::SharesWork, caller, || 0);
    let worker = Worker::known()?;
    // A region inside has loops of its own.
    (worker.depth() == 1 && worker.dynamic.matter()).then_some(&worker.dynamic)
}

/// The chunk to pass on for a loop of `iterations` in chunks of `chunk`. Counts its chunks.
#[cold]
pub(super) fn chunk_for(
    loops: &DynamicLoops,
    multiple: u32,
    iterations: u64,
    chunk: i64,
    threads: u32,
) -> i64 {
    let chunks = iterations / u64::try_from(chunk).unwrap_or(1).max(1);
    loops.add(chunks);
    if multiple > 1 { joined_chunks(multiple, chunk, chunks, threads) } else { chunk }
}

/// As [`chunk_for`], in the entry of a loop that `caller` starts.
#[inline]
fn chunk_at(caller: u64, loops: &DynamicLoops, iterations: u64, chunk: i64) -> i64 {
    chunk_for(loops, loops.multiple(), iterations, chunk, team_size(caller))
}

/// The chunk for a region that is one loop, from `bounds.0` to `bounds.1` by `bounds.2`. Its team gets
/// `threads`; 0 leaves the number to the runtime.
#[inline]
pub(super) fn chunk_of(team: &Team, threads: u32, bounds: (i64, i64, i64), chunk: i64) -> i64 {
    let Some(worker) = Worker::known().filter(|_| process::is_adapted()) else { return chunk };
    let multiple = team.multiple();
    if worker.depth() > 0 || !(multiple > 1 || worker.dynamic.matter()) {
        return chunk;
    }
    let threads = if threads > 0 { threads } else { team.most_threads() };
    chunk_for(&worker.dynamic, multiple, iterations(bounds.0, bounds.1, bounds.2), chunk, threads)
}

/// The size of the team of a thread that calls from `caller`.
fn team_size(caller: u64) -> u32 {
    let Some(real) = real_for(caller, Function::omp_get_num_threads) else { return 1 };
    // SAFETY: the runtime's function of that name.
    let real: unsafe extern "C" fn() -> c_int = unsafe { std::mem::transmute(real) };
    // SAFETY: as above.
    unsafe { real() }.max(1) as u32
}

/// The chunk for a loop of `schedule(runtime)`, if it is another than the schedule's own.
fn joined_at(caller: u64, loops: &DynamicLoops, iterations: u64) -> Option<i64> {
    let chunk = runtime_chunk(caller)?;
    Some(chunk_at(caller, loops, iterations, chunk)).filter(|joined| *joined != chunk)
}

/// The chunk of `schedule(runtime)` for the calling thread, if its schedule is dynamic.
pub(super) fn runtime_chunk(caller: u64) -> Option<i64> {
    type Real = unsafe extern "C" fn(*mut c_int, *mut c_int);
    let real = real_for(caller, Function::omp_get_schedule)?;
    let (mut kind, mut chunk) = (0, 0);
    // SAFETY: the runtime's function of that name.
    unsafe { std::mem::transmute::<*mut c_void, Real>(real)(&raw mut kind, &raw mut chunk) };
    (kind & !MODIFIERS == DYNAMIC).then_some(i64::from(chunk.max(1)))
}

/// LLVM's numbers for the two schedules, and its modifiers monotonic and nonmonotonic.
const KMP_DYNAMIC: i32 = 35;
const KMP_RUNTIME: i32 = 37;
const KMP_MODIFIERS: i32 = 1 << 29 | 1 << 30;

/// The schedule and chunk for a loop that libomp divides, from `bounds.0` to `bounds.1`, which is one of the
/// iterations, by `bounds.2`. `None` leaves both as they are.
///
/// libomp takes each thread's own chunk. All members of a team have the same multiple and compute the same.
#[inline]
pub(crate) fn dynamic_schedule(
    caller: u64,
    schedule: i32,
    chunk: i64,
    bounds: impl FnOnce() -> (i128, i128, i64),
) -> Option<(i32, i64)> {
    let loops = concerned(caller)?;
    let (chunk, is_runtime) = match schedule & !KMP_MODIFIERS {
        KMP_DYNAMIC => (chunk.max(1), false),
        KMP_RUNTIME => (runtime_chunk(caller)?, true),
        _ => return None,
    };
    let (lower, upper, step) = bounds();
    let distance = if step > 0 { upper - lower } else { lower - upper };
    let steps = u128::try_from(distance).ok()? / u128::from(step.unsigned_abs().max(1));
    let iterations = u64::try_from(steps).ok()?.saturating_add(1);
    let joined = chunk_at(caller, loops, iterations, chunk);
    let schedule = if is_runtime { KMP_DYNAMIC | schedule & KMP_MODIFIERS } else { schedule };
    (joined != chunk).then_some((schedule, joined))
}

/// The iterations from `start` up or down to `end`, which is not one of them.
pub(super) fn iterations(start: i64, end: i64, step: i64) -> u64 {
    let distance = if step > 0 {
        i128::from(end) - i128::from(start)
    } else {
        i128::from(start) - i128::from(end)
    };
    let steps =
        u128::try_from(distance).unwrap_or(0).div_ceil(u128::from(step.unsigned_abs().max(1)));
    u64::try_from(steps).unwrap_or(u64::MAX)
}

/// As [`iterations`], of numbers without a sign; a step down is a large one.
fn unsigned_iterations(up: bool, start: u64, end: u64, step: u64) -> u64 {
    let (distance, step) = if up {
        (end.saturating_sub(start), step)
    } else {
        (start.saturating_sub(end), step.wrapping_neg())
    };
    distance.div_ceil(step.max(1))
}

type Signed =
    unsafe extern "C-unwind" fn(c_long, c_long, c_long, c_long, *mut c_long, *mut c_long) -> usize;
type SignedRuntime =
    unsafe extern "C-unwind" fn(c_long, c_long, c_long, *mut c_long, *mut c_long) -> usize;
type Unsigned = unsafe extern "C-unwind" fn(
    usize,
    c_ulonglong,
    c_ulonglong,
    c_ulonglong,
    c_ulonglong,
    *mut c_ulonglong,
    *mut c_ulonglong,
) -> usize;
type UnsignedRuntime = unsafe extern "C-unwind" fn(
    usize,
    c_ulonglong,
    c_ulonglong,
    c_ulonglong,
    *mut c_ulonglong,
    *mut c_ulonglong,
) -> usize;

/// The call of an entry.
struct Call {
    caller: u64,
    loops: Option<&'static DynamicLoops>,
    real: *mut c_void,
}

impl Call {
    /// The call of `function`'s entry that returns to `caller`; `None` without a runtime.
    #[inline(always)]
    fn of(function: Function, caller: u64) -> Option<Call> {
        let loops = concerned(caller);
        Some(Call { caller, loops, real: real_for(caller, function)? })
    }

    /// The chunk to pass on instead of `chunk`.
    #[inline(always)]
    fn chunk(&self, chunk: i64, iterations: impl FnOnce() -> u64) -> i64 {
        self.loops.map_or(chunk, |loops| chunk_at(self.caller, loops, iterations(), chunk))
    }

    /// For a loop of `schedule(runtime)` the chunk to pass to `explicit`, if it is another than the
    /// schedule's own.
    #[inline(always)]
    fn joined(
        &self,
        explicit: Function,
        iterations: impl FnOnce() -> u64,
    ) -> Option<(i64, *mut c_void)> {
        let chunk = joined_at(self.caller, self.loops?, iterations())?;
        Some((chunk, real_for(self.caller, explicit)?))
    }
}

/// Entries of these names, with the runtime's arguments in registers. `$stack` has those behind them.
macro_rules! entries {
    ($($name:ident)+; |$call:ident, $stack:ident| $arguments:tt $start:block) => {
        $(entry! { $name $call $stack $arguments $start })+
    };
}

macro_rules! entry {
    ($name:ident $call:ident $stack:ident ($($argument:ident: $kind:ty),+) $start:block) => {
        #[unsafe(export_name = concat!("pacman_omp_entry_", stringify!($name)))]
        pub unsafe extern "C-unwind" fn $name($($argument: $kind,)+ $stack: Stack) -> usize {
            let Some($call) = Call::of(Function::$name, $stack.caller()) else { return 0 };
            $start
        }
    };
}

entries! {
    GOMP_loop_dynamic_start GOMP_loop_nonmonotonic_dynamic_start;
    |call, stack| (
        start: c_long,
        end: c_long,
        step: c_long,
        chunk: c_long,
        first: *mut c_long,
        last: *mut c_long
    ) {
        let chunk = call.chunk(chunk, || iterations(start, end, step));
        // SAFETY: the runtime's function of that name, with the program's own arguments, or with a
        // multiple of its chunk.
        unsafe {
            let real: Signed = std::mem::transmute(call.real);
            real(start, end, step, chunk, first, last)
        }
    }
}

entries! {
    GOMP_loop_runtime_start GOMP_loop_nonmonotonic_runtime_start GOMP_loop_maybe_nonmonotonic_runtime_start;
    |call, stack| (
        start: c_long,
        end: c_long,
        step: c_long,
        first: *mut c_long,
        last: *mut c_long
    ) {
        let explicit = Function::GOMP_loop_nonmonotonic_dynamic_start;
        // SAFETY: the runtime's functions of those names, with the program's own arguments. A dynamic
        // schedule at run time is the explicit one with a multiple of its chunk.
        unsafe {
            if let Some((chunk, real)) = call.joined(explicit, || iterations(start, end, step)) {
                let real: Signed = std::mem::transmute(real);
                return real(start, end, step, chunk, first, last);
            }
            let real: SignedRuntime = std::mem::transmute(call.real);
            real(start, end, step, first, last)
        }
    }
}

// The seventh argument is on the stack.
entries! {
    GOMP_loop_ull_dynamic_start GOMP_loop_ull_nonmonotonic_dynamic_start;
    |call, stack| (
        up: usize,
        start: c_ulonglong,
        end: c_ulonglong,
        step: c_ulonglong,
        chunk: c_ulonglong,
        first: *mut c_ulonglong
    ) {
        let of_loop = || unsigned_iterations(up & 1 != 0, start, end, step);
        let known = i64::try_from(chunk).ok();
        let chunk = known.map_or(chunk, |chunk| call.chunk(chunk, of_loop) as u64);
        // SAFETY: the runtime's function of that name, with the program's own arguments, or with a
        // multiple of its chunk.
        unsafe {
            let real: Unsigned = std::mem::transmute(call.real);
            real(up, start, end, step, chunk, first, stack.words[0] as *mut c_ulonglong)
        }
    }
}

entries! {
    GOMP_loop_ull_runtime_start GOMP_loop_ull_nonmonotonic_runtime_start
    GOMP_loop_ull_maybe_nonmonotonic_runtime_start;
    |call, stack| (
        up: usize,
        start: c_ulonglong,
        end: c_ulonglong,
        step: c_ulonglong,
        first: *mut c_ulonglong,
        last: *mut c_ulonglong
    ) {
        let explicit = Function::GOMP_loop_ull_nonmonotonic_dynamic_start;
        let of_loop = || unsigned_iterations(up & 1 != 0, start, end, step);
        // SAFETY: as for loops of numbers with a sign.
        unsafe {
            if let Some((chunk, real)) = call.joined(explicit, of_loop) {
                let real: Unsigned = std::mem::transmute(real);
                return real(up, start, end, step, chunk as u64, first, last);
            }
            let real: UnsignedRuntime = std::mem::transmute(call.real);
            real(up, start, end, step, first, last)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_those_of_the_loop() {
        for start in -7_i64..8 {
            for end in -7..8 {
                for step in [-3_i64, -1, 1, 2, 5] {
                    let ends = |at: i64| if step > 0 { at >= end } else { at <= end };
                    let count = (0..).take_while(|n| !ends(start + n * step)).count() as u64;
                    assert_eq!(iterations(start, end, step), count, "{start} to {end} by {step}");
                    if start >= 0 && end >= 0 {
                        let unsigned = (start as u64, end as u64, step as u64);
                        let (start, end, step_) = unsigned;
                        assert_eq!(unsigned_iterations(step > 0, start, end, step_), count);
                    }
                }
            }
        }
        assert_eq!(iterations(i64::MIN, i64::MAX, 1), u64::MAX);
    }
}
