//! Idle workers of libomp spin for 200 ms after a region, on contexts whose siblings work.

use std::sync::atomic::{AtomicBool, Ordering};

use pacman_regions::Waiting;

use crate::process;
use crate::runtime::{Function, Runtime};

static BLOCKED: AtomicBool = AtomicBool::new(false);

/// Has workers of `runtime` block at once from now on, if `needed` and it was not forbidden.
///
/// It is for good: a spinning worker notices at the end of its next region only. libgomp has no
/// such call; its surplus workers end instead of spinning.
pub(crate) fn block(runtime: &Runtime, needed: bool) {
    if !needed || BLOCKED.load(Ordering::Relaxed) || process::wishes().waiting == Waiting::Keep {
        return;
    }
    BLOCKED.store(true, Ordering::Relaxed);
    if std::env::var_os("KMP_BLOCKTIME").is_some() || std::env::var_os("OMP_WAIT_POLICY").is_some()
    {
        return process::note("idle workers wait as the user has set it".to_owned());
    }
    let Some(real) = runtime.real(Function::kmp_set_blocktime) else { return };
    // SAFETY: libomp's function of that name takes milliseconds.
    let real: extern "C" fn(i32) = unsafe { std::mem::transmute(real) };
    real(0);
    process::note("idle workers block at once since a region was narrowed".to_owned());
}
