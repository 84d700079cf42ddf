//! Phases: names, begin and end.

use std::ffi::{c_char, c_int};

use crate::error::{Status, answer, answer_isolated};
use crate::input;
use crate::kept;
use crate::registry::{self, pacman_session};

/// The handle of a phase; `pacman_phase` in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct PhaseHandle {
    pub(crate) id: u64,
}

/// Stores the handle of the phase `name`. The first call with a name makes the phase.
///
/// # Safety
/// `name` is null or a string closed by a zero. `phase` is null or points to a writable word.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_phase_define(
    session: *const pacman_session,
    name: *const c_char,
    phase: *mut PhaseHandle,
) -> c_int {
    answer_isolated(|| {
        input::present(phase, "a phase")?;
        // SAFETY: the caller's promise; the text is not kept.
        let name = unsafe { input::text(name, "this as the name of a phase") }?;
        let entry = registry::find(session.addr(), "define a phase")?;
        let bits = entry.session.phase(name)?.to_bits();
        // SAFETY: not null, and the caller's promise.
        unsafe { phase.write(PhaseHandle { id: bits }) };
        Ok(Status::Ok)
    })
}

/// Begins a phase on the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn pacman_begin(session: *const pacman_session, phase: PhaseHandle) -> c_int {
    answer(|| {
        kept::with(session.addr(), "begin a phase", |kept| {
            kept.attached.begin(kept.phase(phase.id)?)?;
            Ok(Status::Ok)
        })
    })
}

/// Ends the phase that the calling thread began last.
#[unsafe(no_mangle)]
pub extern "C" fn pacman_end(session: *const pacman_session, phase: PhaseHandle) -> c_int {
    answer(|| {
        kept::with(session.addr(), "end a phase", |kept| {
            kept.attached.end(kept.phase(phase.id)?)?;
            Ok(Status::Ok)
        })
    })
}
