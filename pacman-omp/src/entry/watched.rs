//! Calls that are watched and then go on to the real function as if nobody had looked.
//!
//! The entries are assembly, so that it does not matter what a function takes and answers:
//! arguments stay where they are, in registers and on the stack.

use std::arch::{asm, global_asm};
use std::ffi::c_void;

use crate::process;
use crate::region::Seen;
use crate::runtime::{self, Function};
use crate::worker::Worker;

// The entry's number is in r11, the address of its first instruction in r10. What a compiler has
// pushed before that is taken back first (see `entry/README.md`). Seven registers and the return
// address leave the stack aligned to 16 bytes.
global_asm!(
    ".pushsection .text.pacman_omp, \"ax\", @progbits",
    ".hidden pacman_omp_watched",
    ".globl pacman_omp_watched",
    ".type pacman_omp_watched, @function",
    "pacman_omp_watched:",
    "cmp dword ptr [r10 - 4], 0xe5894855",
    "jne 2f",
    "pop rbp",
    "2:",
    "cmp byte ptr [r10 - 1], 0x50",
    "jne 3f",
    "test r10b, 14",
    "jnz 3f",
    "lea rsp, [rsp + 8]",
    "3:",
    "push rdi",
    "push rsi",
    "push rdx",
    "push rcx",
    "push r8",
    "push r9",
    "push rax",
    "mov edi, r11d",
    "lea rsi, [rsp + 56]",
    "call {called}",
    "mov r11, rax",
    "pop rax",
    "pop r9",
    "pop r8",
    "pop rcx",
    "pop rdx",
    "pop rsi",
    "pop rdi",
    "jmp r11",
    ".size pacman_omp_watched, . - pacman_omp_watched",
    ".popsection",
    called = sym called,
);

macro_rules! watched {
    ($($name:ident),+ $(,)?) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() -> ! {
            // SAFETY: goes on to the real function, which returns to the caller.
            unsafe {
                asm!(
                    "lea r10, [rip - 7]",
                    "mov r11d, {number}",
                    "jmp pacman_omp_watched",
                    number = const Function::$name as u32,
                    options(noreturn)
                )
            }
        }
    )+};
}

watched!(
    __kmpc_threadprivate_cached,
    __kmpc_threadprivate_register,
    __kmpc_threadprivate_register_vec,
    GOMP_loop_start,
    GOMP_loop_ordered_start,
    GOMP_loop_doacross_start,
    GOMP_loop_static_start,
    GOMP_loop_dynamic_start,
    GOMP_loop_guided_start,
    GOMP_loop_runtime_start,
    GOMP_loop_nonmonotonic_dynamic_start,
    GOMP_loop_nonmonotonic_guided_start,
    GOMP_loop_nonmonotonic_runtime_start,
    GOMP_loop_maybe_nonmonotonic_runtime_start,
    GOMP_loop_ordered_static_start,
    GOMP_loop_ordered_dynamic_start,
    GOMP_loop_ordered_guided_start,
    GOMP_loop_ordered_runtime_start,
    GOMP_loop_doacross_static_start,
    GOMP_loop_doacross_dynamic_start,
    GOMP_loop_doacross_guided_start,
    GOMP_loop_doacross_runtime_start,
    GOMP_loop_ull_start,
    GOMP_loop_ull_ordered_start,
    GOMP_loop_ull_doacross_start,
    GOMP_loop_ull_static_start,
    GOMP_loop_ull_dynamic_start,
    GOMP_loop_ull_guided_start,
    GOMP_loop_ull_runtime_start,
    GOMP_loop_ull_nonmonotonic_dynamic_start,
    GOMP_loop_ull_nonmonotonic_guided_start,
    GOMP_loop_ull_nonmonotonic_runtime_start,
    GOMP_loop_ull_maybe_nonmonotonic_runtime_start,
    GOMP_loop_ull_ordered_static_start,
    GOMP_loop_ull_ordered_dynamic_start,
    GOMP_loop_ull_ordered_guided_start,
    GOMP_loop_ull_ordered_runtime_start,
    GOMP_loop_ull_doacross_static_start,
    GOMP_loop_ull_doacross_dynamic_start,
    GOMP_loop_ull_doacross_guided_start,
    GOMP_loop_ull_doacross_runtime_start,
    GOMP_sections_start,
    GOMP_sections2_start,
    GOMP_taskloop,
    GOMP_taskloop_ull,
    __kmpc_omp_task,
    __kmpc_taskloop,
    __kmpc_taskloop_5,
    omp_set_max_active_levels,
    omp_set_max_active_levels_,
    omp_set_nested,
    omp_set_nested_,
    omp_set_dynamic,
    omp_set_dynamic_,
    omp_set_schedule,
    omp_set_schedule_,
    omp_get_schedule,
    omp_get_schedule_,
    omp_init_lock,
    omp_init_lock_,
    omp_init_nest_lock,
    omp_init_nest_lock_,
    GOMP_task,
    __kmpc_fork_teams,
    __kmpc_push_num_threads,
    __kmpc_push_num_threads_strict,
    __kmpc_push_num_threads_list,
    __kmpc_push_num_threads_list_strict,
    __kmpc_omp_task_with_deps,
    __kmpc_global_thread_num,
    omp_get_max_threads,
    omp_get_max_threads_,
    omp_get_num_procs,
    omp_get_num_procs_,
    omp_get_thread_limit,
    omp_get_thread_limit_,
    omp_set_num_threads,
    omp_set_num_threads_,
    omp_set_num_threads_8_,
    omp_get_thread_num,
    omp_get_thread_num_,
    omp_get_num_threads,
    omp_get_num_threads_,
    omp_get_team_size,
    omp_get_team_size_,
    omp_get_team_size_8_,
    omp_get_ancestor_thread_num,
    omp_get_ancestor_thread_num_,
    omp_get_ancestor_thread_num_8_,
    omp_in_parallel,
    omp_in_parallel_,
    omp_get_active_level,
    omp_get_active_level_,
    execve,
    execv,
    execvp,
    execvpe,
    execl,
    execlp,
    execle,
    fexecve,
    _exit,
    _Exit,
);

/// `GOMP_task` has its flags as the first argument on the stack; this one says `depend`.
const TASK_DEPEND: u64 = 8;

/// Somebody calls an entry: `frame` is where the return address is, with the arguments on the
/// stack behind it. Answers the function to go on to.
unsafe extern "C" fn called(number: u32, frame: *const u64) -> *const c_void {
    let function = Function::numbered(number);
    if let Function::execve
    | Function::execv
    | Function::execvp
    | Function::execvpe
    | Function::execl
    | Function::execlp
    | Function::execle
    | Function::fexecve
    | Function::_exit
    | Function::_Exit = function
    {
        process::leaves(function);
        let real = runtime::real_of_system(function);
        return real.map_or(nothing as *const c_void, <*mut c_void>::cast_const);
    }
    super::ompt::passed();
    // SAFETY: the entry passes its own frame.
    let caller = unsafe { *frame };
    if process::is_observed() {
        // SAFETY: the call has an argument there.
        watch(function, || unsafe { *frame.add(1) });
    }
    match runtime::real_for(caller, function) {
        Some(real) => real,
        None => without_runtime(function),
    }
}

#[inline]
fn watch(function: Function, on_stack: impl Fn() -> u64) {
    use Function::*;
    let bits = match function {
        omp_get_thread_num | omp_get_thread_num_ => return number(1),
        omp_get_num_threads | omp_get_num_threads_ => return number(-1),
        omp_get_team_size
        | omp_get_team_size_
        | omp_get_team_size_8_
        | omp_get_ancestor_thread_num
        | omp_get_ancestor_thread_num_
        | omp_get_ancestor_thread_num_8_
        | omp_in_parallel
        | omp_in_parallel_
        | omp_get_active_level
        | omp_get_active_level_ => Seen::THREAD_NUMBER,
        // Often the first calls of a program: where they pass, others do.
        __kmpc_global_thread_num
        | omp_set_max_active_levels
        | omp_set_max_active_levels_
        | omp_set_nested
        | omp_set_nested_
        | omp_set_dynamic
        | omp_set_dynamic_
        | omp_set_schedule
        | omp_set_schedule_
        | omp_get_schedule
        | omp_get_schedule_
        | omp_init_lock
        | omp_init_lock_
        | omp_init_nest_lock
        | omp_init_nest_lock_ => return,
        __kmpc_threadprivate_cached
        | __kmpc_threadprivate_register
        | __kmpc_threadprivate_register_vec => return process::keeps_by_thread(),
        __kmpc_fork_teams => return process::teams(),
        GOMP_task if on_stack() & TASK_DEPEND == 0 => Seen::SHARES,
        GOMP_loop_start
        | GOMP_loop_ordered_start
        | GOMP_loop_doacross_start
        | GOMP_loop_static_start
        | GOMP_loop_dynamic_start
        | GOMP_loop_guided_start
        | GOMP_loop_runtime_start
        | GOMP_loop_nonmonotonic_dynamic_start
        | GOMP_loop_nonmonotonic_guided_start
        | GOMP_loop_nonmonotonic_runtime_start
        | GOMP_loop_maybe_nonmonotonic_runtime_start
        | GOMP_loop_ordered_static_start
        | GOMP_loop_ordered_dynamic_start
        | GOMP_loop_ordered_guided_start
        | GOMP_loop_ordered_runtime_start
        | GOMP_loop_doacross_static_start
        | GOMP_loop_doacross_dynamic_start
        | GOMP_loop_doacross_guided_start
        | GOMP_loop_doacross_runtime_start
        | GOMP_loop_ull_start
        | GOMP_loop_ull_ordered_start
        | GOMP_loop_ull_doacross_start
        | GOMP_loop_ull_static_start
        | GOMP_loop_ull_dynamic_start
        | GOMP_loop_ull_guided_start
        | GOMP_loop_ull_runtime_start
        | GOMP_loop_ull_nonmonotonic_dynamic_start
        | GOMP_loop_ull_nonmonotonic_guided_start
        | GOMP_loop_ull_nonmonotonic_runtime_start
        | GOMP_loop_ull_maybe_nonmonotonic_runtime_start
        | GOMP_loop_ull_ordered_static_start
        | GOMP_loop_ull_ordered_dynamic_start
        | GOMP_loop_ull_ordered_guided_start
        | GOMP_loop_ull_ordered_runtime_start
        | GOMP_loop_ull_doacross_static_start
        | GOMP_loop_ull_doacross_dynamic_start
        | GOMP_loop_ull_doacross_guided_start
        | GOMP_loop_ull_doacross_runtime_start
        | GOMP_sections_start
        | GOMP_sections2_start
        | GOMP_taskloop
        | GOMP_taskloop_ull
        | __kmpc_omp_task
        | __kmpc_taskloop
        | __kmpc_taskloop_5 => Seen::SHARES,
        GOMP_task | __kmpc_omp_task_with_deps => Seen::TASK_DEPEND,
        __kmpc_push_num_threads
        | __kmpc_push_num_threads_strict
        | __kmpc_push_num_threads_list
        | __kmpc_push_num_threads_list_strict => return Worker::here().push(),
        _ => Seen::QUERY,
    };
    match Worker::known() {
        Some(worker) if worker.depth() > 0 => {
            worker.saw(bits);
            if bits == Seen::QUERY {
                process::asked_inside();
            }
        }
        _ if bits == Seen::QUERY => process::asked(),
        _ => {}
    }
}

/// The body asks for a number of its thread or its team.
#[inline]
fn number(which: i32) {
    // Outside of regions there is one thread, number 0.
    if let Some(worker) = Worker::known().filter(|worker| worker.depth() > 0) {
        worker.asked_for_number(which);
    }
}

/// What a process without an OpenMP runtime answers to the question: such programs ask only if
/// they find the function, and with this library loaded they do.
fn without_runtime(function: Function) -> *const c_void {
    use Function::*;
    match function {
        omp_get_max_threads
        | omp_get_max_threads_
        | omp_get_num_procs
        | omp_get_num_procs_
        | omp_get_thread_limit
        | omp_get_thread_limit_
        | omp_get_num_threads
        | omp_get_num_threads_
        | omp_get_team_size
        | omp_get_team_size_
        | omp_get_team_size_8_ => one as *const c_void,
        _ => nothing as *const c_void,
    }
}

extern "C" fn one() -> i32 {
    1
}

extern "C" fn nothing() -> i32 {
    0
}
