//! The questions for the thread's number and for the size of the team.
//!
//! GCC's static loops ask both in every execution, on every thread. So these entries are in Rust, which
//! knows that they have no arguments, and not in the assembly of other entries.

use std::ffi::{c_int, c_void};

use super::Stack;
use crate::function::Function;
use crate::interpose;
use crate::runtime::Question;

macro_rules! numbers {
    ($($name:ident: $alone:literal;)+) => {$(
        #[unsafe(export_name = concat!("pacman_omp_entry_", stringify!($name)))]
        pub unsafe extern "C" fn $name(stack: Stack) -> c_int {
            // The usual call goes on without a frame on the stack.
            match interpose::shared_real(Function::$name) {
                // SAFETY: the runtime's function of that name.
                Some(real) => unsafe { std::mem::transmute::<*mut c_void, Question>(real)() },
                None => answered($alone, stack.caller(), Function::$name),
            }
        }
    )+};
}

numbers! {
    omp_get_thread_num: 0;
    omp_get_thread_num_: 0;
    omp_get_num_threads: 1;
    omp_get_num_threads_: 1;
}

/// As the entries where modules have different runtimes, or none; `alone` is the answer then.
#[inline(never)]
extern "C" fn answered(alone: c_int, caller: u64, function: Function) -> c_int {
    match interpose::real_for(caller, function) {
        // SAFETY: the runtime's function of that name.
        Some(real) => unsafe { std::mem::transmute::<*mut c_void, Question>(real)() },
        None => alone,
    }
}
