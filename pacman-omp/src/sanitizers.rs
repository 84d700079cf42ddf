//! What sanitizers ask programs, answered where the program does not.
//!
//! GCC's runtimes of AddressSanitizer and ThreadSanitizer are libraries of their own, which ask whoever
//! defines these functions first. A program that defines them itself is asked in place of this library.

use std::ffi::{CStr, c_char};

/// AddressSanitizer ends a program in which any library comes before its own, because functions of that
/// library could keep it from seeing what it watches. Those of this one pass every call on to the next.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __asan_default_options() -> *const c_char {
    const OPTIONS: &CStr = c"verify_asan_link_order=0";
    OPTIONS.as_ptr()
}

/// ThreadSanitizer sees the C library's functions that this library calls, but none of the atomic
/// operations that order them.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __tsan_default_suppressions() -> *const c_char {
    const SUPPRESSIONS: &CStr = c"called_from_lib:libpacman_omp.so";
    SUPPRESSIONS.as_ptr()
}
