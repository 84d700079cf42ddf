//! Open sessions by handle.
//!
//! A handle is a number with the type of a pointer. The library looks it up and never dereferences
//! it, so null, closed and foreign values give errors and not crashes. On 64-bit systems its upper
//! bits are outside of the addresses of objects. Numbers are never reused.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pacman_core::fork::Fenced;
use pacman_core::{Session, Topology};

use crate::error::{Failure, Result, Status};

/// A session as C sees it: opaque, and never an object in memory.
#[repr(C)]
#[allow(non_camel_case_types, reason = "the name it has in C")]
pub struct pacman_session {
    _opaque: [u8; 0],
}

/// The upper bits of every handle: outside what user space can map.
#[cfg(target_pointer_width = "64")]
const TAG: usize = 0x5041_0000_0000_0000;
#[cfg(not(target_pointer_width = "64"))]
const TAG: usize = 0;

/// The session behind a handle.
pub(crate) struct Entry {
    pub(crate) session: Session,
    pub(crate) life: Arc<Life>,
    /// The machine as it was at the open, before the session bound any thread.
    pub(crate) topology: pacman_core::Result<Topology>,
}

/// The part of a session that threads keep without keeping it open.
#[derive(Debug, Default)]
pub(crate) struct Life {
    closed: AtomicBool,
    /// Threads that have attached so far.
    pub(crate) threads: AtomicUsize,
}

impl Life {
    /// Whether the handle was closed. Another thread may see that a moment later.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}

static OPEN: Fenced<BTreeMap<usize, Arc<Entry>>> = Fenced::new(BTreeMap::new());
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Gives a session a handle.
pub(crate) fn insert(session: Session, topology: pacman_core::Result<Topology>) -> usize {
    let serial = NEXT.fetch_add(1, Ordering::Relaxed);
    // An odd number is not the address of an aligned object either.
    let handle = TAG | (serial << 1) | 1;
    let entry = Entry { session, life: Arc::default(), topology };
    OPEN.lock().insert(handle, Arc::new(entry));
    handle
}

/// The session behind a handle. `wish` names the caller's action in messages.
pub(crate) fn find(handle: usize, wish: &str) -> Result<Arc<Entry>> {
    let entry = OPEN.lock().get(&handle).cloned();
    entry.ok_or_else(|| unknown(handle, wish))
}

/// Closes a handle.
pub(crate) fn remove(handle: usize, wish: &str) -> Result<()> {
    let entry = OPEN.lock().remove(&handle);
    let entry = entry.ok_or_else(|| unknown(handle, wish))?;
    entry.life.closed.store(true, Ordering::Relaxed);
    Ok(())
}

/// The reason why a value is not the handle of an open session.
#[cold]
pub(crate) fn unknown(handle: usize, wish: &str) -> Failure {
    let given = NEXT.load(Ordering::Relaxed);
    let serial = handle.wrapping_sub(TAG) >> 1;
    let message = if handle == 0 {
        format!("cannot {wish}: the session is null; pass what pacman_session_open gave")
    } else if handle & 1 == 1 && handle & TAG == TAG && serial < given {
        format!("cannot {wish}: the session was closed; open another")
    } else {
        format!("cannot {wish}: {handle:#x} is not a session; pass what pacman_session_open gave")
    };
    Failure::new(Status::Handle, message)
}
