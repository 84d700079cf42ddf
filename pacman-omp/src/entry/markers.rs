//! The markers of LIKWID and PAPI: each is a phase, and its own library gets the call as well.
//!
//! The phase is inside of the tool's own work. The library's other functions are not interposed.

use std::ffi::{c_char, c_int};

use pacman_regions::PhaseKind;

use super::Stack;
use super::kokkos::bytes;
use crate::function::Function;
use crate::interpose;
use crate::phases::{self, End};

macro_rules! markers {
    ($($begin:ident $end:ident $kind:ident;)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $begin(name: *const c_char, stack: Stack) -> c_int {
            // SAFETY: the program's own argument.
            let answer = unsafe { real(Function::$begin, name, &stack) };
            // SAFETY: a C string, by the interface.
            phases::begin(PhaseKind::$kind, unsafe { bytes(&name) });
            answer
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $end(name: *const c_char, stack: Stack) -> c_int {
            // SAFETY: as above.
            unsafe {
                phases::end(PhaseKind::$kind, End::Named(bytes(&name)));
                real(Function::$end, name, &stack)
            }
        }
    )+};
}

markers! {
    likwid_markerStartRegion likwid_markerStopRegion Likwid;
    PAPI_hl_region_begin PAPI_hl_region_end Papi;
}

/// Calls the tool's own function; success without the tool, which a program tests for by a weak symbol.
///
/// # Safety
/// The arguments must be those of a call to that function.
unsafe fn real(function: Function, name: *const c_char, stack: &Stack) -> c_int {
    let Some(real) = interpose::real_for(stack.caller(), function) else { return 0 };
    // SAFETY: the tool's function of that name.
    unsafe {
        let real: unsafe extern "C" fn(*const c_char) -> c_int = std::mem::transmute(real);
        real(name)
    }
}
