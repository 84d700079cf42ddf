//! The word of thread-local storage that has the calling thread's worker.
//!
//! It is in the block that the loader lays out when the program starts, which is where this library
//! is loaded, and read in two instructions; what the compiler would do for a library that may be
//! loaded at any time is a call with a dozen. There is no destructor: the main thread's would come
//! before the program's last regions.

use std::arch::{asm, global_asm};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::worker::Worker;

global_asm!(
    ".pushsection .tbss.pacman_omp_worker, \"awT\", @nobits",
    ".balign 8",
    ".hidden pacman_omp_worker",
    ".globl pacman_omp_worker",
    ".type pacman_omp_worker, @object",
    ".size pacman_omp_worker, 8",
    "pacman_omp_worker:",
    ".zero 8",
    ".popsection",
);

/// The word; null before it is set.
#[inline(always)]
pub(crate) fn get() -> *const Worker {
    let worker;
    // SAFETY: reads the word above.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + pacman_omp_worker@GOTTPOFF]",
            "mov {0}, qword ptr fs:[{0}]",
            out(reg) worker,
            options(nostack, readonly, preserves_flags)
        );
    }
    worker
}

/// Gives the thread its worker, which was leaked for it; it goes with the thread.
pub(crate) fn set(worker: &'static Worker) {
    write(worker);
    // SAFETY: the pointer comes back to `ended`, at this thread's end.
    unsafe {
        libc::pthread_setspecific(ENDING.load(Ordering::Relaxed), ptr::from_ref(worker).cast())
    };
}

fn write(worker: *const Worker) {
    // SAFETY: writes the word above.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + pacman_omp_worker@GOTTPOFF]",
            "mov qword ptr fs:[{0}], {1}",
            out(reg) _,
            in(reg) worker,
            options(nostack, preserves_flags)
        );
    }
}

/// Calls [`ended`] where a thread has a worker; made when the library is loaded.
static ENDING: AtomicU32 = AtomicU32::new(NO_KEY);

/// `pthread_setspecific` refuses it: the rows of such threads stay where `rows::sums` finds them.
const NO_KEY: libc::pthread_key_t = libc::pthread_key_t::MAX;

/// Has the C library call [`ended`] for threads that end from now on.
pub(crate) fn watch_threads() {
    let mut key = 0;
    // SAFETY: the key is written before it is used, and never deleted.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(ended)) } == 0 {
        ENDING.store(key, Ordering::Relaxed);
    }
}

/// A thread of the program ends.
unsafe extern "C" fn ended(worker: *mut c_void) {
    write(ptr::null());
    // SAFETY: leaked for this thread, which ends.
    unsafe { Box::from_raw(worker.cast::<Worker>()) }.retire();
}
