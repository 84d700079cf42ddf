//! Memory of one's own, and what Linux is asked about its pages.

use std::io;
use std::ptr::{self, NonNull};

use pacman_core::{Error, ErrorKind, Result};

/// The size of pages that a region asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pages {
    /// As large as can be had, to keep TLB misses out.
    Large,
    /// The smallest.
    Small,
}

/// Anonymous memory, untouched at first.
#[derive(Debug)]
pub(super) struct Region {
    base: NonNull<u8>,
    bytes: usize,
}

impl Region {
    /// Makes `bytes` of fresh memory, in place of the old memory.
    pub(super) fn new(bytes: usize, pages: Pages) -> Result<Region> {
        let (rights, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        // SAFETY: asks for a new mapping, which takes the place of none.
        let base = unsafe { libc::mmap(ptr::null_mut(), bytes, rights, kind, -1, 0) };
        if base == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            return Err(Error::from_errno(
                ErrorKind::System,
                error.raw_os_error().unwrap_or(0),
                format!(
                    "cannot map {} MiB for a kernel's data: mmap says {error}; raise the limit on \
                     address space (ulimit -v)",
                    bytes >> 20
                ),
            ));
        }
        let advice = match pages {
            Pages::Large => libc::MADV_HUGEPAGE,
            Pages::Small => libc::MADV_NOHUGEPAGE,
        };
        // A kernel without huge pages knows neither advice, and needs none.
        // SAFETY: the range is the mapping just made.
        unsafe { libc::madvise(base, bytes, advice) };
        let base = NonNull::new(base.cast()).expect("mmap gives no null");
        Ok(Region { base, bytes })
    }

    /// The word at `offset`, which is a multiple of 8.
    #[inline(always)]
    pub(super) fn word(&self, offset: usize) -> usize {
        let place = self.place(offset);
        // SAFETY: `place` has checked that the word is inside of the mapping and aligned.
        unsafe { place.read_volatile() }
    }

    /// Writes the word at `offset`, which is a multiple of 8.
    #[inline(always)]
    pub(super) fn set_word(&mut self, offset: usize, word: usize) {
        let place = self.place(offset);
        // SAFETY: `place` has checked that the word is inside of the mapping and aligned;
        // nobody else has the region.
        unsafe { place.write_volatile(word) }
    }

    #[inline(always)]
    fn place(&self, offset: usize) -> *mut usize {
        assert!(offset % 8 == 0 && offset < self.bytes, "no word at {offset}");
        // SAFETY: the offset was checked to be inside of the mapping.
        unsafe { self.base.as_ptr().add(offset).cast() }
    }

    #[cfg(target_arch = "x86_64")]
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.base.as_ptr()
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to this region, and it is not used any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// Refuses what would take more than half of the memory that is left.
pub(super) fn afford(bytes: usize, what: &str) -> Result<()> {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    match available(&text) {
        Some(left) if bytes as u64 > left / 2 => Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "cannot run the kernel {what}: it needs {} MiB, and of the {} MiB that are \
                 available no more than half is taken",
                bytes >> 20,
                left >> 20
            ),
        )),
        _ => Ok(()),
    }
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_available_is_read_in_kilobytes() {
        let text = "MemTotal:       24682836 kB\nMemFree: 1 kB\nMemAvailable:   24164352 kB\n";
        assert_eq!(available(text), Some(24_164_352 * 1024));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
        let refused = afford(usize::MAX / 4, "llc-misses").unwrap_err();
        assert!(refused.to_string().starts_with("cannot run the kernel llc-misses: it needs"));
    }

    #[test]
    fn words_stay_where_they_are_put() {
        let mut region = Region::new(1 << 16, Pages::Small).unwrap();
        region.set_word(8, 7);
        assert_eq!((region.word(8), region.word(16)), (7, 0));
    }
}
