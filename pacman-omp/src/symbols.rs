//! `dlsym` for this library: Rust's standard library and `pacman-core` look symbols up when they first need them.
//!
//! They ask for functions that only some C libraries have. The C library's `dlsym` takes the loader's lock, and a thread
//! that holds it may wait for the caller. It also finds functions of the program first, which may have the same names.
//! So the C library's files are searched here. Only names that ISO C keeps for the C library go on to its `dlsym`, which
//! also finds data.

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
    let text = unsafe { CStr::from_ptr(name) };
    if handle == libc::RTLD_DEFAULT {
        let known = listed::of_c(text);
        if known.is_some() || !text.to_bytes().starts_with(b"_") {
            return known.unwrap_or(null_mut());
        }
    }
    // SAFETY: the caller's own arguments.
    real().map_or(null_mut(), |real| unsafe { real(handle, name) })
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
