//! The questions for the thread's number and for the size of the team.
//!
//! GCC's static loops ask both in every execution, on every thread. So these entries are in Rust, which
//! knows that they have no arguments, and not in the assembly of other watched entries.

use std::ffi::{c_int, c_void};

use super::Stack;
use crate::adapt;
use crate::function::Function;
use crate::interpose;
use crate::process;
use crate::runtime::Question;
use crate::seen::Seen;
use crate::worker::Worker;

macro_rules! numbers {
    ($($name:ident: $which:literal, $alone:literal;)+) => {$(
        #[unsafe(export_name = concat!("pacman_omp_entry_", stringify!($name)))]
        pub unsafe extern "C" fn $name(stack: Stack) -> c_int {
            // Only adaptation needs to know. Other calls go on without a frame on the stack.
            match interpose::shared_real(Function::$name) {
                // SAFETY: the runtime's function of that name.
                Some(real) if !process::is_adapted() => unsafe {
                    std::mem::transmute::<*mut c_void, Question>(real)()
                },
                _ => answered($which, $alone, stack.caller(), Function::$name),
            }
        }
    )+};
}

numbers! {
    omp_get_thread_num: 1, 0;
    omp_get_thread_num_: 1, 0;
    omp_get_num_threads: -1, 1;
    omp_get_num_threads_: -1, 1;
}

/// As the entries where the program adapts, or modules have different runtimes.
#[inline(never)]
extern "C" fn answered(which: i16, alone: c_int, caller: u64, function: Function) -> c_int {
    if process::is_adapted() {
        asked(which, caller);
    }
    match interpose::real_for(caller, function) {
        // SAFETY: the runtime's function of that name.
        Some(real) => unsafe { std::mem::transmute::<*mut c_void, Question>(real)() },
        None => alone,
    }
}

/// Notes a question for the thread's number (1) or the size of the team (-1) that returns to `caller`.
#[inline]
fn asked(which: i16, caller: u64) {
    // Outside of regions the answer is always the same.
    if let Some(worker) = Worker::known().filter(|worker| worker.depth() > 0) {
        match adapt::divides_a_loop(caller) {
            true => worker.saw(Seen::SHARES | Seen::STATIC_LOOP),
            false => worker.asked_for_number(which, caller),
        }
    }
}
