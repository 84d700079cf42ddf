//! The table of counter groups that are open in this process, so that a forked child can
//! release them.
//!
//! A child inherits the parent's descriptors but not its counter pages, which the kernel
//! maps `VM_DONTCOPY`. If the child read on, it would count the parent or fault. So after
//! `fork(3)` the child closes the descriptors and maps zero pages in place of the counter
//! pages. A zero page has index 0, which sends the fast path to the slow path. The slow
//! path compares generations, so the fast path needs no check of its own.

use std::os::fd::RawFd;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::sys::id_of;
use crate::fork::{ForkGuard, Lock, Locked};
use crate::seam::PAGE;

/// A descriptor that this library opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    pub(super) fd: RawFd,
    /// The answer of [`PerfSys::id`](crate::seam::PerfSys::id) at that time.
    pub(super) id: u64,
}

/// One open group.
#[derive(Clone, Debug)]
pub(super) struct LiveGroup {
    pub(super) descriptors: Vec<Own>,
    pub(super) base: usize,
    pub(super) pages: usize,
}

/// The table: one slot per group; empty slots are reused.
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

/// The number of forks between the process that loaded the library and this one.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// Whether the program has closed descriptors of this library, so that other files may have
/// their numbers.
static DISTRUSTED: AtomicBool = AtomicBool::new(false);

/// Makes every later start or stop of a group check its descriptor first.
#[cold]
pub(super) fn distrust_descriptors() {
    // ATOMICS: Relaxed is enough. A thread that does not see the store yet finds a foreign
    // descriptor by its own counter page.
    DISTRUSTED.store(true, Ordering::Relaxed);
}

/// Whether descriptors are checked before each use.
#[inline]
pub(super) fn are_descriptors_distrusted() -> bool {
    // ATOMICS: see `distrust_descriptors`.
    DISTRUSTED.load(Ordering::Relaxed)
}

/// Locks the table, so that a fork on another thread sees only whole groups.
///
/// The caller holds the lock from the first open of a group to its entry in the table, and
/// while it closes the group.
pub(super) fn lock() -> Locked<'static, Table> {
    install_atfork();
    TABLE.lock()
}

/// Registers the handlers below, once.
pub(crate) fn install_atfork() {
    static HANDLERS: Once = Once::new();
    HANDLERS.call_once(|| {
        // SAFETY: the handlers are functions of the program. `in_child` only makes calls
        // that are allowed between fork and exec, and does not allocate.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

/// The number of this process in a line of forks. Groups of another generation are invalid.
#[inline]
pub(crate) fn generation() -> u32 {
    // ATOMICS: Relaxed is enough, because only a fresh child with one thread writes it.
    GENERATION.load(Ordering::Relaxed)
}

extern "C" fn before() {
    // SAFETY: every call passes the same lock, as `put` requires.
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
            // SAFETY: the descriptor is the child's copy of one that the group owned, and its
            // id proves that it still is. The group sees the new generation and will not
            // close it again.
            unsafe { libc::close(own.fd) };
        }
        if live.pages > 0 {
            // SAFETY: the range is this library's reservation. The kernel left a hole there
            // in the child, and zero pages fill it.
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
