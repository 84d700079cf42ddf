//! Default options for sanitizers in the program.
//!
//! GCC's runtimes of AddressSanitizer and ThreadSanitizer are separate libraries, which call the first
//! definition of these functions. A program's own definition comes before this library's.

use std::ffi::{CStr, c_char};

/// AddressSanitizer ends a program that loads any library before it, because the library could hide
/// calls from it. This library passes every call on.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __asan_default_options() -> *const c_char {
    const OPTIONS: &CStr = c"verify_asan_link_order=0";
    OPTIONS.as_ptr()
}

/// ThreadSanitizer sees this library's calls of the C library, but not the atomic operations that order
/// them.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __tsan_default_suppressions() -> *const c_char {
    const SUPPRESSIONS: &CStr = c"called_from_lib:libpacman_omp.so";
    SUPPRESSIONS.as_ptr()
}
