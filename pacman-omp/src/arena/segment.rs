//! The segment that the command has made.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use pacman_regions::Segment;
use pacman_regions::arena::{Key, PAGE, check};

use super::mapped::{Mapped, allow, last_error, words};

static BASE: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());

/// Attaches it. Without a line where the run is over for which it was made: a process may go on for
/// long after that, and start others.
pub(super) fn attach(segment: &Segment) -> Result<Mapped, Option<String>> {
    // SAFETY: filled by the call.
    let mut about: libc::shmid_ds = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    if unsafe { libc::shmctl(segment.id, libc::IPC_STAT, &raw mut about) } != 0 {
        return Err(refused("shmctl"));
    }
    // SAFETY: takes nothing.
    let uid = unsafe { libc::geteuid() };
    if about.shm_perm.cuid != uid {
        return Err(Some(format!(
            "the memory for recordings is user {}'s, and this process is user {uid}'s",
            about.shm_perm.cuid
        )));
    }
    // SAFETY: the kernel chooses the place.
    let base = unsafe { libc::shmat(segment.id, ptr::null(), 0) };
    if base.addr() == usize::MAX {
        return Err(refused("shmat"));
    }
    let bytes = about.shm_segsz / PAGE * PAGE;
    // SAFETY: it was attached just now; nothing is taken away before it is found to be another.
    let words = unsafe { words(base, bytes) };
    if check(words, &Key { nonce: segment.nonce, uid }).is_err() {
        // Its number was used again: it is another program's.
        // SAFETY: attached above, and nobody has a reference to it from here on.
        unsafe { libc::shmdt(base) };
        return Err(None);
    }
    // SAFETY: the pages after the first, of which nothing is used yet by this process.
    unsafe {
        libc::madvise(base, bytes, libc::MADV_DONTDUMP);
        libc::mprotect(base.byte_add(PAGE), bytes - PAGE, libc::PROT_NONE);
    }
    BASE.store(base.cast(), Ordering::Relaxed);
    Ok(Mapped { words, grow: |page, pages| allow(BASE.load(Ordering::Relaxed), page, pages) })
}

fn refused(call: &str) -> Option<String> {
    let error = last_error();
    let is_gone = matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EIDRM));
    (!is_gone).then(|| format!("cannot reach the memory for recordings: {call}: {error}"))
}
