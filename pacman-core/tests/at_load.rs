//! Loading a program with this crate registers the fork handlers. The test replaces a function of the C library, so it
//! has a process of its own.

use std::sync::atomic::{AtomicU32, Ordering};

static REGISTERED: AtomicU32 = AtomicU32::new(0);

type Handler = Option<extern "C" fn()>;

/// In place of the C library's function behind `pthread_atfork`. Nothing forks here.
#[unsafe(no_mangle)]
extern "C" fn __register_atfork(_: Handler, _: Handler, _: Handler, _: *const u8) -> i32 {
    REGISTERED.fetch_add(1, Ordering::Relaxed);
    0
}

#[test]
fn fork_handlers_are_there_before_threads_are() {
    assert_eq!(REGISTERED.load(Ordering::Relaxed), 3, "before the first use of the crate");
    pacman_core::backend::install_atfork();
    assert_eq!(REGISTERED.load(Ordering::Relaxed), 3, "each once");
}
