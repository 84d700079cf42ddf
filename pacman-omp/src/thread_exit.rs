//! The ends of this library's thread-local values, at the end of a thread other than the main one.
//!
//! Rust's library registers each value with the C library, by `__cxa_thread_atexit_impl`. glibc takes the loader's
//! lock for that. The thread that runs a plugin's constructor holds the lock, and may wait for the caller, a member
//! of its team. So this library has a hidden function of that name, which keeps a list behind a thread's key. The
//! main thread is nobody's member: it goes on to the C library, which also ends values when the process ends.

use std::arch::global_asm;
use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::scope;

type End = unsafe extern "C" fn(*mut c_void);
type Register = unsafe extern "C" fn(End, *mut c_void, *mut c_void) -> c_int;

/// A value that ends with its thread.
struct Value {
    end: End,
    value: *mut c_void,
    /// Was registered before.
    earlier: *mut Value,
}

/// The key of each thread's list. `pthread_setspecific` refuses the first number.
static LIST: AtomicU32 = AtomicU32::new(libc::pthread_key_t::MAX);
/// The main thread, if it has loaded this library.
static MAIN: AtomicU64 = AtomicU64::new(0);
/// The C library's function, once known.
static REAL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

global_asm!(".hidden __cxa_thread_atexit_impl");

/// Makes the key of the lists. Destructors of keys that are made later run later.
pub(crate) fn prepare() {
    // Rust's library makes a key for the handles of threads, and ends the process if the program has left none.
    drop(std::thread::current());
    let real = scope::next(c"__cxa_thread_atexit_impl");
    REAL.store(real.unwrap_or(null_mut()), Ordering::Relaxed);
    // SAFETY: these only return numbers.
    let (is_main, this) =
        unsafe { (libc::gettid() == libc::getpid(), libc::pthread_self() as u64) };
    MAIN.store(if is_main { this } else { 0 }, Ordering::Relaxed);
    let mut key = 0;
    // SAFETY: the key is written before it is used, and never deleted.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(end_all)) } == 0 {
        LIST.store(key, Ordering::Relaxed);
    }
}

/// Has `end` called with `value` when the calling thread ends. Without a key the value lives for ever.
#[unsafe(export_name = "__cxa_thread_atexit_impl")]
unsafe extern "C" fn register(end: End, value: *mut c_void, module: *mut c_void) -> c_int {
    let real = REAL.load(Ordering::Relaxed);
    // SAFETY: it only returns a number.
    if unsafe { libc::pthread_self() } as u64 == MAIN.load(Ordering::Relaxed) && !real.is_null() {
        // SAFETY: the C library's function of that name, with the caller's arguments.
        return unsafe { transmute::<*mut c_void, Register>(real)(end, value, module) };
    }
    let list = LIST.load(Ordering::Relaxed);
    // SAFETY: a key, or a number that the function refuses.
    let earlier = unsafe { libc::pthread_getspecific(list) }.cast();
    let first = Box::into_raw(Box::new(Value { end, value, earlier }));
    // SAFETY: as above. The list is this thread's.
    if unsafe { libc::pthread_setspecific(list, first.cast()) } != 0 {
        // SAFETY: nobody else has it.
        drop(unsafe { Box::from_raw(first) });
    }
    0
}

/// Ends the values of a list, the latest first. Those that are registered meanwhile begin a list of their own.
unsafe extern "C" fn end_all(list: *mut c_void) {
    let mut next: *mut Value = list.cast();
    while !next.is_null() {
        // SAFETY: `register` made it for this thread, and it is in one list.
        let Value { end, value, earlier } = *unsafe { Box::from_raw(next) };
        // SAFETY: who registered it asked for this call, once.
        unsafe { end(value) };
        next = earlier;
    }
}
