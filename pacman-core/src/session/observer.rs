//! The preloaded library of `pacman-pmu run`, which reports the phases of the program that it observes.
//!
//! It exports one function. Sessions look that function up when they start. In a process without the
//! library, phases take the path that they take anyway.

use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

use super::open::Open;
use crate::fork::once;
use pacman_events::Result;

/// `action`, the copy of this crate, the phase, its name and the length of that name.
type Observe = unsafe extern "C" fn(u32, usize, u64, *const u8, usize);

// The actions, as `pacman-omp/src/entry/phases.rs` has them.
const NAME: u32 = 0;
const BEGIN: u32 = 1;
const END: u32 = 2;
/// An execution that began for the library did not begin for the session.
const CANCEL: u32 = 3;
/// The thread leaves the session, and the execution does not end.
const LEAVE: u32 = 4;

const FUNCTION: &CStr = c"pacman_omp_phase";

/// The function of the preloaded library.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observer(Observe);

impl Observer {
    /// The library of this process, if there is one.
    pub(super) fn of_process() -> Option<Observer> {
        static FOUND: OnceLock<Option<Observer>> = OnceLock::new();
        *once(&FOUND, || {
            // SAFETY: a C string. A missing symbol is a null pointer.
            let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, FUNCTION.as_ptr()) };
            // SAFETY: only the preloaded library has a function of that name, and it has this type.
            (!found.is_null())
                .then(|| Observer(unsafe { std::mem::transmute::<*mut c_void, Observe>(found) }))
        })
    }

    /// Gives the name of a phase, before its first execution.
    pub(super) fn name(self, phase: u64, name: &str) {
        // SAFETY: the name is there during the call, and the library copies it.
        unsafe { self.0(NAME, copy(), phase, name.as_ptr(), name.len()) };
    }

    /// Begins a phase by `act`. An execution inside another one of the same phase is a part of that.
    pub(super) fn around_begin(
        self,
        phase: u64,
        open: &Open,
        act: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        // A signal handler that interrupts a begin or an end gets an error from `act`.
        if open.is_busy() || open.has(phase as u32) {
            return act();
        }
        self.tell(BEGIN, phase);
        let begun = act();
        if begun.is_err() {
            self.tell(CANCEL, phase);
        }
        begun
    }

    /// Ends a phase by `act`. The phase is over unless it stays open.
    pub(super) fn around_end(
        self,
        phase: u64,
        open: &Open,
        act: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let before = open.depth();
        let ended = act();
        if open.depth() < before && !open.has(phase as u32) {
            self.tell(END, phase);
        }
        ended
    }

    /// The thread leaves its open phases, as it leaves the session.
    pub(super) fn leave_open(self, session: u64, open: &Open) {
        open.phases().into_iter().for_each(|(phase, _)| self.tell(LEAVE, bits(session, phase)));
    }

    fn tell(self, action: u32, phase: u64) {
        // SAFETY: these actions need no name.
        unsafe { self.0(action, copy(), phase, std::ptr::null(), 0) };
    }
}

/// A phase as one word: the session's number and its own.
pub(super) fn bits(session: u64, phase: u32) -> u64 {
    u64::from(session as u32) << 32 | u64::from(phase)
}

/// A number of this copy of the crate. A process may have several, each with a first session.
fn copy() -> usize {
    FUNCTION.as_ptr().addr()
}
