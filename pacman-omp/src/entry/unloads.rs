//! The calls after which a module is not there any more.

use std::ffi::{c_int, c_void};

use crate::function::Function;
use crate::interpose;
use crate::process;
use crate::unload;

/// Unloads a module, and others that only it needs.
#[unsafe(export_name = "pacman_omp_entry_dlclose")]
pub unsafe extern "C-unwind" fn dlclose(handle: *mut c_void) -> c_int {
    let Some(real) = interpose::next(Function::dlclose) else { return -1 };
    // SAFETY: the C library's function of that name, with the program's own argument.
    let answer = unsafe {
        let real: unsafe extern "C-unwind" fn(*mut c_void) -> c_int = std::mem::transmute(real);
        real(handle)
    };
    if process::is_own() {
        unload::look();
    }
    answer
}

/// A module calls it as its last act before it is unloaded, whoever closes it. `module` is an address in its
/// data, or null at the end of the process.
#[unsafe(export_name = "pacman_omp_entry___cxa_finalize")]
pub unsafe extern "C-unwind" fn __cxa_finalize(module: *mut c_void) {
    let Some(real) = interpose::next(Function::__cxa_finalize) else { return };
    // SAFETY: as above.
    unsafe {
        let real: unsafe extern "C-unwind" fn(*mut c_void) = std::mem::transmute(real);
        real(module);
    }
    if process::is_own() && !module.is_null() {
        unload::ended(module as u64);
    }
}
