//! The functions by which Kokkos tells a tool of its kernels, regions and fences.
//!
//! Kokkos looks them up in the library that `KOKKOS_TOOLS_LIBS` names, and calls `kokkosp_init_library`
//! first. A tool of the user has functions with the same names and may call them itself. Such a call
//! arrives here, because this library precedes the tool in the global scope. The library passes it on to
//! the tool.

use std::ffi::{CStr, OsString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};

use pacman_regions::PhaseKind;

use crate::arch::{Stack, placed};
use crate::function::Function;
use crate::interpose;
use crate::marks::{self, End};
use crate::module::{Module, has_text};
use crate::stub;

/// Kokkos has this library as its tool.
static IS_TOOL: AtomicBool = AtomicBool::new(false);

/// The tool's function, if a tool of the user makes the call; `None` if Kokkos calls this library. Kokkos
/// may not know of a library of the program that could be a tool. Such a library gets no calls.
fn user_s(function: Function, stack: &Stack) -> Option<*mut c_void> {
    interpose::own_of(stack.caller(), function)
}

fn is_tool() -> bool {
    IS_TOOL.load(Ordering::Relaxed)
}

placed! {
    unsafe extern "C" fn kokkosp_init_library(
        sequence: c_int,
        version: u64,
        devices: u32,
        device_info: *mut c_void,
    )[stack] {
        // Kokkos itself calls the function that it finds in its tool, never through the global scope.
        match user_s(Function::kokkosp_init_library, &stack) {
            None => IS_TOOL.store(true, Ordering::Relaxed),
            // SAFETY: the tool's function of that name, with the caller's own arguments.
            Some(real) => unsafe {
                let real: unsafe extern "C" fn(c_int, u64, u32, *mut c_void) =
                    std::mem::transmute(real);
                real(sequence, version, devices, device_info);
            },
        }
    }
}

placed! {
    unsafe extern "C" fn kokkosp_finalize_library()[stack] {
        if is_tool() {
            return IS_TOOL.store(false, Ordering::Relaxed);
        }
        if let Some(real) = user_s(Function::kokkosp_finalize_library, &stack) {
            // SAFETY: as above.
            unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(real)() };
        }
    }
}

placed! {
    /// Fills in the settings of a tool, which begin with whether it needs fences. Without an answer Kokkos
    /// waits for its devices around each kernel.
    unsafe extern "C" fn kokkosp_request_tool_settings(
        number: u32,
        settings: *mut bool,
    )[stack] {
        match user_s(Function::kokkosp_request_tool_settings, &stack) {
            // SAFETY: Kokkos passes its settings.
            None => unsafe { *settings = false },
            // SAFETY: as above.
            Some(real) => unsafe {
                let real: unsafe extern "C" fn(u32, *mut bool) = std::mem::transmute(real);
                real(number, settings);
            },
        }
    }
}

/// A begin stores the number of its execution, which Kokkos passes to the end.
macro_rules! executions {
    ($($begin:ident $end:ident $kind:ident;)+) => {$(
        placed! {
            unsafe extern "C" fn $begin(
                name: *const c_char,
                device: u32,
                execution: *mut u64,
            )[stack] {
                if is_tool() {
                    // SAFETY: Kokkos passes a C string and a place for the number.
                    unsafe {
                        let begun = marks::begin(PhaseKind::$kind, bytes(&name));
                        *execution = begun.map_or(u64::MAX, u64::from);
                    }
                } else if let Some(real) = user_s(Function::$begin, &stack) {
                    // SAFETY: as in `kokkosp_init_library`.
                    unsafe {
                        let real: unsafe extern "C" fn(*const c_char, u32, *mut u64) =
                            std::mem::transmute(real);
                        real(name, device, execution);
                    }
                }
            }
        }

        placed! {
            unsafe extern "C" fn $end(execution: u64)[stack] {
                if is_tool() {
                    if let Ok(number) = u32::try_from(execution) {
                        marks::end(PhaseKind::$kind, End::Numbered(number));
                    }
                } else if let Some(real) = user_s(Function::$end, &stack) {
                    // SAFETY: as in `kokkosp_init_library`.
                    unsafe {
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn(u64)>(real)(execution);
                    }
                }
            }
        }
    )+};
}

executions! {
    kokkosp_begin_parallel_for kokkosp_end_parallel_for KokkosFor;
    kokkosp_begin_parallel_reduce kokkosp_end_parallel_reduce KokkosReduce;
    kokkosp_begin_parallel_scan kokkosp_end_parallel_scan KokkosScan;
    kokkosp_begin_fence kokkosp_end_fence KokkosFence;
}

placed! {
    unsafe extern "C" fn kokkosp_push_profile_region(name: *const c_char)[stack] {
        if is_tool() {
            // SAFETY: Kokkos passes a C string.
            marks::begin(PhaseKind::KokkosRegion, unsafe { bytes(&name) });
        } else if let Some(real) = user_s(Function::kokkosp_push_profile_region, &stack) {
            // SAFETY: as in `kokkosp_init_library`.
            unsafe {
                let real: unsafe extern "C" fn(*const c_char) = std::mem::transmute(real);
                real(name);
            }
        }
    }
}

placed! {
    unsafe extern "C" fn kokkosp_pop_profile_region()[stack] {
        if is_tool() {
            marks::end(PhaseKind::KokkosRegion, End::Latest);
        } else if let Some(real) = user_s(Function::kokkosp_pop_profile_region, &stack) {
            // SAFETY: as in `kokkosp_init_library`.
            unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(real)() };
        }
    }
}

/// The bytes of a name; none for a null pointer.
///
/// # Safety
/// The pointer must be null or point to a C string.
pub(super) unsafe fn bytes(name: &*const c_char) -> &[u8] {
    // SAFETY: as the caller guarantees.
    if name.is_null() { &[] } else { unsafe { CStr::from_ptr(*name) }.to_bytes() }
}

const NEW: &CStr = c"KOKKOS_TOOLS_LIBS";
const OLD: &CStr = c"KOKKOS_PROFILE_LIBRARY";

/// Withdraws this library as the tool where the program names another one, and names it to a Kokkos
/// that knows the older variable only. `get` reads the environment; the program has not begun yet.
pub(crate) fn settle_tool<'a>(
    get: impl Fn(&str) -> Option<OsString>,
    mut arguments: impl Iterator<Item = &'a CStr>,
) {
    let of = |name: &CStr| get(name.to_str().unwrap_or_default());
    let own = || Module::of(stub::address()).path.clone();
    let Some(offered) = of(NEW).filter(|offered| *offered == own()) else { return };
    let chosen = arguments.any(|word| word.to_bytes().starts_with(b"--kokkos-tools-lib"));
    let before = of(OLD).filter(|before| *before != offered);
    // SAFETY: the program has no other thread yet, and the strings are C strings.
    unsafe {
        if chosen || before.is_some() {
            // Kokkos stops if its two variables differ.
            libc::unsetenv(NEW.as_ptr());
        } else if of(OLD).is_none() && has_text("kokkoscore", OLD) && !has_text("kokkoscore", NEW) {
            if let Ok(path) = std::ffi::CString::new(offered.as_bytes()) {
                libc::setenv(OLD.as_ptr(), path.as_ptr(), 0);
            }
        }
    }
}
