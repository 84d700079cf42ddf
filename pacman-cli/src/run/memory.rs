//! The memory in which the processes of one run record.
//!
//! It is System V segments without names, which are marked for removal when they are attached. So the
//! kernel frees them with the last process that has them, even if that process is killed. They need no file,
//! descriptor or directory. A process in another IPC namespace or of another user cannot attach them. It makes a
//! file in a directory that only those find who know its name. The same directory serves all processes if the
//! system refuses segments.

use std::io;
use std::path::Path;
use std::ptr;
use std::sync::atomic::AtomicU64;

use pacman_core::clock::Clock;
use pacman_events::shown::shown_path;

use pacman_regions::arena::{self, PAGE};
use pacman_regions::{Options, Recording, Segment};

use super::directory::Directory;
use crate::error::CliResult;

/// Memory of one run. The system frees it when this value and the processes that have it are gone.
#[derive(Debug)]
pub struct Memory {
    segments: Option<Segments>,
    directory: Option<Directory>,
}

/// Segments that are attached.
#[derive(Debug)]
struct Segments {
    segment: Segment,
    /// The words of each piece.
    pieces: Vec<Attached>,
    /// Measures the rate of the TSC while the program runs, so that no process needs to.
    clock: Option<Clock>,
}

/// The recordings that a run left, and the problems with reading them.
#[derive(Debug, Default)]
pub struct Found {
    /// By process, in the order in which they began.
    pub recordings: Vec<Recording>,
    /// Lines about content that is not a recording.
    pub wrong: Vec<String>,
}

impl Memory {
    /// Makes the memory. An error has the system's message.
    pub fn new() -> CliResult<Memory> {
        let segments = Segments::new().ok();
        match (segments, Directory::drop_box()) {
            (None, Err(why)) => Err(why),
            (segments, directory) => Ok(Memory { segments, directory: directory.ok() }),
        }
    }

    /// Sets the options that make the library record to it.
    pub fn add_to(&self, options: &mut Options) {
        options.segment = self.segments.as_ref().map(|segments| segments.segment.clone());
        options.directory = self.directory.as_ref().map(|directory| directory.path().to_owned());
    }

    /// The recordings that are there now. Processes may go on writing.
    pub fn found(&self) -> Found {
        let directory = self.directory.as_ref();
        let mut found = directory.map_or_else(Found::default, |one| found_in(one.path()));
        match self.segments.as_ref().map(|segments| arena::read_words(&segments.copied())) {
            Some(Ok(recordings)) => {
                let files = std::mem::replace(&mut found.recordings, recordings);
                found.recordings.extend(files);
                in_order(&mut found.recordings);
            }
            Some(Err(why)) => found.wrong.push(format!("it {why}")),
            None => {}
        }
        found
    }
}

fn in_order(recordings: &mut [Recording]) {
    recordings.sort_by(|one, other| one.process.began.total_cmp(&other.process.began));
}

/// The recordings of a directory.
pub(crate) fn found_in(directory: &Path) -> Found {
    match Recording::found_in(directory) {
        Ok((mut recordings, wrong)) => {
            in_order(&mut recordings);
            Found { recordings, wrong }
        }
        Err(error) => {
            Found { wrong: vec![format!("{}: {error}", shown_path(directory))], ..Found::default() }
        }
    }
}

impl Segments {
    fn new() -> io::Result<Segments> {
        let (nonce, mut pages) = (nonce()?, most());
        loop {
            let made: io::Result<Vec<_>> =
                arena::pieces(pages).map(|piece| made(piece.len())).collect();
            match made {
                Ok(made) => {
                    let (ids, pieces): (Vec<_>, Vec<_>) = made.into_iter().unzip();
                    pieces
                        .iter()
                        .for_each(|piece: &Attached| arena::prepare(piece.0, pages, nonce));
                    let segment = Segment { ids, nonce, namespace: Segment::own_namespace() };
                    return Ok(Segments { segment, pieces, clock: Clock::tsc() });
                }
                Err(_) if pages > LEAST => pages /= 2,
                Err(error) => return Err(error),
            }
        }
    }

    /// The words of the segments, with the length of a tick.
    fn copied(&self) -> Vec<u64> {
        if let (Some(clock), Some(first)) = (self.clock, self.pieces.first()) {
            arena::set_tick(first.0, clock.nanos_per_tick() * 1e-9);
        }
        arena::copied(&self.pieces.iter().map(|piece| piece.0).collect::<Vec<_>>())
    }
}

/// A new segment: its number, and its words.
fn made(pages: usize) -> io::Result<(i32, Attached)> {
    let bytes = pages * PAGE;
    // SAFETY: makes a segment.
    let id = unsafe { libc::shmget(libc::IPC_PRIVATE, bytes, FLAGS) };
    if id < 0 {
        return Err(io::Error::last_os_error());
    }
    let attach = || {
        // SAFETY: the kernel chooses the place.
        let base = unsafe { libc::shmat(id, ptr::null(), 0) };
        if base.addr() == usize::MAX { Err(io::Error::last_os_error()) } else { Ok(base) }
    };
    let base = attach();
    // SAFETY: it was made above. From here on the kernel removes the segment with the last
    // process that has it.
    unsafe { libc::shmctl(id, libc::IPC_RMID, ptr::null_mut()) };
    // SAFETY: attached, and a core of this process would have all of it.
    let words = unsafe {
        let base = base?;
        libc::madvise(base, bytes, libc::MADV_DONTDUMP);
        Attached(std::slice::from_raw_parts(base.cast::<AtomicU64>(), bytes / 8))
    };
    // Programs attach it after its removal: Linux lets them.
    // SAFETY: the segment was attached just now, and no reference to it exists.
    attach().map(|again| unsafe { libc::shmdt(again) })?;
    Ok((id, words))
}

/// The words of a segment that is attached.
#[derive(Debug)]
pub(super) struct Attached(&'static [AtomicU64]);

impl Attached {
    /// A new segment alone, of `pages` pages with a header.
    pub(super) fn single(pages: usize) -> io::Result<(Segment, Attached)> {
        let (nonce, (id, attached)) = (nonce()?, made(pages)?);
        arena::prepare(attached.0, pages, nonce);
        let namespace = Segment::own_namespace();
        Ok((Segment { ids: vec![id], nonce, namespace }, attached))
    }

    /// All words.
    pub(super) fn words(&self) -> &[AtomicU64] {
        self.0
    }

    /// A segment that [`single`](Self::single) made in another process, if it is still there.
    pub(super) fn known(segment: &Segment, pages: usize) -> Option<Attached> {
        let &[id] = &segment.ids[..] else { return None };
        // SAFETY: the first call fills the structure. The kernel chooses the place of the segment, which has the
        // pages that it says.
        let attached = unsafe {
            let mut about: libc::shmid_ds = std::mem::zeroed();
            if libc::shmctl(id, libc::IPC_STAT, &raw mut about) != 0
                || about.shm_segsz != pages * PAGE
            {
                return None;
            }
            let base = libc::shmat(id, ptr::null(), 0);
            if base.addr() == usize::MAX {
                return None;
            }
            Attached(std::slice::from_raw_parts(base.cast::<AtomicU64>(), pages * PAGE / 8))
        };
        arena::check(attached.0, segment.nonce).is_ok().then_some(attached)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // SAFETY: only this value has the words.
        unsafe { libc::shmdt(self.0.as_ptr().cast()) };
    }
}

fn nonce() -> io::Result<u128> {
    let mut bytes = [0; 16];
    // SAFETY: filled by the call. The kernel does not split such a small read.
    match unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) } {
        16 => Ok(u128::from_ne_bytes(bytes)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The pages of all segments. The kernel allocates pages when they are written. A program
/// with a limit of address space keeps nearly all of it.
fn most() -> usize {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: 0 };
    // SAFETY: filled by the call, or left as it is.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    match limit.rlim_cur {
        libc::RLIM_INFINITY => arena::MOST_PAGES,
        limit => (limit / 16 / PAGE as u64).clamp(LEAST as u64, arena::MOST_PAGES as u64) as usize,
    }
}

/// The fewest pages: a MiB.
const LEAST: usize = 256;

/// Access for this user only. The kernel reserves no memory for pages that are not written.
const FLAGS: libc::c_int = libc::IPC_CREAT | 0o600 | SHM_NORESERVE;
const SHM_NORESERVE: libc::c_int = 0o10000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_have_no_names_and_are_the_user_s() {
        let segments = Segments::new().expect("segments");
        let words: usize = segments.pieces.iter().map(|piece| piece.0.len()).sum();
        assert_eq!(words * 8, most() * PAGE);
        let Segment { ids, nonce, .. } = segments.segment.clone();
        for (id, piece) in ids.iter().zip(&segments.pieces) {
            // SAFETY: filled by the call.
            let about = unsafe {
                let mut about: libc::shmid_ds = std::mem::zeroed();
                assert_eq!(libc::shmctl(*id, libc::IPC_STAT, &raw mut about), 0);
                about
            };
            assert_eq!(about.shm_perm.mode & 0o777, 0o600);
            assert_eq!(about.shm_perm.mode & 0o1000, 0o1000, "it is marked for removal");
            assert_eq!(arena::check(piece.0, nonce), Ok(()));
        }
        drop(segments);
        for id in ids {
            // SAFETY: as above.
            let gone = unsafe { libc::shmctl(id, libc::IPC_STAT, ptr::null_mut()) };
            assert_eq!(gone, -1, "it is gone with the last who had it");
        }
    }

    #[test]
    fn a_directory_serves_as_well() {
        let memory = Memory { segments: None, directory: Directory::drop_box().ok() };
        let mut options = Options::default();
        memory.add_to(&mut options);
        let directory = options.directory.expect("it is wished for");
        assert!(memory.found().recordings.is_empty() && memory.found().wrong.is_empty());
        std::fs::write(directory.join("7-0.regions"), "x").expect("a file");
        let wrong = memory.found().wrong;
        assert!(wrong[0].ends_with("7-0.regions: is not a recording"), "{wrong:?}");
        drop(memory);
        assert!(!directory.exists());
    }
}
