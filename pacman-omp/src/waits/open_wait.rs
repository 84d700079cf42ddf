//! A wait that has begun.

use pacman_regions::Cause;

/// A wait that has begun. Its end needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OpenWait {
    /// On request, with the return address of the call.
    Timed { begun: u64, cause: Cause, caller: u64 },
    /// For adaptation.
    Measured { begun: u64, cause: Cause },
}
