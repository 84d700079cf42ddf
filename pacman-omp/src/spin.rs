//! How long libgomp's threads spin. The command may have set it, and the program does not see that.

use std::sync::atomic::{AtomicBool, Ordering};

/// The command has set it, and the user has not.
pub(crate) const IS_OURS: &str = "PACMAN_OMP_SPIN";

/// The program's variables still have it.
static IS_SET: AtomicBool = AtomicBool::new(false);

/// Notes that the program's variables have it.
pub(crate) fn note() {
    IS_SET.store(true, Ordering::Relaxed);
}

/// Takes it out of the program's variables: libgomp has read it. LLVM's runtime does not read it.
#[cold]
pub(crate) fn forget() {
    if IS_SET.swap(false, Ordering::Relaxed) {
        // SAFETY: C strings. The program has not begun, or calls its runtime for the first time.
        unsafe {
            libc::unsetenv(c"GOMP_SPINCOUNT".as_ptr());
            libc::unsetenv(c"PACMAN_OMP_SPIN".as_ptr());
        }
    }
}
