//! How the library goes through a fork.
//!
//! The child has the thread that forked, and memory as it was at that instant. So nobody may be in
//! the midst of changing a list then: its lock is held over the fork. What was counted so far is
//! the parent's; the child begins with nothing, inside of the same regions.

use std::sync::OnceLock;

use pacman_core::fork::{Held, Lock, Locked};
use pacman_regions::arena::Writer;

use crate::adapt;
use crate::arena;
use crate::counting::{self, Plan};
use crate::interpose::{self, PrivateRuntime};
use crate::module;
use crate::process::{self, FirstRegion};
use crate::recording;
use crate::region::{self, Region};
use crate::rows::{self, Spare};
use crate::runtime::{self, Runtime};
use crate::worker::Worker;

/// Held while something is made that is made once.
static MAKING: Lock<()> = Lock::new(());

/// What is in `cell`, which `make` fills when it is first wanted. Nobody is at that when the process
/// forks: the child would wait for them.
#[inline]
pub(crate) fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    cell.get().unwrap_or_else(|| {
        let _one = MAKING.lock();
        cell.get_or_init(make)
    })
}

/// All locks that somebody may wait for. Whoever takes one while it has another takes them in this
/// order.
#[expect(dead_code, reason = "a lock is held for as long as this is there")]
struct Locks {
    making: Locked<'static, ()>,
    first: Locked<'static, Option<FirstRegion>>,
    opening: Locked<'static, ()>,
    notes: Locked<'static, Vec<String>>,
    private_runtimes: Locked<'static, Vec<PrivateRuntime>>,
    known: Locked<'static, Vec<&'static Runtime>>,
    all: Locked<'static, Vec<&'static Region>>,
    searching: Locked<'static, ()>,
    spare: Locked<'static, Spare>,
    writer: Locked<'static, Option<Writer>>,
}

static HELD: Held<Locks> = Held::new();

/// Has the C library call the functions below. It calls them for `fork` only: the child of a
/// `vfork` has its parent's memory, and nothing of this.
pub(crate) fn watch() {
    // SAFETY: functions of this library, which is never unloaded.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

unsafe extern "C" fn before() {
    // The child has the mask of who forks.
    adapt::mask_matters();
    Worker::forks();
    let locks = Locks {
        making: MAKING.lock(),
        first: process::FIRST_REGION.lock(),
        opening: counting::OPENING.lock(),
        notes: process::NOTES.lock(),
        private_runtimes: interpose::PRIVATE_RUNTIMES.lock(),
        known: runtime::KNOWN.lock(),
        all: region::ALL.lock(),
        searching: module::SEARCHING.lock(),
        spare: rows::SPARE.lock(),
        writer: arena::WRITER.lock(),
    };
    // SAFETY: all of them, always.
    unsafe { HELD.put(locks) };
}

unsafe extern "C" fn in_parent() {
    // SAFETY: `before` has put them there.
    drop(unsafe { HELD.take() });
}

unsafe extern "C" fn in_child() {
    // SAFETY: as in the parent; there is no other thread.
    let mut locks = unsafe { HELD.take() };
    locks.spare.forget();
    drop(locks);
    process::begin();
    recording::inherited();
    Plan::forget();
    Worker::forked();
}
