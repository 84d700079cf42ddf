//! The questions for the thread's number and for how many there are.
//!
//! They are watched as others are, but GCC's static loops ask both in every execution, on every
//! thread: so these entries are Rust, which knows that they take nothing.

use std::ffi::{c_int, c_void};

use super::Stack;
use crate::function::Function;
use crate::interpose;
use crate::process;
use crate::runtime::Question;
use crate::worker::Worker;

macro_rules! numbers {
    ($($name:ident: $which:literal, $alone:literal;)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(stack: Stack) -> c_int {
            // What it tells is for who may change a team.
            if process::is_adapted() {
                asked($which);
            }
            match interpose::real_for(stack.caller(), Function::$name) {
                // SAFETY: the runtime's function of that name.
                Some(real) => unsafe { std::mem::transmute::<*mut c_void, Question>(real)() },
                None => $alone,
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

/// Somebody asks for the thread's number, or how many there are.
#[inline]
fn asked(which: i16) {
    // Outside of regions there is one thread, number 0.
    if let Some(worker) = Worker::known().filter(|worker| worker.depth() > 0) {
        worker.asked_for_number(which);
    }
}
