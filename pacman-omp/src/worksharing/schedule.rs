//! Arguments of `__kmpc_for_static_init_*`: schedules, constructs, places in the source.
//!
//! The numbers are LLVM's, from `openmp/runtime/src/kmp.h` (`enum sched_type`, the `KMP_IDENT_*` flags
//! and `ident_t`), and part of its binary interface.

use std::ffi::{CStr, c_char};

use pacman_regions::Cause;

use super::partition::Division;

const STATIC_CHUNKED: i32 = 33;
const STATIC: i32 = 34;
const DISTRIBUTE_STATIC_CHUNKED: i32 = 91;
const DISTRIBUTE_STATIC: i32 = 92;
/// The modifiers monotonic and nonmonotonic. Static loops are monotonic in either case, so libomp
/// ignores the modifiers, and so does this library.
const MODIFIERS: i32 = 1 << 29 | 1 << 30;

/// The construct of an implicit barrier; without these bits the barrier is explicit.
const BARRIER: i32 = 0x1c0;
const SECTIONS: i32 = 0x400;
const DISTRIBUTE: i32 = 0x800;

/// The place of a construct in the source, and its kind: libomp's `ident_t`.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Ident {
    reserved_1: i32,
    flags: i32,
    reserved_2: i32,
    reserved_3: i32,
    source: *const c_char,
}

/// The reason why a loop keeps all its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Indivisible {
    /// Sections, which may wait for each other and so need a thread each.
    Sections,
    /// A loop over the teams of a league, not over threads.
    Distribute,
    /// A schedule other than the two that this library divides.
    Schedule,
    /// No more iterations than threads: each may be meant for one thread.
    FewIterations,
    /// Not a static loop: threads fetch their iterations.
    Fetched,
}

impl Indivisible {
    /// One line for the recording.
    pub(crate) fn why(self) -> &'static str {
        match self {
            Indivisible::Sections => "sections, which may wait for each other",
            Indivisible::Distribute => "distributed among teams, not threads",
            Indivisible::Schedule => "its schedule is not static, or has chunks of whole vectors",
            Indivisible::FewIterations => {
                "no more iterations than threads, so each may be meant for one thread"
            }
            Indivisible::Fetched => "its schedule is not static: threads fetch their iterations",
        }
    }
}

/// The division of a loop, if fewer threads may share it.
pub(crate) fn division(schedule: i32, flags: i32, chunk: i64) -> Result<Division, Indivisible> {
    if flags & SECTIONS != 0 {
        return Err(Indivisible::Sections);
    }
    if flags & DISTRIBUTE != 0 {
        return Err(Indivisible::Distribute);
    }
    match schedule & !MODIFIERS {
        STATIC => Ok(Division::Balanced),
        STATIC_CHUNKED => Ok(Division::Chunked(chunk)),
        DISTRIBUTE_STATIC | DISTRIBUTE_STATIC_CHUNKED => Err(Indivisible::Distribute),
        _ => Err(Indivisible::Schedule),
    }
}

/// The construct that ends in a barrier with these flags.
pub(crate) fn barrier(flags: i32) -> Cause {
    match flags & BARRIER {
        0x40 => Cause::Loop,
        0xc0 => Cause::Sections,
        0x140 => Cause::Single,
        0x1c0 => Cause::Worksharing,
        _ => Cause::Barrier,
    }
}

impl Ident {
    /// The construct's kind; 0 if the compiler passes none.
    ///
    /// # Safety
    /// `ident` is null or points to an `ident_t`.
    pub(crate) unsafe fn flags(ident: *const Ident) -> i32 {
        // SAFETY: as the caller guarantees.
        unsafe { ident.as_ref() }.map_or(0, |ident| ident.flags)
    }

    /// `;file;function;line;column;;`, if the compiler left it.
    ///
    /// # Safety
    /// `ident` is null or points to an `ident_t` whose source is null or a C string.
    pub(crate) unsafe fn source(ident: *const Ident) -> Option<String> {
        // SAFETY: as the caller guarantees.
        let source = unsafe { ident.as_ref() }?.source;
        if source.is_null() {
            return None;
        }
        // SAFETY: it is a C string.
        let text = unsafe { CStr::from_ptr(source) }.to_string_lossy();
        (!text.starts_with(";unknown;unknown;")).then(|| text.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_two_static_schedules_of_loops_are_divided() {
        const LOOP: i32 = 0x202;
        assert_eq!(division(34, LOOP, 1), Ok(Division::Balanced));
        assert_eq!(division(33, LOOP, 5), Ok(Division::Chunked(5)));
        // `schedule(monotonic: static)`, as clang passes it.
        assert_eq!(division(34 | 1 << 29, LOOP, 1), Ok(Division::Balanced));
        assert_eq!(division(33 | 1 << 30, LOOP, 2), Ok(Division::Chunked(2)));
        for other in [35, 36, 37, 38, 40, 41, 44, 45, 65, 66] {
            assert_eq!(division(other, LOOP, 1), Err(Indivisible::Schedule), "{other}");
        }
        assert_eq!(division(92, 0x802, 1), Err(Indivisible::Distribute));
        assert_eq!(division(91, 0, 1), Err(Indivisible::Distribute));
        assert_eq!(division(34, 0x402, 1), Err(Indivisible::Sections));
    }

    #[test]
    fn places_are_known_if_the_compiler_left_them() {
        let ident =
            |source| Ident { reserved_1: 0, flags: 0x202, reserved_2: 0, reserved_3: 0, source };
        let source = |ident: &Ident| {
            // SAFETY: an `Ident` of this test with a C string or null.
            unsafe { Ident::source(ident) }
        };
        assert_eq!(source(&ident(c";unknown;unknown;0;0;;".as_ptr())), None);
        assert_eq!(source(&ident(std::ptr::null())), None);
        let known = ident(c";cg.c;main;12;1;;".as_ptr());
        assert_eq!(source(&known).as_deref(), Some(";cg.c;main;12;1;;"));
        // SAFETY: null, or as above.
        unsafe { assert_eq!((Ident::flags(std::ptr::null()), Ident::flags(&known)), (0, 0x202)) };
    }
}
