//! Idle workers of libomp spin for 200 ms after a region, on contexts whose siblings work.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use pacman_regions::Waiting;

use crate::function::Function;
use crate::process;
use crate::runtime::Runtime;

static BLOCKED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The thread has been through [`block_here`].
    static ASKED: Cell<bool> = const { Cell::new(false) };
}

/// Has workers of teams that the calling thread starts block at once from now on, if `needed` and
/// it was not forbidden.
///
/// It is for good: a spinning worker notices at the end of its next region only. libgomp has no
/// such call; its surplus workers end instead of spinning.
pub(crate) fn block(runtime: &Runtime, needed: bool) {
    if BLOCKED.load(Ordering::Relaxed) || !needed {
        return;
    }
    if !BLOCKED.swap(true, Ordering::Relaxed) && set(runtime) {
        process::note("idle workers block at once since a region was narrowed".to_owned());
    }
}

/// The same for the calling thread, which is left without work in a region that goes on. libomp
/// keeps the time by thread, so that each has to say it for itself; once.
#[inline]
pub(crate) fn block_here(runtime: &Runtime, needed: impl FnOnce() -> bool) {
    if !ASKED.replace(true) && needed() && set(runtime) {
        process::note("threads without a share of a loop block at once".to_owned());
    }
}

/// Whether it was set: not if that was forbidden, or is the user's own choice.
#[cold]
fn set(runtime: &Runtime) -> bool {
    if process::wishes().waiting == Waiting::Keep {
        return false;
    }
    if std::env::var_os("KMP_BLOCKTIME").is_some() || std::env::var_os("OMP_WAIT_POLICY").is_some()
    {
        process::note("idle workers wait as the user has set it".to_owned());
        return false;
    }
    let Some(real) = runtime.real(Function::kmp_set_blocktime) else { return false };
    // SAFETY: libomp's function of that name takes milliseconds.
    let real: extern "C" fn(i32) = unsafe { std::mem::transmute(real) };
    real(0);
    true
}
