//! One word of static thread-local storage: the address of the calling thread's worker.
//!
//! The word is in the preloaded library (see `stub`). The loader lays it out when the program starts, so a read
//! takes two instructions, and the engine takes nothing of the little that the loader keeps for libraries that
//! come later. Rust's `thread_local!` in such a library takes a call of a dozen.
//! The word has no destructor: the main thread's would run before the program's last regions.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::arch;

pub(crate) use crate::arch::get_worker as get;

/// Sets the calling thread's address. At the thread's end the function given to [`watch_threads`]
/// gets it.
pub(crate) fn set(worker: *const c_void) {
    arch::set_worker(worker);
    // SAFETY: any address may be kept. A refused key leaves the thread without a call at its end.
    unsafe { libc::pthread_setspecific(ENDING.load(Ordering::Relaxed), worker) };
}

/// Clears the address.
pub(crate) fn clear() {
    arch::set_worker(ptr::null());
}

/// The key whose destructor runs at the end of a thread with a worker.
static ENDING: AtomicU32 = AtomicU32::new(NO_KEY);

/// `pthread_setspecific` refuses it. The rows of threads that end then stay as they are.
const NO_KEY: libc::pthread_key_t = libc::pthread_key_t::MAX;

/// Has the C library call `ended` with the address of each thread that ends from now on.
pub(crate) fn watch_threads(ended: unsafe extern "C" fn(*mut c_void)) {
    let mut key = 0;
    // SAFETY: the key is written before it is used, and never deleted.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(ended)) } == 0 {
        ENDING.store(key, Ordering::Relaxed);
    }
}
