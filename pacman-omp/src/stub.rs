//! The engine's side of `libpacman_omp.so`, the preloaded library that has loaded it (`stub/stub.c`).
//!
//! The preloaded library's entries jump through slots. [`take_over`] puts this library's entries there, which
//! are hidden in this file: nothing finds them by name. Look-ups of the definition "after this library" are the
//! preloaded library's, because that one is in the global scope.

use std::arch::global_asm;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use pacman_core::clock::{Clock, ClockSource};

use crate::function::{Function, functions};

pub(crate) type LookUp = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// The structure of the same name in `stub/stub.c`.
#[repr(C)]
struct Stub {
    table: u64,
    ticks: u64,
    nanos: u64,
    pid: u32,
    is_late: u32,
    is_loaded: AtomicU32,
    files_at_start: u32,
    slots: *const AtomicPtr<c_void>,
    next: unsafe extern "C" fn(LookUp, *const c_char) -> *mut c_void,
    find: unsafe extern "C" fn(u64, u64, *const c_char) -> *mut c_void,
    bind: unsafe extern "C" fn(u64) -> u32,
}

// SAFETY: the other fields do not change while this library uses them.
unsafe impl Sync for Stub {}

#[cfg(not(test))]
unsafe extern "C" {
    #[link_name = "pacman_omp_stub"]
    safe static STUB: Stub;
}

/// Tests have no preloaded library.
#[cfg(test)]
static STUB: Stub = Stub {
    table: 0,
    ticks: 0,
    nanos: 0,
    pid: 0,
    is_late: 0,
    is_loaded: AtomicU32::new(0),
    files_at_start: u32::MAX,
    slots: std::ptr::null(),
    next: {
        unsafe extern "C" fn next(look: LookUp, name: *const c_char) -> *mut c_void {
            // SAFETY: `dlsym`, and a C string.
            unsafe { look(libc::RTLD_NEXT, name) }
        }
        next
    },
    find: {
        unsafe extern "C" fn find(_: u64, _: u64, _: *const c_char) -> *mut c_void {
            std::ptr::null_mut()
        }
        find
    },
    bind: {
        unsafe extern "C" fn bind(_: u64) -> u32 {
            1
        }
        bind
    },
};

macro_rules! entries {
    ({ $($name:ident)+ } $($kind:ident { $($watched:ident)+ })+) => {
        entries! { @ [$($name)+] $($kind { $($watched)+ })+ }
    };
    (@ [$($name:ident)+] Called { $($called:ident)+ } $($kind:ident { $($watched:ident)+ })+) => {
        entries! { @ [$($name)+] $($kind { $($watched)+ })+ }
    };
    (@ [$($name:ident)+] $kind:ident { $($watched:ident)+ } $($rest:tt)*) => {
        entries! { @ [$($name)+ $($watched)+] $($rest)* }
    };
    (@ [$($name:ident)+]) => {
        global_asm!(
            ".pushsection .data.rel.ro.pacman_omp_entries, \"aw\", @progbits",
            ".balign 8",
            ".hidden pacman_omp_entries",
            ".globl pacman_omp_entries",
            ".type pacman_omp_entries, @object",
            "pacman_omp_entries:",
            $(
                // No other library's definition, and no other definition in this one's place.
                concat!(".hidden pacman_omp_entry_", stringify!($name)),
                concat!(".quad pacman_omp_entry_", stringify!($name)),
            )+
            ".size pacman_omp_entries, . - pacman_omp_entries",
            ".popsection",
        );

        /// The functions with an entry, in the order of the slots.
        static ENTERED: [Function; COUNT] = [$(Function::$name),+];
        const COUNT: usize = [$(stringify!($name)),+].len();
    };
}

functions!(entries);

unsafe extern "C" {
    safe static pacman_omp_entries: [AtomicPtr<c_void>; COUNT];
}

/// The number by which the two libraries know each other.
const TABLE: u64 = match u64::from_str_radix(env!("PACMAN_OMP_TABLE"), 10) {
    Ok(number) => number,
    Err(_) => panic!("build.rs has written a number"),
};

/// Whether the preloaded library has the same entries. Calls no function of the C library.
pub(crate) fn is_of_this_release() -> bool {
    STUB.table == TABLE
}

/// Binds this library's references to the C library, which the loader may have bound to functions of the program. Answers
/// whether that was possible. Calls no function of the C library.
pub(crate) fn bind() -> bool {
    // SAFETY: an address of this library.
    unsafe { (STUB.bind)(bind as fn() -> bool as usize as u64) != 0 }
}

/// Has the program's calls come here from now on.
pub(crate) fn take_over() {
    ENTERED.iter().for_each(|&function| take_back(function));
    STUB.is_loaded.store(1, Ordering::Release);
}

/// Has the program's calls of `function` go on to `real` without this library.
#[cold]
pub(crate) fn pass(function: Function, real: *mut c_void) {
    set(function, |_| real);
}

/// Has the program's calls of `function` come here.
#[cold]
pub(crate) fn take_back(function: Function) {
    set(function, |at| pacman_omp_entries[at].load(Ordering::Relaxed));
}

/// Sets the slot of `function` to what `target` answers for its place. Tests have no slots.
fn set(function: Function, target: impl FnOnce(usize) -> *mut c_void) {
    let place = ENTERED.iter().position(|&entered| entered == function);
    if let Some(at) = place.filter(|_| !STUB.slots.is_null()) {
        // SAFETY: the preloaded library has as many slots as there are entries.
        let slot = unsafe { &*STUB.slots.add(at) };
        // ATOMICS: whoever reads an entry sees all that was set up before.
        slot.store(target(at), Ordering::Release);
    }
}

/// Whether the program began before this library was loaded.
pub(crate) fn is_late() -> bool {
    STUB.is_late != 0
}

/// An address in the preloaded library.
pub(crate) fn address() -> u64 {
    STUB.next as usize as u64
}

/// The number of files that were loaded when the process began, and come first in the loader's list.
pub(crate) fn files_at_start() -> usize {
    STUB.files_at_start as usize
}

/// Looks up the definition after the preloaded library in the global scope by the C library's `dlsym`, under the loader's
/// lock.
pub(crate) fn next(dlsym: LookUp, name: &CStr) -> *mut c_void {
    // SAFETY: a C string, and the C library's own function.
    unsafe { (STUB.next)(dlsym, name.as_ptr()) }
}

/// The function of that name in the tables of a loaded file, which has its dynamic section at `dynamic`; null without
/// such a function.
pub(crate) fn find(bias: u64, dynamic: u64, name: &CStr) -> *mut c_void {
    if dynamic == 0 {
        return std::ptr::null_mut();
    }
    // SAFETY: callers have that file loaded; a C string.
    unsafe { (STUB.find)(bias, dynamic, name.as_ptr()) }
}

/// How long this process has run: in ticks of its clock, and in nanoseconds. The child of a fork begins now.
pub(crate) fn ran(clock: Clock) -> (u64, u64) {
    if STUB.pid != std::process::id() {
        return (0, 0);
    }
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes the time.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    let nanos = (now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64).saturating_sub(STUB.nanos);
    match clock.source() {
        ClockSource::Tsc => (clock.now().saturating_sub(STUB.ticks), nanos),
        _ => (nanos, nanos),
    }
}
