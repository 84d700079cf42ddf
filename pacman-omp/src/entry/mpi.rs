//! Calls of MPI.
//!
//! Without a request for waits an entry jumps to the real function and leaves all registers alone. So a
//! library of the program may have a function of such a name and of any type. With a request, the call
//! goes through [`forward`]. All arguments of MPI's functions are words, so one function forwards the
//! calls of every implementation. The [README](../waits/README.md) has the reasons for both names.

use std::arch::{asm, global_asm};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use super::prologue::prologue_undone;
use crate::function::{CallKind, Function, functions};
use crate::interpose;
use crate::process;
use crate::waits;

/// Whether calls of MPI are timed. The entries read it.
static TIMED: AtomicBool = AtomicBool::new(false);

/// Has calls of MPI be timed. The program has not begun yet.
pub(crate) fn time_mpi() {
    TIMED.store(true, Ordering::Relaxed);
}

// r11 has the entry's number, r10 the address of its first instruction. The slow path keeps all
// registers that may have arguments, also those for floating point.
global_asm!(
    ".pushsection .text.pacman_omp_mpi, \"ax\", @progbits",
    ".hidden pacman_omp_mpi",
    ".globl pacman_omp_mpi",
    ".type pacman_omp_mpi, @function",
    "pacman_omp_mpi:",
    prologue_undone!(),
    "cmp byte ptr [rip + {timed}], 0",
    "jne 4f",
    "lea r10, [rip + {shared}]",
    "mov r10, qword ptr [r10 + 8 * r11]",
    "test r10, r10",
    "je 4f",
    "jmp r10",
    "4:",
    "push rdi",
    "push rsi",
    "push rdx",
    "push rcx",
    "push r8",
    "push r9",
    "push rax",
    "push r11",
    "sub rsp, 136",
    "movups [rsp], xmm0",
    "movups [rsp + 16], xmm1",
    "movups [rsp + 32], xmm2",
    "movups [rsp + 48], xmm3",
    "movups [rsp + 64], xmm4",
    "movups [rsp + 80], xmm5",
    "movups [rsp + 96], xmm6",
    "movups [rsp + 112], xmm7",
    "mov edi, r11d",
    "mov rsi, qword ptr [rsp + 200]",
    "call {target}",
    "mov r10, rax",
    "movups xmm0, [rsp]",
    "movups xmm1, [rsp + 16]",
    "movups xmm2, [rsp + 32]",
    "movups xmm3, [rsp + 48]",
    "movups xmm4, [rsp + 64]",
    "movups xmm5, [rsp + 80]",
    "movups xmm6, [rsp + 96]",
    "movups xmm7, [rsp + 112]",
    "add rsp, 136",
    "pop r11",
    "pop rax",
    "pop r9",
    "pop r8",
    "pop rcx",
    "pop rdx",
    "pop rsi",
    "pop rdi",
    "jmp r10",
    ".size pacman_omp_mpi, . - pacman_omp_mpi",
    // A frame for debuggers and exceptions, with the arguments of the six registers.
    ".hidden pacman_omp_mpi_timed",
    ".globl pacman_omp_mpi_timed",
    ".type pacman_omp_mpi_timed, @function",
    "pacman_omp_mpi_timed:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "push r9",
    "push r8",
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    "mov edi, r11d",
    "mov rsi, rsp",
    "lea rdx, [rbp + 8]",
    "call {forward}",
    "leave",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size pacman_omp_mpi_timed, . - pacman_omp_mpi_timed",
    ".popsection",
    timed = sym TIMED,
    shared = sym interpose::SHARED,
    target = sym target,
    forward = sym forward,
);

unsafe extern "C" {
    fn pacman_omp_mpi_timed();
}

macro_rules! entries {
    ({ $($called:ident)+ } $($kind:ident { $($name:ident)+ })+) => {
        $($(entries!($kind $name);)+)+
    };
    (Mpi $name:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() -> ! {
            // SAFETY: goes on to the real function, which returns to the caller.
            unsafe {
                asm!(
                    "lea r10, [rip - 7]",
                    "mov r11d, {number}",
                    "jmp pacman_omp_mpi",
                    number = const Function::$name as u32,
                    options(noreturn)
                )
            }
        }
    };
    ($kind:ident $name:ident) => {};
}

functions!(entries);

/// The function to go on to for a call that returns to `caller`.
unsafe extern "C" fn target(number: u32, caller: u64) -> *const c_void {
    let function = Function::numbered(number);
    debug_assert_eq!(function.kind(), CallKind::Mpi);
    match interpose::real_for(caller, function) {
        None => failed as *const c_void,
        Some(_) if process::has_waits() && is_mpi_s(caller, function) => {
            pacman_omp_mpi_timed as *const c_void
        }
        Some(real) => real,
    }
}

/// By function: 0 before the first call, then [`MPI_S`] or [`ANOTHER`].
static OWNERS: [AtomicU8; Function::COUNT] = [const { AtomicU8::new(0) }; Function::COUNT];
const MPI_S: u8 = 1;
const ANOTHER: u8 = 2;

/// Whether the function is of an MPI library, which has each function under two names. A function of the
/// program that merely has such a name may have other arguments.
fn is_mpi_s(caller: u64, function: Function) -> bool {
    // ATOMICS: the answer depends on no other memory.
    let owner = &OWNERS[function as usize];
    if owner.load(Ordering::Relaxed) == 0 {
        let twin = interpose::real_for(caller, function.profiling());
        owner.store(if twin.is_some() { MPI_S } else { ANOTHER }, Ordering::Relaxed);
    }
    owner.load(Ordering::Relaxed) == MPI_S
}

/// `MPI_ERR_OTHER` of MPICH, an error in every implementation: without this library the program would
/// not have found the function.
extern "C" fn failed() -> i32 {
    15
}

/// Times a call. `registers` are its first six arguments, and `frame` has its return address, with the
/// other arguments behind it.
unsafe extern "C-unwind" fn forward(
    number: u32,
    registers: *const [usize; 6],
    frame: *const usize,
) -> usize {
    let function = Function::numbered(number);
    // SAFETY: the assembly above passes both. No function of the table has more than 12 arguments; the
    // words behind a shorter list are the caller's own stack.
    let (&[a, b, c, d, e, f], &[caller, g, h, i, j, k, l]) =
        unsafe { (&*registers, &*frame.cast::<[usize; 7]>()) };
    let Some(real) = interpose::real_for(caller as u64, function) else { return 15 };
    type Real = unsafe extern "C-unwind" fn(
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
    ) -> usize;
    // SAFETY: the function of that name, with the program's own arguments. A function ignores words on
    // the stack behind its own arguments.
    waits::mpi(function, caller as u64, || unsafe {
        let real: Real = std::mem::transmute(real);
        real(a, b, c, d, e, f, g, h, i, j, k, l)
    })
}
