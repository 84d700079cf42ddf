//! Calls of MPI.
//!
//! Without a request for waits an entry jumps to the real function and leaves all registers alone. So a
//! library of the program may have a function of such a name and of any type. The
//! [README](../waits/README.md) has the reasons for both names.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU8, Ordering};

use super::call::{Call, Onward};
use crate::arch::forwarded;
use crate::function::{CallKind, Function, functions};
use crate::interpose;
use crate::process;
use crate::worker::Worker;
use crate::worker::records::Ending;
use crate::worker::waits;

macro_rules! entries {
    ({ $($called:ident)+ } $($kind:ident { $($name:ident)+ })+) => {
        $($(entries!($kind $name);)+)+
    };
    (Mpi $name:ident) => {
        forwarded!("pacman_omp_waits" $name);
    };
    ($kind:ident $name:ident) => {};
}

functions!(entries);

/// Begins to time a call, if it is timed.
pub(super) fn begin(call: &Call, real: *mut c_void) -> Option<Onward> {
    debug_assert_eq!(call.function.kind(), CallKind::Mpi);
    if !process::plan().times_waits() || !is_mpi_s(call.caller, call.function) {
        return None;
    }
    let worker = Worker::here();
    let open = waits::begin_mpi(worker, call.function, call.caller, call.slot.addr())?;
    Some(call.in_place(worker, real, Ending::Mpi(open)))
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

/// The answer of a process without MPI: `MPI_ERR_OTHER` of MPICH, an error in every implementation. Without
/// this library the program would not have found the function.
pub(super) extern "C" fn failed() -> i32 {
    15
}
