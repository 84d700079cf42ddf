//! Registration of all handlers that this library has for forks.

use super::{msr, perf};
use crate::fork;

/// The C library calls it while it loads the program, before there are other threads. If the handlers were registered
/// later, another thread could fork meanwhile. Its child would wait for ever for the thread that registers them.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

extern "C" fn at_load() {
    install_atfork();
}

/// Has the C library call this library's handlers at forks from now on.
///
/// Loading the library does the same. The call is for libraries that open counters while they
/// hold locks of their own, and lock those over forks by `pthread_atfork(3)` as well. Handlers that
/// run before a fork run in the reverse order of registration. So such a library makes this call
/// first and registers its own handlers second. Further calls do nothing.
///
/// # Examples
///
/// ```
/// pacman_core::backend::install_atfork();
/// ```
pub fn install_atfork() {
    perf::install_atfork();
    msr::install_atfork();
    fork::watch_fence();
}
