//! The entries for libomp's worksharing and barriers.
//!
//! Each entry calls the real function, which keeps state for tools and for the runtime's own checks. A
//! share of this library then replaces the real one.

#![allow(unreachable_pub, non_snake_case)]

use std::ffi::c_void;

use pacman_regions::Cause;

use super::partition::{Index, Iterations};
use super::queries::Member;
use super::schedule::{self, Ident};
use crate::entry::{Stack, dynamic_schedule};
use crate::function::Function;
use crate::interpose::real_for;
use crate::process;
use crate::seen::Seen;
use crate::waits;
use crate::worker::Worker;

macro_rules! static_loops {
    ($($name:ident: $type:ty, $step:ty;)+) => {$(
        #[unsafe(export_name = concat!("pacman_omp_entry_", stringify!($name)))]
        pub unsafe extern "C-unwind" fn $name(
            place: *const Ident,
            number: i32,
            schedule: i32,
            last: *mut i32,
            lower: *mut $type,
            upper: *mut $type,
            stack: Stack,
        ) {
            let caller = stack.caller();
            let [stride, step, chunk] = stack.words;
            let (stride, step, chunk) = (stride as *mut $step, step as $step, chunk as $step);
            type Real = unsafe extern "C-unwind" fn(
                *const Ident, i32, i32, *mut i32, *mut $type, *mut $type, *mut $step, $step, $step,
            );
            let Some(real) = real_for(caller, Function::$name) else { return };
            // SAFETY: the runtime's function of that name.
            let real: Real = unsafe { std::mem::transmute::<*mut c_void, Real>(real) };
            let Some(member) = shares() else {
                // SAFETY: the program's own arguments.
                return unsafe {
                    real(place, number, schedule, last, lower, upper, stride, step, chunk)
                };
            };
            // SAFETY: the program's own arguments; bounds are never null.
            unsafe {
                let iterations =
                    Iterations { lower: *lower, upper: *upper, step: i64::from(step) };
                real(place, number, schedule, last, lower, upper, stride, step, chunk);
                let division =
                    || schedule::division(schedule, Ident::flags(place), i64::from(chunk));
                let source = || Ident::source(place);
                if let Some(share) = member.share(caller, iterations, division, source) {
                    (*lower, *upper) = (share.lower, share.upper);
                    *stride = <$type as Index>::step(share.stride);
                    if !last.is_null() {
                        *last = i32::from(share.last);
                    }
                }
            }
        }
    )+};
}

static_loops! {
    __kmpc_for_static_init_4: i32, i32;
    __kmpc_for_static_init_4u: u32, i32;
    __kmpc_for_static_init_8: i64, i64;
    __kmpc_for_static_init_8u: u64, i64;
}

/// Notes that the body has the runtime share work out. Answers the thread's part in an execution whose
/// loops are observed, if there is one.
#[inline]
fn shares() -> Option<&'static Member> {
    if !process::is_adapted() {
        return None;
    }
    let worker = Worker::known()?;
    worker.saw(Seen::SHARES);
    worker.member.is_in().then_some(&worker.member)
}

macro_rules! fetching_loops {
    ($($name:ident: $type:ty, $step:ty;)+) => {$(
        #[unsafe(export_name = concat!("pacman_omp_entry_", stringify!($name)))]
        pub unsafe extern "C-unwind" fn $name(
            place: *const Ident,
            number: i32,
            schedule: i32,
            lower: $type,
            upper: $type,
            step: $step,
            stack: Stack,
        ) {
            let caller = stack.caller();
            type Real =
                unsafe extern "C-unwind" fn(*const Ident, i32, i32, $type, $type, $step, $step);
            let Some(real) = real_for(caller, Function::$name) else { return };
            // SAFETY: the runtime's function of that name.
            let real: Real = unsafe { std::mem::transmute::<*mut c_void, Real>(real) };
            let chunk = stack.words[0] as $step;
            let bounds = || (i128::from(lower), i128::from(upper), i64::from(step));
            let (schedule, chunk) = match dynamic_schedule(caller, schedule, i64::from(chunk), bounds) {
                // A chunk has at most a hundredth of the loop's iterations.
                Some((schedule, chunk)) => (schedule, chunk as $step),
                None => (schedule, chunk),
            };
            // SAFETY: the program's own arguments, or a multiple of its chunk.
            unsafe { real(place, number, schedule, lower, upper, step, chunk) };
            if let Some(member) = shares() {
                // SAFETY: as above.
                member.fetches(caller, || unsafe { Ident::source(place) });
            }
        }
    )+};
}

fetching_loops! {
    __kmpc_dispatch_init_4: i32, i32;
    __kmpc_dispatch_init_4u: u32, i32;
    __kmpc_dispatch_init_8: i64, i64;
    __kmpc_dispatch_init_8u: u64, i64;
}

/// The function has no stack arguments; `stack` only gives the return address.
#[unsafe(export_name = "pacman_omp_entry___kmpc_barrier")]
pub unsafe extern "C-unwind" fn __kmpc_barrier(place: *const Ident, number: i32, stack: Stack) {
    let caller = stack.caller();
    let Some(real) = real_for(caller, Function::__kmpc_barrier) else { return };
    type Real = unsafe extern "C-unwind" fn(*const Ident, i32);
    // SAFETY: the runtime's function of that name.
    let real: Real = unsafe { std::mem::transmute::<*mut c_void, Real>(real) };
    // SAFETY: the runtime's function of that name, with the program's own arguments.
    let wait = || unsafe { real(place, number) };
    if process::has_waits() {
        // SAFETY: compilers pass a description, or null.
        let cause = schedule::barrier(unsafe { Ident::flags(place) });
        return waits::wait(cause, stack.place(), wait);
    }
    match Worker::known() {
        // The threads of an adapted region wait here as well, and so do those of its barrier intervals.
        Some(worker) => worker.member.pass(|| waits::wait(Cause::Barrier, stack.place(), wait)),
        None => wait(),
    }
}

/// As [`__kmpc_barrier`], in a region that may be cancelled. libomp calls that one inside.
#[unsafe(export_name = "pacman_omp_entry___kmpc_cancel_barrier")]
pub unsafe extern "C-unwind" fn __kmpc_cancel_barrier(
    place: *const Ident,
    number: i32,
    stack: Stack,
) -> i32 {
    let caller = stack.caller();
    let Some(real) = real_for(caller, Function::__kmpc_cancel_barrier) else { return 0 };
    type Real = unsafe extern "C-unwind" fn(*const Ident, i32) -> i32;
    // SAFETY: the runtime's function of that name.
    let real: Real = unsafe { std::mem::transmute::<*mut c_void, Real>(real) };
    // SAFETY: the program's own arguments.
    let wait = || unsafe { real(place, number) };
    if !process::times_waits() {
        return wait();
    }
    // SAFETY: compilers pass a description, or null.
    let cause = schedule::barrier(unsafe { Ident::flags(place) });
    waits::wait(cause, stack.place(), wait)
}
