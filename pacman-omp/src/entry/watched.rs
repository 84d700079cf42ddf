//! Watched calls, which go on to the real function unchanged.
//!
//! The entries are assembly and leave arguments where they are, in registers and on the stack. So they
//! fit functions of any type.

use std::arch::{asm, global_asm};
use std::ffi::c_void;

use super::prologue::prologue_undone;
use crate::adapt;
use crate::function::{CallKind, Function, functions};
use crate::interpose;
use crate::lifecycle;
use crate::process;
use crate::program;
use crate::seen::Seen;
use crate::worker::Worker;

// r11 has the entry's number, r10 the address of its first instruction. Seven registers and the return
// address keep the stack aligned to 16 bytes.
global_asm!(
    ".pushsection .text.pacman_omp, \"ax\", @progbits",
    ".hidden pacman_omp_watched",
    ".globl pacman_omp_watched",
    ".type pacman_omp_watched, @function",
    "pacman_omp_watched:",
    prologue_undone!(),
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

macro_rules! entries {
    ({ $($called:ident)+ } $($kind:ident { $($name:ident)+ })+) => {
        $($(entries!($kind $name);)+)+
    };
    // The library has no entry of these names.
    (Called $name:ident) => {};
    // `numbers` has these in Rust.
    (ThreadNumber $name:ident) => {};
    (TeamSize $name:ident) => {};
    // `mpi` has these.
    (Mpi $name:ident) => {};
    // `kokkos` and `markers` have these.
    (Marks $name:ident) => {};
    // `tasks` has these.
    (Task $name:ident) => {};
    (SharesAsTasks GOMP_taskloop) => {};
    (SharesAsTasks GOMP_taskloop_ull) => {};
    // `dynamic_loops` has these.
    (SharesWork GOMP_loop_dynamic_start) => {};
    (SharesWork GOMP_loop_nonmonotonic_dynamic_start) => {};
    (SharesWork GOMP_loop_runtime_start) => {};
    (SharesWork GOMP_loop_nonmonotonic_runtime_start) => {};
    (SharesWork GOMP_loop_maybe_nonmonotonic_runtime_start) => {};
    (SharesWork GOMP_loop_ull_dynamic_start) => {};
    (SharesWork GOMP_loop_ull_nonmonotonic_dynamic_start) => {};
    (SharesWork GOMP_loop_ull_runtime_start) => {};
    (SharesWork GOMP_loop_ull_nonmonotonic_runtime_start) => {};
    (SharesWork GOMP_loop_ull_maybe_nonmonotonic_runtime_start) => {};
    ($kind:ident $name:ident) => {
        // Inlined into code of this library, the entry would have no return address of its own.
        #[unsafe(no_mangle)]
        #[inline(never)]
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
    };
}

functions!(entries);

/// The `depend` flag of `GOMP_task`, whose flags are the first argument on the stack.
const TASK_DEPEND: u64 = 8;

/// Handles a call of an entry, and answers the function to go on to. `frame` is the address of the
/// return address, with the stack arguments behind it.
unsafe extern "C" fn called(number: u32, frame: *const u64) -> *const c_void {
    let function = Function::numbered(number);
    let kind = function.kind();
    let real = match kind {
        CallKind::Exits => {
            lifecycle::leave(false);
            interpose::next(function)
        }
        CallKind::Execs => {
            adapt::mask_matters();
            lifecycle::leave(true);
            interpose::next(function)
        }
        CallKind::UsesAffinity => {
            adapt::mask_matters();
            interpose::next(function)
        }
        _ => {
            if process::is_observed() {
                // SAFETY: as above.
                watch(kind, unsafe { *frame }, || 0);
            }
            // SAFETY: as above.
            interpose::real_for(unsafe { *frame }, function)
        }
    };
    real.map_or_else(|| without_runtime(kind), <*mut c_void>::cast_const)
}

/// Notes a call of that kind that returns to `caller`. `on_stack` answers the first argument on the stack.
#[inline]
pub(super) fn watch(kind: CallKind, caller: u64, on_stack: impl Fn() -> u64) {
    let bits = match kind {
        CallKind::Position | CallKind::AncestorTeamSize => Seen::THREAD_NUMBER,
        CallKind::Query | CallKind::SetsNumThreads => Seen::QUERY,
        CallKind::Task if on_stack() & TASK_DEPEND == 0 => Seen::SHARES | Seen::TASKS,
        CallKind::SharesAsTasks => Seen::SHARES | Seen::TASKS,
        CallKind::SharesWork => Seen::SHARES,
        CallKind::Task | CallKind::DependentTask => Seen::TASK_DEPEND | Seen::TASKS,
        CallKind::PushesNumThreads => return Worker::here().push(),
        CallKind::Threadprivate => return program::keeps_by_thread(),
        CallKind::Teams => return program::teams(),
        CallKind::ChangesTeams => return process::may_change_teams(),
        CallKind::Neutral | CallKind::Called | CallKind::ThreadNumber | CallKind::TeamSize => {
            return;
        }
        CallKind::Exits | CallKind::Execs | CallKind::UsesAffinity => return,
        CallKind::Mpi | CallKind::Marks => return,
    };
    if bits == Seen::QUERY {
        process::may_change_teams();
    }
    match Worker::known() {
        Some(worker) if worker.depth() > 0 => {
            worker.saw_at(bits, caller);
            if bits == Seen::QUERY {
                program::asked_inside();
            }
        }
        _ if kind == CallKind::SetsNumThreads => program::decided(caller),
        _ if bits == Seen::QUERY => program::asked(caller),
        _ => {}
    }
}

/// The answer of a process without an OpenMP runtime. Such programs ask only if they find the function,
/// and with this library loaded they find it.
fn without_runtime(kind: CallKind) -> *const c_void {
    match kind {
        CallKind::Query | CallKind::AncestorTeamSize => one as *const c_void,
        _ => nothing as *const c_void,
    }
}

extern "C" fn one() -> i32 {
    1
}

extern "C" fn nothing() -> i32 {
    0
}
