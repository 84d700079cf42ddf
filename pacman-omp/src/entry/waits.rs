//! Calls of the runtimes in which threads wait.
//!
//! Without a request for waits an entry only goes on to the real function. Signatures are those of
//! GCC's `libgomp_g.h` and of LLVM's `kmp.h`; answers are whole registers. `worksharing` has libomp's
//! barriers.

use std::ffi::{c_int, c_void};

use pacman_regions::Cause;

use super::Stack;
use crate::function::Function;
use crate::interpose::real_for;
use crate::waits;

macro_rules! waits {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $answer:ty)?: $cause:ident;)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type,)* stack: Stack) $(-> $answer)? {
            let caller = stack.caller();
            let Some(real) = real_for(caller, Function::$name) else {
                return Default::default();
            };
            // SAFETY: the runtime's function of that name, with the program's own arguments.
            let call = move || unsafe {
                let real: unsafe extern "C-unwind" fn($($type),*) $(-> $answer)? =
                    std::mem::transmute(real);
                real($($argument),*)
            };
            waits::wait(Cause::$cause, caller, call)
        }
    )+};
}

waits! {
    GOMP_barrier(): Barrier;
    GOMP_barrier_cancel() -> usize: Barrier;
    GOMP_loop_end(): Loop;
    GOMP_loop_end_cancel() -> usize: Loop;
    GOMP_workshare_task_reduction_unregister(cancelled: usize): Worksharing;
    GOMP_sections_end(): Sections;
    GOMP_sections_end_cancel() -> usize: Sections;
    // Threads that do not run the block wait in the first, the one that does in the second.
    GOMP_single_copy_start() -> usize: Single;
    GOMP_single_copy_end(data: *mut c_void): Single;
    GOMP_critical_start(): Critical;
    GOMP_critical_name_start(lock: *mut c_void): Critical;
    GOMP_atomic_start(): Atomic;
    GOMP_ordered_start(): Ordered;
    GOMP_taskwait(): Taskwait;
    GOMP_taskwait_depend(depend: *mut c_void): Taskwait;
    GOMP_taskgroup_end(): Taskgroup;
    omp_set_lock(lock: *mut c_void): Lock;
    omp_set_lock_(lock: *mut c_void): Lock;
    omp_set_nest_lock(lock: *mut c_void): Lock;
    omp_set_nest_lock_(lock: *mut c_void): Lock;
    __kmpc_end_reduce(place: usize, number: c_int, lock: usize): Reduction;
    __kmpc_copyprivate(
        place: usize, number: c_int, size: usize, data: usize, copy: usize, has_run: c_int
    ): Single;
    __kmpc_critical(place: usize, number: c_int, lock: usize): Critical;
    __kmpc_critical_with_hint(place: usize, number: c_int, lock: usize, hint: u32): Critical;
    __kmpc_ordered(place: usize, number: c_int): Ordered;
    __kmpc_doacross_wait(place: usize, number: c_int, vector: usize): Ordered;
    __kmpc_omp_taskwait(place: usize, number: c_int) -> usize: Taskwait;
    __kmpc_omp_wait_deps(
        place: usize, number: c_int, count: c_int, list: usize, others: c_int, other_list: usize
    ): Taskwait;
    __kmpc_end_taskgroup(place: usize, number: c_int): Taskgroup;
}

/// The seventh argument is on the stack.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __kmpc_reduce(
    place: usize,
    number: c_int,
    count: c_int,
    size: usize,
    data: usize,
    combine: usize,
    stack: Stack,
) -> usize {
    let caller = stack.caller();
    let Some(real) = real_for(caller, Function::__kmpc_reduce) else { return 0 };
    type Real = unsafe extern "C-unwind" fn(usize, c_int, c_int, usize, usize, usize, u64) -> usize;
    // SAFETY: the runtime's function of that name, with the program's own arguments.
    let call = move || unsafe {
        let real: Real = std::mem::transmute(real);
        real(place, number, count, size, data, combine, stack.words[0])
    };
    waits::wait(Cause::Reduction, caller, call)
}

/// Waits for another iteration of a loop. The function takes a number for each level of the loop:
/// six in registers, and more on the stack than compilers have levels for.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn GOMP_doacross_wait(
    first: usize,
    second: usize,
    third: usize,
    fourth: usize,
    fifth: usize,
    sixth: usize,
    stack: Stack,
) {
    let caller = stack.caller();
    let Some(real) = real_for(caller, Function::GOMP_doacross_wait) else { return };
    type Real = unsafe extern "C-unwind" fn(usize, ...);
    let words = stack.words;
    // SAFETY: the runtime's function of that name. It reads as many words as the loop has levels.
    let call = move || unsafe {
        let real: Real = std::mem::transmute(real);
        real(first, second, third, fourth, fifth, sixth, words[0], words[1], words[2])
    };
    waits::wait(Cause::Ordered, caller, call)
}
