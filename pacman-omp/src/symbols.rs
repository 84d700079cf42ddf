//! `dlsym` for this library: Rust's standard library and `pacman-core` look symbols up when they first need them.
//!
//! The C library's takes the loader's lock, and a thread that holds it may wait for the caller. So the files of the
//! start are searched first.

#[cfg(not(test))]
use std::arch::global_asm;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr::null_mut;

use crate::listed;
use crate::stub::LookUp;

#[cfg(not(test))]
global_asm!(".hidden dlsym");

#[cfg_attr(not(test), unsafe(export_name = "dlsym"))]
#[cfg_attr(test, expect(dead_code))]
unsafe extern "C" fn look_up(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: a C string, as for the C library's function.
    let known = || listed::at_start(unsafe { CStr::from_ptr(name) });
    let known = if handle == libc::RTLD_DEFAULT { known() } else { None };
    // SAFETY: the caller's own arguments.
    known.unwrap_or_else(|| real().map_or(null_mut(), |real| unsafe { real(handle, name) }))
}

/// The C library's function, which is in one file with `dlopen`.
pub(crate) fn real() -> Option<LookUp> {
    // Tests have no preloaded library, which searches files, and no function of that name.
    if cfg!(test) {
        return Some(libc::dlsym);
    }
    let found = listed::in_file_of(libc::dlopen as *const () as u64, c"dlsym")?;
    // SAFETY: the function of that name.
    Some(unsafe { transmute::<*mut c_void, LookUp>(found) })
}
