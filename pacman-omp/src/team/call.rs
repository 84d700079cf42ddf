//! A call of an entry that starts a team.

use std::ffi::{c_char, c_void};
use std::ptr;

use crate::function::Function;

/// The arguments of the call.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) entry: Function,
    pub(crate) body: *const c_void,
    pub(crate) data: *mut c_void,
    /// The number of words for LLVM's body, from `data` on.
    pub(crate) words: usize,
    /// The team size that the program asks for; 0 leaves it to the runtime.
    pub(crate) threads: u32,
    /// LLVM's description of the place in the source.
    pub(crate) source: *const c_char,
}

impl Call {
    /// A call of one of libgomp's entries.
    pub(crate) fn gomp(
        entry: Function,
        body: *const c_void,
        data: *mut c_void,
        threads: u32,
    ) -> Call {
        Call { entry, body, data, words: 0, threads, source: ptr::null() }
    }
}

/// How the library runs a team. Each mode has a body of its own, so that members need not ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TeamMode {
    Unobserved,
    Observed,
    Adapted,
    /// Observed, and its threads may be packed.
    Packed,
    /// Observed, and the waits inside are timed.
    Waits,
    /// Observed for all executions that it stands for.
    Sampled,
    /// Observed, with event sets that take turns.
    Rotating,
    /// Observed, and single executions are logged. Waits may be timed as well.
    Traced,
}

/// A mode with a region, as a constant of its body.
pub(crate) mod mode {
    pub(crate) const OBSERVED: u8 = 0;
    pub(crate) const ADAPTED: u8 = 1;
    pub(crate) const WAITS: u8 = 2;
    pub(crate) const SAMPLED: u8 = 3;
    pub(crate) const ROTATING: u8 = 4;
    pub(crate) const TRACED: u8 = 5;
    pub(crate) const PACKED: u8 = 6;
}
