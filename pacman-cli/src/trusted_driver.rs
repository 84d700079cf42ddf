//! The option `--trust-driver`, for this process and for the programs that it starts.

use pacman_core::backend::perf::{self, TRUST_DRIVER};

/// Accepts counts of the kernel's driver that may be wrong, if the option was given.
pub(crate) fn accept(is_given: bool) {
    if is_given {
        perf::trust_driver();
    }
}

/// The variable of the environment by which a program of this command accepts them, too.
pub fn variable() -> Option<(&'static str, &'static str)> {
    perf::trusts_driver().then_some((TRUST_DRIVER, "1"))
}
