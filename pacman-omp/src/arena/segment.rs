//! The segment that the command made.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use pacman_regions::Segment;
use pacman_regions::arena::{Key, PAGE, check};

use super::mapped::{Mapped, allow, last_error, words};

static BASE: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());

/// Attaches the segment.
///
/// # Errors
/// A line for the user. Without a line if the run of the segment is over: a process may outlive the run
/// and start others.
pub(super) fn attach(segment: &Segment) -> Result<Mapped, Option<String>> {
    // SAFETY: the call fills it.
    let mut about: libc::shmid_ds = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    if unsafe { libc::shmctl(segment.id, libc::IPC_STAT, &raw mut about) } != 0 {
        return Err(refused("shmctl"));
    }
    // SAFETY: it only returns a number.
    let uid = unsafe { libc::geteuid() };
    if about.shm_perm.cuid != uid {
        return Err(Some(format!(
            "cannot attach the memory for recordings: user {} owns it, and this process runs as user {uid}",
            about.shm_perm.cuid
        )));
    }
    // SAFETY: the kernel chooses the address.
    let base = unsafe { libc::shmat(segment.id, ptr::null(), 0) };
    if base.addr() == usize::MAX {
        return Err(refused("shmat"));
    }
    let bytes = about.shm_segsz / PAGE * PAGE;
    // SAFETY: attached above. The detach below happens only when no reference is kept.
    let words = unsafe { words(base, bytes) };
    if check(words, &Key { nonce: segment.nonce, uid }).is_err() {
        // The segment of another program, under the same number.
        // SAFETY: attached above, and no reference to it is used from here on.
        unsafe { libc::shmdt(base) };
        return Err(None);
    }
    // SAFETY: pages after the first, which this process does not use yet.
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
    (!is_gone).then(|| format!("cannot attach the memory for recordings: {call}: {error}"))
}
