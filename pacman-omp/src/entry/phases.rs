//! The function by which PACMAN's own sessions mark phases.
//!
//! `pacman-core/src/session/observer.rs` calls it, in any copy of that crate in the program: `libpacman.so`,
//! `libpacman.a` or a program in Rust. The name and the order of the arguments are an interface between
//! releases.

use crate::marks;
use crate::phases::Mark;

// The actions.
const NAME: u32 = 0;
const BEGIN: u32 = 1;
const END: u32 = 2;
const CANCEL: u32 = 3;
const LEAVE: u32 = 4;

/// Does what `action` says with a phase of a copy of the crate. Other actions than these do nothing.
///
/// # Safety
/// With [`NAME`], `name` must point to `length` bytes.
#[unsafe(export_name = "pacman_omp_entry_pacman_omp_phase")]
pub unsafe extern "C" fn pacman_omp_phase(
    action: u32,
    copy: usize,
    phase: u64,
    name: *const u8,
    length: usize,
) {
    let mark = Mark { copy, phase };
    match action {
        // SAFETY: as the caller guarantees.
        NAME => marks::name(mark, unsafe { std::slice::from_raw_parts(name, length) }),
        BEGIN => marks::begin_marked(mark),
        END => marks::end_marked(mark),
        CANCEL => marks::drop_marked(mark, true),
        LEAVE => marks::drop_marked(mark, false),
        _ => {}
    }
}
