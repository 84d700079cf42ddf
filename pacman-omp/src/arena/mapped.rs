//! Mapped memory of an arena, and access to its pages.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pacman_regions::arena::{PAGE, pieces};

/// The most pages that are made before their first use. Many processes leave most of a larger chunk unused.
const AT_ONCE: usize = 64;

/// The pieces of an arena that this process has mapped. Other processes may have mapped them as well.
///
/// Pages allow no access until this process uses them. So a program that locks or dumps its memory
/// does so with the used pages only.
pub(super) struct Mapped {
    /// The pages of the arena.
    pub(super) count: usize,
    /// The words of each mapped piece, which are never unmapped.
    pieces: Vec<&'static [AtomicU64]>,
}

impl Mapped {
    /// An arena of `count` pages whose first piece is mapped.
    pub(super) fn new(count: usize, first: &'static [AtomicU64]) -> Mapped {
        Mapped { count, pieces: vec![first] }
    }

    pub(super) fn first(&self) -> &'static [AtomicU64] {
        self.pieces[0]
    }

    /// Calls `map` with the number and the pages of the second piece, unless it is mapped. It returns the words of
    /// the piece.
    pub(super) fn map_second(
        &mut self,
        map: impl FnOnce(usize, Range<usize>) -> Option<&'static [AtomicU64]>,
    ) {
        let second = pieces(self.count).nth(1).filter(|_| self.pieces.len() == 1);
        self.pieces.extend(second.and_then(|piece| map(1, piece)));
    }

    /// Gives access to pages of one piece. Calls `map` with the number and the pages of each piece that is not
    /// mapped yet; it returns the words of the piece.
    pub(super) fn make(
        &mut self,
        pages: Range<usize>,
        mut map: impl FnMut(usize, Range<usize>) -> Option<&'static [AtomicU64]>,
    ) -> Option<&'static [AtomicU64]> {
        let number = pieces(self.count).position(|piece| piece.contains(&pages.start))?;
        while self.pieces.len() <= number {
            let next = self.pieces.len();
            self.pieces.push(map(next, pieces(self.count).nth(next)?)?);
        }
        let start = pieces(self.count).nth(number)?.start;
        let words = self.pieces[number].get((pages.start - start) * PAGE / 8..)?;
        let words = words.get(..pages.len() * PAGE / 8)?;
        allow(words).then_some(words)
    }
}

/// The words of a mapping that is never unmapped. A core of the program leaves it out.
///
/// # Safety
/// `base` must be the page-aligned start of a mapping of `bytes`. No code may touch words of pages
/// without access.
pub(super) unsafe fn words(base: *mut libc::c_void, bytes: usize) -> &'static [AtomicU64] {
    // SAFETY: the mapping has these bytes.
    unsafe {
        libc::madvise(base, bytes, libc::MADV_DONTDUMP);
        std::slice::from_raw_parts(base.cast(), bytes / 8)
    }
}

/// Whether the program has begun. From then on it may filter its system calls, and access to more pages is the only call
/// here: OpenMP programs make it, too.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// The program begins.
pub(crate) fn program_begins() {
    HAS_BEGUN.store(true, Ordering::Relaxed);
}

/// The size of the system's pages, which may be larger than an arena's: 64 KiB on some systems for Arm.
pub(super) fn system_page() -> usize {
    // SAFETY: it only returns a number.
    unsafe { libc::getauxval(libc::AT_PAGESZ) as usize }.max(PAGE)
}

/// Gives access to the words of a mapping, and to the rest of the system's pages that have them.
pub(super) fn allow(words: &[AtomicU64]) -> bool {
    let before = words.as_ptr().addr() % system_page();
    let bytes = before + size_of_val(words);
    // SAFETY: pages of the mapping, which begins at a page of the system's. Other words on them are of other
    // processes, and no code here touches them.
    unsafe {
        let base = words.as_ptr().cast_mut().byte_sub(before).cast();
        if libc::mprotect(base, bytes, libc::PROT_READ | libc::PROT_WRITE) != 0 {
            return false;
        }
        // One call takes less than a fault for each page. Without it, as with a kernel before 5.14, the pages are
        // made at their first use.
        if !HAS_BEGUN.load(Ordering::Relaxed) {
            libc::madvise(base, bytes.min(AT_ONCE * PAGE), libc::MADV_POPULATE_WRITE);
        }
    }
    true
}

pub(super) fn last_error() -> std::io::Error {
    std::io::Error::last_os_error()
}
