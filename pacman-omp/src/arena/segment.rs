//! The segments that the command made.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::AtomicU64;

use pacman_core::system_calls;
use pacman_regions::Segment;
use pacman_regions::arena::{PAGE, Pages, check, page_count, pieces};

use super::mapped::{Mapped, allow, last_error, system_page, words};

/// The pieces of an arena, each a segment, which are attached when they are needed.
pub(super) struct Segments {
    segment: Segment,
    mapped: Mapped,
}

/// The reason why a segment cannot be attached.
pub(super) enum Refusal {
    /// There is none: the run is over.
    Absent,
    /// The system's message.
    Denied(String),
}

/// Attaches the first segment. The kernel decides who may: it compares users across namespaces.
pub(super) fn attach(segment: &Segment) -> Result<Segments, Refusal> {
    let first = attach_piece(segment, 0, None).map_err(|refusal| match refusal {
        Refusal::Absent if is_elsewhere(segment) => {
            Refusal::Denied("this process has another IPC namespace than the run".into())
        }
        other => other,
    })?;
    let count = page_count(first);
    if pieces(count).count() != segment.ids.len() {
        return Err(Refusal::Denied("it has another number of pieces".into()));
    }
    Ok(Segments { segment: segment.clone(), mapped: Mapped::new(count, first) })
}

/// Attaches a single segment, all of it usable. Returns the words behind the header.
pub(super) fn attach_whole(segment: &Segment) -> Result<&'static [AtomicU64], Refusal> {
    let words = attach_piece(segment, 0, None)?;
    if !allow(words) {
        return Err(refused("mprotect"));
    }
    Ok(&words[PAGE / 8..])
}

impl Pages for Segments {
    fn header(&self) -> &'static [AtomicU64] {
        &self.mapped.first()[..PAGE / 8]
    }

    fn count(&self) -> usize {
        self.mapped.count
    }

    fn make(&mut self, pages: Range<usize>) -> Option<&'static [AtomicU64]> {
        let segment = &self.segment;
        self.mapped.make(pages, |number, piece| {
            if system_calls::are_forbidden() {
                return None;
            }
            attach_piece(segment, number, Some(piece.len())).ok()
        })
    }

    fn map_ahead(&mut self) {
        let segment = &self.segment;
        self.mapped
            .map_second(|number, piece| attach_piece(segment, number, Some(piece.len())).ok());
    }
}

/// Whether the segments are in another IPC namespace than this process.
fn is_elsewhere(segment: &Segment) -> bool {
    let own = Segment::own_namespace();
    own != 0 && segment.namespace != 0 && own != segment.namespace
}

/// Attaches a piece, of `pages` pages if that is known. Only its first page is usable.
fn attach_piece(
    segment: &Segment,
    number: usize,
    pages: Option<usize>,
) -> Result<&'static [AtomicU64], Refusal> {
    let id = *segment.ids.get(number).ok_or(Refusal::Absent)?;
    // SAFETY: the call fills it.
    let mut about: libc::shmid_ds = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    if unsafe { libc::shmctl(id, libc::IPC_STAT, &raw mut about) } != 0 {
        return Err(refused("shmctl"));
    }
    let bytes = about.shm_segsz / PAGE * PAGE;
    if bytes == 0 || pages.is_some_and(|pages| pages * PAGE != bytes) {
        return Err(Refusal::Absent);
    }
    // SAFETY: the kernel chooses the address.
    let base = unsafe { libc::shmat(id, ptr::null(), 0) };
    if base.addr() == usize::MAX {
        return Err(refused("shmat"));
    }
    // SAFETY: attached above. The detach below happens only when no reference is kept.
    let words = unsafe { words(base, bytes) };
    if check(words, segment.nonce).is_err() {
        // The segment of another program, under the same number.
        // SAFETY: attached above, and no reference to it is used from here on.
        unsafe { libc::shmdt(base) };
        return Err(Refusal::Absent);
    }
    let used = PAGE.next_multiple_of(system_page()).min(bytes);
    // SAFETY: pages after the first, which this process does not use yet.
    unsafe { libc::mprotect(base.byte_add(used), bytes - used, libc::PROT_NONE) };
    Ok(words)
}

fn refused(call: &str) -> Refusal {
    let error = last_error();
    match error.raw_os_error() {
        Some(libc::EINVAL | libc::EIDRM) => Refusal::Absent,
        _ => Refusal::Denied(format!("{call}: {error}")),
    }
}
