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

use std::ffi::{c_int, c_void};

use super::call::{Call, Onward, Registers};
use super::{markers, mpi, tasks, waits, watched};
use crate::arch::RECORD_REGISTER;
use crate::function::{CallKind, Function};
use crate::interpose;
use crate::process;
use crate::worker::Worker;
use crate::worker::records::{self, Ending, Record};
use crate::worker::waits as wait;

crate::arch::forwarding! {
    process = sym process::SHARED,
    timed = const process::TIMED_AT,
    chunks_left = const Worker::CHUNKS_LEFT_AT,
    shared = sym interpose::SHARED,
    next = sym interpose::NEXT,
    meanings = sym watched::HAS_MEANING,
    system_calls = const watched::HAS_MEANING.len(),
    decide = sym decide,
    ended = sym ended,
    left = sym left,
}

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

unsafe extern "C" {
    fn _Unwind_GetGR(context: *mut c_void, register: c_int) -> usize;
}

/// An exception, a cancellation or the end of the thread leaves a call in place: the personality of its
/// frame, which has nothing to catch. Before the call itself, and after it, the record's
/// register is the caller's own.
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
            let record = unsafe { _Unwind_GetGR(context, RECORD_REGISTER) };
            if let Some(record) = worker.records.live_at(record) {
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
