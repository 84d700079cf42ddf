//! Calls that go on to the real function as they came.
//!
//! A watched function is a runtime's, the C library's or MPI's. Its arguments are its own affair: some
//! are unknown in number, and later releases add more. So no entry copies them. An entry keeps the
//! registers, asks [`decide`] where the call goes, and jumps there with registers and stack as they came.
//!
//! If the library needs the end of a call, the call is made *in place*: the return address moves from
//! the stack to a [`Record`], and a call instruction puts this code's own into the same slot. All
//! arguments on the stack stay where they are, however many there are. After the call the program's
//! return address is put back, and [`ended`] notes the end. The [README](README.md) has the reasons.

use std::arch::global_asm;
use std::ffi::{c_int, c_void};

use super::call::{Call, Onward, Registers};
use super::prologue::prologue_undone;
use super::records::{self, Ending, Record};
use super::{markers, mpi, tasks, waits, watched};
use crate::function::{CallKind, Function};
use crate::interpose;
use crate::process;
use crate::waits as wait;
use crate::worker::Worker;

// r11 has the entry's number, r10 the address of its first instruction. The seven registers, those for
// floating point and the return address keep the stack aligned to 16 bytes. The frame of a call in place
// is the caller's own: rbx has the record, which has the return address and the caller's rbx. The
// expressions below say so to debuggers and exceptions.
global_asm!(
    ".pushsection .text.pacman_omp, \"ax\", @progbits",
    // Calls that matter only where waits are timed.
    ".hidden pacman_omp_waits",
    ".globl pacman_omp_waits",
    ".type pacman_omp_waits, @function",
    "pacman_omp_waits:",
    ".cfi_startproc",
    prologue_undone!(),
    "cmp dword ptr [rip + {process} + {timed}], 0",
    "jne 4f",
    "jmp 5f",
    ".cfi_endproc",
    ".size pacman_omp_waits, . - pacman_omp_waits",
    // Requests for chunks, most of which are only counted. rcx, r8 and r9 may have arguments.
    ".hidden pacman_omp_chunks",
    ".globl pacman_omp_chunks",
    ".type pacman_omp_chunks, @function",
    "pacman_omp_chunks:",
    ".cfi_startproc",
    prologue_undone!(),
    "cmp dword ptr [rip + {process} + {timed}], 0",
    "je 5f",
    "mov r10, qword ptr [rip + pacman_omp_worker@GOTTPOFF]",
    "mov r10, qword ptr fs:[r10]",
    "test r10, r10",
    "je 5f",
    "dec dword ptr [r10 + {chunks_left}]",
    "jns 5f",
    "jmp 4f",
    ".cfi_endproc",
    ".size pacman_omp_chunks, . - pacman_omp_chunks",
    // Calls that matter until the real function is known.
    ".hidden pacman_omp_passed",
    ".globl pacman_omp_passed",
    ".type pacman_omp_passed, @function",
    "pacman_omp_passed:",
    ".cfi_startproc",
    prologue_undone!(),
    "5:",
    "lea r10, [rip + {shared}]",
    "mov r10, qword ptr [r10 + 8 * r11]",
    "test r10, r10",
    "je 4f",
    "jmp r10",
    ".cfi_endproc",
    ".size pacman_omp_passed, . - pacman_omp_passed",
    // Calls that always matter.
    ".hidden pacman_omp_watched",
    ".globl pacman_omp_watched",
    ".type pacman_omp_watched, @function",
    "pacman_omp_watched:",
    ".cfi_startproc",
    prologue_undone!(),
    "4:",
    "push rax",
    "push r9",
    "push r8",
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    ".cfi_adjust_cfa_offset 56",
    "sub rsp, 128",
    ".cfi_adjust_cfa_offset 128",
    "movups [rsp], xmm0",
    "movups [rsp + 16], xmm1",
    "movups [rsp + 32], xmm2",
    "movups [rsp + 48], xmm3",
    "movups [rsp + 64], xmm4",
    "movups [rsp + 80], xmm5",
    "movups [rsp + 96], xmm6",
    "movups [rsp + 112], xmm7",
    "mov edi, r11d",
    "lea rsi, [rsp + 128]",
    "lea rdx, [rsp + 184]",
    "call {decide}",
    "mov r11, rax",
    "mov r10, rdx",
    "movups xmm0, [rsp]",
    "movups xmm1, [rsp + 16]",
    "movups xmm2, [rsp + 32]",
    "movups xmm3, [rsp + 48]",
    "movups xmm4, [rsp + 64]",
    "movups xmm5, [rsp + 80]",
    "movups xmm6, [rsp + 96]",
    "movups xmm7, [rsp + 112]",
    "add rsp, 128",
    ".cfi_adjust_cfa_offset -128",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop rcx",
    "pop r8",
    "pop r9",
    "pop rax",
    ".cfi_adjust_cfa_offset -56",
    "test r10, r10",
    "jne pacman_omp_in_place",
    "jmp r11",
    ".cfi_endproc",
    ".size pacman_omp_watched, . - pacman_omp_watched",
    // r11: the real function, r10: the record.
    ".hidden pacman_omp_in_place",
    ".type pacman_omp_in_place, @function",
    "pacman_omp_in_place:",
    ".cfi_startproc",
    ".cfi_personality 0x1b, {left}",
    "mov qword ptr [r10 + 8], rbx",
    "mov rbx, r10",
    // DW_CFA_expression: rbx (3) is saved at [rbx + 8].
    ".cfi_escape 0x10, 3, 2, 0x73, 8",
    "pop qword ptr [rbx]",
    // DW_CFA_val_expression: the caller's rsp (7) is rsp. The frame address is one word above, because
    // unwinders know frames by it, and would take this one for the real function's.
    ".cfi_escape 0x16, 7, 2, 0x77, 0",
    // The return address (16) is saved at [rbx].
    ".cfi_escape 0x10, 16, 2, 0x73, 0",
    "call r11",
    ".hidden pacman_omp_returned",
    ".globl pacman_omp_returned",
    "pacman_omp_returned:",
    "push qword ptr [rbx]",
    ".cfi_restore 7",
    ".cfi_offset 16, -8",
    "push rax",
    "push rdx",
    "sub rsp, 40",
    ".cfi_adjust_cfa_offset 56",
    "movups [rsp], xmm0",
    "movups [rsp + 16], xmm1",
    "mov rdi, rbx",
    "mov rbx, qword ptr [rbx + 8]",
    ".cfi_restore 3",
    "lea rsi, [rsp + 48]",
    "call {ended}",
    "movups xmm0, [rsp]",
    "movups xmm1, [rsp + 16]",
    "add rsp, 40",
    "pop rdx",
    "pop rax",
    ".cfi_adjust_cfa_offset -56",
    "ret",
    ".cfi_endproc",
    ".size pacman_omp_in_place, . - pacman_omp_in_place",
    ".popsection",
    process = sym process::SHARED,
    timed = const process::TIMED_AT,
    chunks_left = const Worker::CHUNKS_LEFT_AT,
    shared = sym interpose::SHARED,
    decide = sym decide,
    ended = sym ended,
    left = sym left,
);

unsafe extern "C" {
    /// Where calls in place return to.
    static pacman_omp_returned: u8;
}

/// Whether the real function of a call in place made this call as its last, by a jump: its slot is still
/// that of the other one, which is not over.
fn is_continued(call: &Call) -> bool {
    call.caller == (&raw const pacman_omp_returned).addr() as u64
}

/// Decides where a call of the function of that number goes. `slot` is the address of its return address.
unsafe extern "C" fn decide(number: u32, registers: *mut Registers, slot: *const u64) -> Onward {
    let function = Function::numbered(number);
    // SAFETY: the assembly passes the address of a return address, and its own copy of the registers.
    let (call, registers) = unsafe { (Call { function, caller: *slot, slot }, &mut *registers) };
    let kind = function.kind();
    if let Some(real) = watched::leaves_process(&call, registers) {
        return Onward::jump(real);
    }
    if process::is_observed() {
        watched::watch(kind);
    }
    if kind == CallKind::Chunks && waits::is_calibrating() {
        let nothing = (watched::one as *const c_void).cast_mut();
        return waits::begin_chunk(&call, nothing).unwrap_or_else(|| Onward::jump(nothing));
    }
    let real = interpose::real_for(call.caller, function);
    if kind == CallKind::Marks {
        let real = real.map_or_else(|| watched::without_runtime(kind), <*mut c_void>::cast_const);
        // SAFETY: of the functions of this kind only those of `markers` come here.
        return unsafe { markers::mark(&call, real, registers) };
    }
    let Some(real) = real else { return Onward::jump(watched::without_runtime(kind)) };
    if is_continued(&call) {
        return Onward::jump(real);
    }
    let in_place = match kind {
        CallKind::Mpi => mpi::begin(&call, real),
        CallKind::Waits => waits::begin(&call, real),
        CallKind::Chunks => waits::begin_chunk(&call, real),
        // SAFETY: the arguments of the functions of these kinds.
        CallKind::Task | CallKind::Taskloop => unsafe { tasks::create(&call, real, registers) },
        CallKind::TaskBlock => tasks::allocate(&call, real, registers),
        _ => None,
    };
    in_place.unwrap_or_else(|| Onward::jump(real))
}

/// A call in place has returned, with `answer` in the register for integers and pointers.
unsafe extern "C" fn ended(record: *mut Record, answer: *const u64) {
    // A thread without a worker has ended, and its records with it.
    let Some(worker) = Worker::known() else { return };
    // SAFETY: the record that `decide` answered, which nothing has given back, and the saved register.
    let (ending, answer) = unsafe { (std::mem::take(&mut (*record).ending), *answer) };
    match ending {
        Ending::Nothing => {}
        Ending::Wait(open) => _ = wait::end(worker, open),
        Ending::Mpi(open) => wait::end_mpi(worker, open),
        // The functions answer in the lowest byte whether there is a chunk.
        Ending::Chunk(begun) => wait::end_chunk(worker, begun, answer as u8 == 0),
        Ending::Task(open, many) => {
            records::free(many);
            open.into_iter().for_each(|open| _ = wait::end(worker, open));
        }
        // SAFETY: the marker's argument.
        Ending::Marker(kind, name) => unsafe { markers::began(kind, name) },
        // SAFETY: the answer is the block that the runtime has made.
        Ending::Block(origin) => unsafe { tasks::allocated(&origin, answer) },
    }
    worker.records.give_back(record);
}

const CLEANUP_PHASE: c_int = 2;
const CONTINUE_UNWIND: c_int = 8;
const RBX: c_int = 3;

unsafe extern "C" {
    fn _Unwind_GetGR(context: *mut c_void, register: c_int) -> usize;
}

/// An exception, a cancellation or the end of the thread leaves a call in place: the personality of its
/// frame, which has nothing to catch. Before the call itself, and after it, rbx is the caller's own.
unsafe extern "C" fn left(
    _version: c_int,
    actions: c_int,
    _class: u64,
    _exception: *mut c_void,
    context: *mut c_void,
) -> c_int {
    if actions & CLEANUP_PHASE != 0 {
        if let Some(worker) = Worker::known() {
            // SAFETY: the unwinder's context of this frame.
            let rbx = unsafe { _Unwind_GetGR(context, RBX) };
            if let Some(record) = worker.records.live_at(rbx) {
                // SAFETY: a record of this thread that nothing has given back.
                let ending = unsafe { std::mem::take(&mut (*record).ending) };
                if let Ending::Wait(_) | Ending::Mpi(_) | Ending::Task(Some(_), _) = ending {
                    worker.waits.abandon();
                }
                if let Ending::Task(_, many) = ending {
                    records::free(many);
                }
                worker.records.give_back(record);
            }
        }
    }
    CONTINUE_UNWIND
}
