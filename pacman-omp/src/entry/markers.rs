//! The markers of LIKWID and PAPI: each is a phase, and its own library gets the call as well.
//!
//! The phase is inside of the tool's own work. The library's other functions are not interposed. Without the
//! tool, which a program tests for by a weak symbol, a marker is a success.

use std::ffi::{c_char, c_void};
use std::ptr;

use pacman_regions::PhaseKind;

use super::call::{Call, Onward, Registers};
use super::kokkos::bytes;
use crate::arch::forwarded;
use crate::function::Function;
use crate::marks::{self, End};
use crate::worker::Worker;
use crate::worker::records::Ending;

forwarded!("pacman_omp_watched" likwid_markerStartRegion);
forwarded!("pacman_omp_watched" likwid_markerStopRegion);
forwarded!("pacman_omp_watched" PAPI_hl_region_begin);
forwarded!("pacman_omp_watched" PAPI_hl_region_end);

/// Begins a phase after the tool's own begin, or ends one before the tool's end.
///
/// # Safety
/// The call must be of one of these functions, with its registers: the first has the phase's name.
pub(super) unsafe fn mark(call: &Call, real: *const c_void, registers: &Registers) -> Onward {
    let name: *const c_char = ptr::with_exposed_provenance(registers[0] as usize);
    let (kind, begins) = match call.function {
        Function::likwid_markerStartRegion => (PhaseKind::Likwid, true),
        Function::likwid_markerStopRegion => (PhaseKind::Likwid, false),
        Function::PAPI_hl_region_begin => (PhaseKind::Papi, true),
        _ => (PhaseKind::Papi, false),
    };
    if begins {
        return call.in_place(Worker::here(), real.cast_mut(), Ending::Marker(kind, name));
    }
    // SAFETY: a C string, by the interface.
    marks::end(kind, End::Named(unsafe { bytes(&name) }));
    Onward::jump(real)
}

/// The tool's own begin has returned.
///
/// # Safety
/// The name must be a C string, or null.
pub(super) unsafe fn began(kind: PhaseKind, name: *const c_char) {
    // SAFETY: as the caller guarantees.
    marks::begin(kind, unsafe { bytes(&name) });
}
