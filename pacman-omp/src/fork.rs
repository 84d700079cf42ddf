//! Handlers that carry the library over a fork.
//!
//! The child has only the thread that forked, and memory as it was at that instant. So `before` takes
//! every lock, and no list is half changed in the child. Counts so far belong to the parent; the
//! child begins with none, inside the same regions.

use std::collections::BTreeSet;

use pacman_core::fork::{ForkGuard, Locked};
use pacman_core::system_calls;
use pacman_regions::arena::Writer;

use crate::adapt;
use crate::arena;
use crate::counting::{self, EventPlan};
use crate::energy::{self, METER, Meter};
use crate::first_region::{self, FIRST_REGION, FirstRegion};
use crate::interpose::{self, PrivateRuntime};
use crate::isolation::{Quiet, isolated};
use crate::listed::{self, List};
use crate::module::{self, Modules};
use crate::notes;
use crate::once::MAKING;
use crate::packing;
use crate::phases::names;
use crate::process;
use crate::recording;
use crate::region::{self, Region};
use crate::rows::{self, Spare};
use crate::runtime::{self, Runtime};
use crate::users::{USERS, User};
use crate::waits::sites::{self, Sites};
use crate::waits::{self, numbers};
use crate::worker::Worker;
use crate::worker::living::{LIVING, Living};

/// All locks of the library, in the order in which a thread may nest them.
#[expect(dead_code, reason = "a guard holds its lock until it is dropped")]
struct Locks {
    making: Locked<'static, ()>,
    first: Locked<'static, Option<FirstRegion>>,
    opening: Locked<'static, ()>,
    notes: Locked<'static, Vec<String>>,
    private_runtimes: Locked<'static, Vec<PrivateRuntime>>,
    known: Locked<'static, Vec<&'static Runtime>>,
    all: Locked<'static, Vec<&'static Region>>,
    users: Locked<'static, Vec<User>>,
    looking: Locked<'static, ()>,
    list: Locked<'static, List>,
    modules: Locked<'static, Modules>,
    sites: Locked<'static, Sites>,
    numbers: Locked<'static, BTreeSet<u32>>,
    phases: Locked<'static, names::Numbers>,
    living: Locked<'static, Vec<Living>>,
    meter: Locked<'static, Option<Meter>>,
    spare: Locked<'static, Spare>,
    writer: Locked<'static, Option<Writer>>,
    /// Dropped last. A handler that forks again would wait for its own thread.
    quiet: Quiet,
}

static HELD: ForkGuard<Locks> = ForkGuard::new();

/// Has the C library call the functions below for `fork`. It does not call them for `vfork`, whose
/// child uses its parent's memory.
pub(crate) fn install_atfork() {
    // SAFETY: functions of this library, which is never unloaded.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

unsafe extern "C" fn before() {
    // The child inherits the affinity mask of the thread that forks.
    adapt::mask_matters();
    packing::hands_on_mask();
    Worker::forks();
    let quiet = Quiet::begin();
    let locks = Locks {
        making: MAKING.lock_in(&quiet),
        first: FIRST_REGION.lock_in(&quiet),
        opening: counting::OPENING.lock_in(&quiet),
        notes: notes::NOTES.lock_in(&quiet),
        private_runtimes: interpose::PRIVATE_RUNTIMES.lock_in(&quiet),
        known: runtime::KNOWN.lock_in(&quiet),
        all: region::ALL.lock_in(&quiet),
        users: USERS.lock_in(&quiet),
        looking: listed::LOOKING.lock_in(&quiet),
        list: listed::LIST.lock_in(&quiet),
        modules: module::MODULES.lock_in(&quiet),
        sites: sites::SITES.lock_in(&quiet),
        numbers: numbers::NUMBERS.lock_in(&quiet),
        phases: names::NUMBERS.lock_in(&quiet),
        living: LIVING.lock_in(&quiet),
        meter: METER.lock_in(&quiet),
        spare: rows::SPARE.lock_in(&quiet),
        writer: arena::WRITER.lock_in(&quiet),
        quiet,
    };
    // SAFETY: `in_parent` or `in_child` takes them before the next fork.
    unsafe { HELD.put(locks) };
}

unsafe extern "C" fn in_parent() {
    // SAFETY: `before` has put them there.
    drop(unsafe { HELD.take() });
}

unsafe extern "C" fn in_child() {
    // SAFETY: as in the parent; there is no other thread.
    let mut locks = unsafe { HELD.take() };
    packing::forked(Worker::known().map(|worker| &worker.crew));
    locks.spare.forget();
    let is_filtered = system_calls::are_forbidden();
    if is_filtered {
        // To begin a recording takes system calls.
        *locks.writer = None;
    }
    drop(locks);
    if is_filtered {
        arena::forget();
        EventPlan::forget();
        Worker::forked();
        waits::forget_root();
        return;
    }
    recording::begin((0, 0));
    record_inherited();
    if process::plan().meters() {
        isolated(|| energy::forked(Worker::known().map(Worker::address)));
    }
    EventPlan::forget();
    Worker::forked();
    waits::forget_root();
}

/// Records the facts that the child has from its parent. Regions are not among them: the reader
/// looks them up in the parent's records.
fn record_inherited() {
    recording::host(process::rank());
    for (number, runtime) in Runtime::known().into_iter().enumerate() {
        recording::runtime(number, runtime.family, &runtime.file.path);
    }
    first_region::record_again();
    notes::record_all();
}
