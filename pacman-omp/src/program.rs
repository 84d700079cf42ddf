//! The library's observations of the program outside of single regions.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::process::set_once;

/// Since the last region, the program asked for the number of threads that a team may have.
static ASKED: AtomicBool = AtomicBool::new(false);
/// Since the last region, the program set the number of threads.
static DECIDED: AtomicBool = AtomicBool::new(false);
/// The return address of the latest such call of either kind; 0 if none is known.
static LATEST: AtomicU64 = AtomicU64::new(0);
/// The program asked at any time, so it may keep data for each thread.
static EVER_ASKED: AtomicBool = AtomicBool::new(false);
/// See [`keeps_by_thread`].
static BY_THREAD: AtomicBool = AtomicBool::new(false);
/// LLVM's leagues start their teams' regions on threads that nothing else marks.
static TEAMS: AtomicBool = AtomicBool::new(false);

/// Notes that the program asked for the number of threads, outside of regions, by a call that returns
/// to `at`.
pub(crate) fn asked(at: u64) {
    LATEST.store(at, Ordering::Relaxed);
    set_once(&ASKED);
    asked_inside();
}

/// Notes that the program set the number of threads, outside of regions. It knows the number from
/// then on.
pub(crate) fn decided(at: u64) {
    LATEST.store(at, Ordering::Relaxed);
    set_once(&DECIDED);
    asked_inside();
}

/// Notes that the program asked inside a region.
pub(crate) fn asked_inside() {
    set_once(&EVER_ASKED);
}

/// The return address of the latest call that asked or set the number outside of regions.
pub(crate) fn latest_query() -> u64 {
    LATEST.load(Ordering::Relaxed)
}

/// Whether the program asked outside of regions since the last call of this function.
#[inline]
pub(crate) fn take_asked() -> bool {
    ASKED.load(Ordering::Relaxed) && ASKED.swap(false, Ordering::Relaxed)
}

/// Whether the program set the number of threads since the last call of this function.
#[inline]
pub(crate) fn take_decided() -> bool {
    DECIDED.load(Ordering::Relaxed) && DECIDED.swap(false, Ordering::Relaxed)
}

/// Whether the program asked at any time.
#[inline]
pub(crate) fn has_asked() -> bool {
    EVER_ASKED.load(Ordering::Relaxed)
}

/// Notes that the runtime keeps data for each thread of the program. clang's threadprivate data are
/// such data on systems without thread-local storage.
pub(crate) fn keeps_by_thread() {
    set_once(&BY_THREAD);
}

/// Whether the runtime keeps data for each thread of the program.
pub(crate) fn has_data_by_thread() -> bool {
    BY_THREAD.load(Ordering::Relaxed)
}

/// Notes that the program runs a league of teams.
pub(crate) fn teams() {
    set_once(&TEAMS);
}

/// Whether the program ran a league of teams.
pub(crate) fn has_teams() -> bool {
    TEAMS.load(Ordering::Relaxed)
}
