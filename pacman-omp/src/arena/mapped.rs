//! Mapped memory of an arena, and access to its pages.

use std::sync::atomic::AtomicU64;

use pacman_regions::arena::PAGE;

/// The most pages that are made before their first use. Many processes leave most of a larger chunk unused.
const AT_ONCE: usize = 64;

/// Memory that other processes may have mapped as well.
///
/// Pages allow no access until this process uses them. So a program that locks or dumps its memory
/// does so with the used pages only.
pub(super) struct Mapped {
    pub(super) words: &'static [AtomicU64],
    /// Gives access to a number of pages from a page on; answers false if it cannot.
    pub(super) grow: fn(usize, usize) -> bool,
}

/// Bytes of address space to map. A program with a limit on address space keeps nearly all of it.
pub(super) fn room() -> usize {
    const MOST: usize = 1 << 30;
    match limit(libc::RLIMIT_AS) {
        libc::RLIM_INFINITY => MOST,
        limit => MOST.min((limit / 16) as usize).next_multiple_of(PAGE),
    }
}

pub(super) fn limit(of: libc::__rlimit_resource_t) -> libc::rlim_t {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: 0 };
    // SAFETY: the call fills it or leaves it as it is.
    unsafe { libc::getrlimit(of, &raw mut limit) };
    limit.rlim_cur
}

/// The words of a mapping that is never unmapped.
///
/// # Safety
/// `base` must be the page-aligned start of a mapping of `bytes`. No code may touch words of pages
/// without access.
pub(super) unsafe fn words(base: *mut libc::c_void, bytes: usize) -> &'static [AtomicU64] {
    // SAFETY: as the caller says.
    unsafe { std::slice::from_raw_parts(base.cast(), bytes / 8) }
}

/// Gives access to `pages` pages from `page` on, of words that begin at `base`.
pub(super) fn allow(base: *const AtomicU64, page: usize, pages: usize) -> bool {
    let from = base.cast::<u8>().wrapping_add(page * PAGE).cast_mut();
    // SAFETY: pages of the mapping that only this process uses.
    unsafe {
        if libc::mprotect(from.cast(), pages * PAGE, libc::PROT_READ | libc::PROT_WRITE) != 0 {
            return false;
        }
        // One call takes less than a fault for each page. A kernel before 5.14 refuses it, and the pages are
        // made at their first use.
        libc::madvise(from.cast(), pages.min(AT_ONCE) * PAGE, libc::MADV_POPULATE_WRITE);
    }
    true
}

pub(super) fn last_error() -> std::io::Error {
    std::io::Error::last_os_error()
}
