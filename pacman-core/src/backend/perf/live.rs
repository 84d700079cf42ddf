//! Every counter group that is open in this process, so that a forked child can
//! let go of them.
//!
//! A child inherits the parent's descriptors but not its counter pages (the
//! kernel maps those `VM_DONTCOPY`): reading on would count the parent or fault.
//! After `fork(3)` the child therefore closes the descriptors and puts zero
//! pages where the counter pages were. A zero page says "index 0", so the fast
//! path needs no check of its own: it falls to the slow path, which knows.

use std::os::fd::RawFd;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::sys::{PAGE, id_of};
use crate::fork::{ForkGuard, Lock, Locked};

/// A descriptor that this library opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    pub(super) fd: RawFd,
    /// The answer of [`PerfSys::id`](super::sys::PerfSys::id) at that time.
    pub(super) id: u64,
}

/// One open group.
#[derive(Clone, Debug)]
pub(super) struct LiveGroup {
    pub(super) descriptors: Vec<Own>,
    pub(super) base: usize,
    pub(super) pages: usize,
}

/// The table: a slot a group, empty ones reused.
#[derive(Debug, Default)]
pub(super) struct Table {
    groups: Vec<Option<LiveGroup>>,
    free: Vec<usize>,
}

impl Table {
    pub(super) fn insert(&mut self, group: LiveGroup) -> usize {
        let has = |own: &Own| group.descriptors.iter().any(|new| new.fd == own.fd);
        if self.groups.iter().flatten().any(|older| older.descriptors.iter().any(has)) {
            distrust_descriptors();
        }
        match self.free.pop() {
            Some(slot) => {
                self.groups[slot] = Some(group);
                slot
            }
            None => {
                self.groups.push(Some(group));
                self.groups.len() - 1
            }
        }
    }

    pub(super) fn remove(&mut self, slot: usize) {
        if self.groups[slot].take().is_some() {
            self.free.push(slot);
        }
    }
}

static TABLE: Lock<Table> = Lock::new(Table { groups: Vec::new(), free: Vec::new() });
/// The table, while its thread forks.
static HELD: ForkGuard<Locked<'static, Table>> = ForkGuard::new();

/// Counts the forks that lie behind this process since the library was loaded.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// The program has closed descriptors of this library, and somebody has their numbers.
static DISTRUSTED: AtomicBool = AtomicBool::new(false);

/// Has every later switch check its descriptor before it uses it.
#[cold]
pub(super) fn distrust_descriptors() {
    // ATOMICS: a thread that does not see it yet finds a foreign descriptor by its own page.
    DISTRUSTED.store(true, Ordering::Relaxed);
}

/// Whether descriptors are checked before each use.
#[inline]
pub(super) fn are_descriptors_distrusted() -> bool {
    // ATOMICS: see `distrust_descriptors`.
    DISTRUSTED.load(Ordering::Relaxed)
}

/// Locks the table: held from the first open of a group to its entry here, and
/// over its closing, so that a fork on another thread sees whole groups only.
pub(super) fn lock() -> Locked<'static, Table> {
    install_atfork();
    TABLE.lock()
}

/// Registers the handlers below, once.
pub(crate) fn install_atfork() {
    static HANDLERS: Once = Once::new();
    HANDLERS.call_once(|| {
        // SAFETY: the handlers live as long as the program; `in_child` only makes
        // calls that are allowed between fork and exec, and allocates nothing.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

/// Which process of a line of forks this is: groups of another one are dead.
#[inline]
pub(crate) fn generation() -> u32 {
    // ATOMICS: only ever written in a fresh child, while it has one thread.
    GENERATION.load(Ordering::Relaxed)
}

extern "C" fn before() {
    // SAFETY: this one lock.
    unsafe { HELD.put(TABLE.lock()) };
}

extern "C" fn in_parent() {
    // SAFETY: put there by `before` on this thread.
    drop(unsafe { HELD.take() });
}

extern "C" fn in_child() {
    // SAFETY: put there by `before`; this is the child's only thread.
    let mut table = unsafe { HELD.take() };
    for group in table.groups.iter_mut() {
        let Some(live) = group else { continue };
        for own in live.descriptors.iter().filter(|own| id_of(own.fd) == Ok(own.id)) {
            // SAFETY: the child's own copies of descriptors that a group owned, and which are
            // its still; the group sees the generation and will not close them again.
            unsafe { libc::close(own.fd) };
        }
        if live.pages > 0 {
            // SAFETY: the range is a reservation of ours, of which the kernel left
            // a hole in the child; zero pages take its place.
            unsafe {
                libc::mmap(
                    live.base as *mut libc::c_void,
                    live.pages * PAGE,
                    libc::PROT_READ,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                    -1,
                    0,
                )
            };
        }
        live.descriptors.clear();
        live.pages = 0;
    }
    GENERATION.fetch_add(1, Ordering::Relaxed);
}
