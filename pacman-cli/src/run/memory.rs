//! The memory in which the processes of one run record.
//!
//! It is a System V segment without a name, which is marked for removal when it is attached. So the
//! kernel frees it with the last process that has it, even if that process is killed. It needs no file,
//! descriptor or directory. If the system refuses a segment, a directory in memory replaces it.

use std::path::Path;
use std::ptr;
use std::sync::atomic::AtomicU64;

use pacman_core::clock::Clock;
use pacman_events::shown::shown_path;

use pacman_regions::arena::{self, Key, PAGE};
use pacman_regions::{Options, Recording, Segment};

use super::directory::Directory;
use crate::error::CliResult;

/// Memory of one run. The system frees it when this value and the processes that have it are gone.
#[derive(Debug)]
pub(crate) enum Memory {
    Segment(Attached),
    Directory(Directory),
}

/// A segment that is attached.
#[derive(Debug)]
pub(crate) struct Attached {
    segment: Segment,
    words: &'static [AtomicU64],
    /// Measures the rate of the TSC while the program runs, so that no process needs to.
    clock: Option<Clock>,
}

/// The recordings that a run left, and the problems with reading them.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// By process, in the order in which they began.
    pub(crate) recordings: Vec<Recording>,
    /// Lines about content that is not a recording.
    pub(crate) wrong: Vec<String>,
}

impl Memory {
    /// Makes the memory. An error has the system's message.
    pub(crate) fn new() -> CliResult<Memory> {
        match Attached::new() {
            Ok(attached) => Ok(Memory::Segment(attached)),
            Err(_) => Directory::in_memory().map(Memory::Directory),
        }
    }

    /// Sets the options that make the library record to it.
    pub(crate) fn add_to(&self, options: &mut Options) {
        match self {
            Memory::Segment(attached) => options.segment = Some(attached.segment),
            Memory::Directory(directory) => options.directory = Some(directory.path().to_owned()),
        }
    }

    /// The recordings that are there now. Processes may go on writing.
    pub(crate) fn found(&self) -> Found {
        match self {
            Memory::Segment(attached) => match arena::read_words(&attached.copied()) {
                Ok(recordings) => Found { recordings, wrong: Vec::new() },
                Err(why) => Found { recordings: Vec::new(), wrong: vec![format!("it {why}")] },
            },
            Memory::Directory(directory) => found_in(directory.path()),
        }
    }
}

/// The recordings of a directory.
pub(crate) fn found_in(directory: &Path) -> Found {
    match Recording::found_in(directory) {
        Ok((mut recordings, wrong)) => {
            recordings.sort_by(|one, other| one.process.began.total_cmp(&other.process.began));
            Found { recordings, wrong }
        }
        Err(error) => {
            Found { wrong: vec![format!("{}: {error}", shown_path(directory))], ..Found::default() }
        }
    }
}

impl Attached {
    fn new() -> Result<Attached, std::io::Error> {
        let nonce = nonce()?;
        let mut bytes = most();
        let id = loop {
            // SAFETY: makes a segment.
            let id = unsafe { libc::shmget(libc::IPC_PRIVATE, bytes, FLAGS) };
            match id {
                0.. => break id,
                _ if bytes > LEAST => bytes /= 2,
                _ => return Err(std::io::Error::last_os_error()),
            }
        };
        let attach = || {
            // SAFETY: the kernel chooses the place.
            let base = unsafe { libc::shmat(id, ptr::null(), 0) };
            if base.addr() == usize::MAX { Err(std::io::Error::last_os_error()) } else { Ok(base) }
        };
        let base = attach();
        // SAFETY: it was made above. From here on the kernel removes the segment with the last
        // process that has it.
        unsafe { libc::shmctl(id, libc::IPC_RMID, ptr::null_mut()) };
        let base = base?;
        // Programs attach it after that: Linux lets them.
        // SAFETY: the segment was attached just now, and no reference to it exists.
        attach().map(|again| unsafe { libc::shmdt(again) })?;
        // SAFETY: as above; a core of this process would have all of it.
        let words = unsafe {
            libc::madvise(base, bytes, libc::MADV_DONTDUMP);
            std::slice::from_raw_parts(base.cast::<AtomicU64>(), bytes / 8)
        };
        // SAFETY: takes nothing.
        arena::prepare(words, &Key { nonce, uid: unsafe { libc::geteuid() } });
        Ok(Attached { segment: Segment { id, nonce }, words, clock: Clock::tsc() })
    }

    /// The words of the segment, with the length of a tick.
    fn copied(&self) -> Vec<u64> {
        if let Some(clock) = self.clock {
            arena::set_tick(self.words, clock.nanos_per_tick() * 1e-9);
        }
        arena::copied(self.words)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // SAFETY: only this value has the words.
        unsafe { libc::shmdt(self.words.as_ptr().cast()) };
    }
}

fn nonce() -> Result<u128, std::io::Error> {
    let mut bytes = [0; 16];
    // SAFETY: filled by the call. The kernel does not split such a small read.
    match unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) } {
        16 => Ok(u128::from_ne_bytes(bytes)),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Bytes of address space for recordings. The kernel allocates pages when they are written. A program
/// with a limit of address space keeps nearly all of it.
fn most() -> usize {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: 0 };
    // SAFETY: filled by the call, or left as it is.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    match limit.rlim_cur {
        libc::RLIM_INFINITY => MOST,
        limit => (limit / 16 / PAGE as u64 * PAGE as u64).clamp(LEAST as u64, MOST as u64) as usize,
    }
}

/// Bytes. 8,192 regions on 256 threads need less.
const MOST: usize = 1 << 30;
const LEAST: usize = 1 << 20;

/// Access for this user only. The kernel reserves no memory for pages that are not written.
const FLAGS: libc::c_int = libc::IPC_CREAT | 0o600 | SHM_NORESERVE;
const SHM_NORESERVE: libc::c_int = 0o10000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_no_name_and_is_the_user_s() {
        let attached = Attached::new().expect("a segment");
        assert_eq!(attached.words.len() * 8, most());
        let Segment { id, nonce } = attached.segment;
        // SAFETY: filled by the call.
        let about = unsafe {
            let mut about: libc::shmid_ds = std::mem::zeroed();
            assert_eq!(libc::shmctl(id, libc::IPC_STAT, &raw mut about), 0);
            about
        };
        assert_eq!(about.shm_perm.mode & 0o777, 0o600);
        assert_eq!(about.shm_perm.mode & 0o1000, 0o1000, "it is marked for removal");
        // SAFETY: takes nothing.
        let key = Key { nonce, uid: unsafe { libc::geteuid() } };
        assert_eq!(arena::check(attached.words, &key), Ok(()));
        drop(attached);
        // SAFETY: as above.
        let gone = unsafe { libc::shmctl(id, libc::IPC_STAT, ptr::null_mut()) };
        assert_eq!(gone, -1, "it is gone with the last who had it");
    }

    #[test]
    fn a_directory_serves_as_well() {
        let memory = Memory::Directory(Directory::in_memory().expect("a directory"));
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
