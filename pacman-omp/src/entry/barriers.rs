//! libomp's barriers, whose constructs are known by the flags of their descriptions.

use std::ffi::c_void;

use pacman_regions::Cause;

use super::kmpc::Ident;
use crate::arch::placed;
use crate::function::Function;
use crate::interpose::real_for;
use crate::process;
use crate::worker::waits;

/// The construct of an implicit barrier; without these bits the barrier is explicit. The numbers are LLVM's, from
/// `openmp/runtime/src/kmp.h` (`KMP_IDENT_BARRIER_IMPL*`), and part of its binary interface.
const CONSTRUCT: i32 = 0x1c0;

/// The construct that ends in a barrier with these flags.
fn cause(flags: i32) -> Cause {
    match flags & CONSTRUCT {
        0x40 => Cause::Loop,
        0xc0 => Cause::Sections,
        0x140 => Cause::Single,
        0x1c0 => Cause::Worksharing,
        _ => Cause::Barrier,
    }
}

/// The functions have no stack arguments; `stack` only gives the return address.
macro_rules! barriers {
    ($($name:ident -> $answer:ty;)+) => {$(
        placed! {
            unsafe extern "C-unwind" fn $name(place: *const Ident, number: i32)[stack] -> $answer {
                let Some(real) = real_for(stack.caller(), Function::$name) else {
                    return Default::default();
                };
                type Real = unsafe extern "C-unwind" fn(*const Ident, i32) -> $answer;
                // SAFETY: the runtime's function of that name.
                let real: Real = unsafe { std::mem::transmute::<*mut c_void, Real>(real) };
                // SAFETY: the program's own arguments.
                let wait = || unsafe { real(place, number) };
                if !process::may_time_waits() {
                    return wait();
                }
                // SAFETY: compilers pass a description, or null.
                let cause = cause(unsafe { Ident::flags(place) });
                waits::wait(cause, stack.place(), wait)
            }
        }
    )+};
}

barriers! {
    __kmpc_barrier -> ();
    // In a region that may be cancelled. libomp calls the other one inside.
    __kmpc_cancel_barrier -> i32;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_without_a_construct_is_explicit() {
        let flags = [0x42, 0xc2, 0x142, 0x1c2, 0x22];
        let causes =
            [Cause::Loop, Cause::Sections, Cause::Single, Cause::Worksharing, Cause::Barrier];
        assert_eq!(flags.map(cause), causes);
        // SAFETY: compilers may pass null.
        assert_eq!(cause(unsafe { Ident::flags(std::ptr::null()) }), Cause::Barrier);
    }
}
