//! Where this process records: memory that is still there when the process is not.
//!
//! The command has made it, as a segment, or it is a file in a directory that the user names.
//! Everything that is recorded goes there when it becomes known, so that nothing is left to do when the
//! process ends. [`pacman_regions::arena`] has the format.

mod file;
mod segment;

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use pacman_core::fork::Lock;
use pacman_regions::Options;
use pacman_regions::arena::{Kind, PAGE, Payload, Process, ProcessStart, Slot, Writer};

use crate::process;

/// What this process writes; `None` where nothing is recorded.
pub(crate) static WRITER: Lock<Option<Writer>> = Lock::new(None);
/// The record of the process, for signal handlers, too.
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

/// Memory that others may have mapped as well, and where it is not used yet, without access: a
/// program that locks or dumps its memory has no more of it than it needs.
struct Mapped {
    words: &'static [AtomicU64],
    grow: fn(usize, usize) -> bool,
}

/// Maps what is wished for; a line for the user if that cannot be.
pub(crate) fn open(options: &Options) {
    let mapped = match (&options.segment, &options.directory) {
        (Some(segment), _) => segment::attach(segment),
        (None, Some(directory)) => file::create(directory).map_err(Some),
        (None, None) => Err(None),
    };
    match mapped {
        Ok(mapped) => *WRITER.lock() = Some(Writer::new(mapped.words, mapped.grow)),
        Err(Some(why)) => complain(&why),
        Err(None) => {}
    }
}

/// Nothing that is recorded could say so.
fn complain(why: &str) {
    let line = format!("libpacman_omp.so: {why}; nothing of this process is recorded\n");
    // SAFETY: the bytes are there. What cannot be written is left unsaid.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}

/// This process begins, by being started or forked; false if it does not record.
pub(crate) fn begin() -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let beginning = ProcessStart {
        numbers: (std::process::id(), std::os::unix::process::parent_id()),
        began: u64::try_from(now.as_nanos()).unwrap_or(u64::MAX),
        seconds_per_tick: process::clock().nanos_per_tick() * 1e-9,
        adapted: process::options().adapt.is_some(),
    };
    let record = WRITER.lock().as_mut().and_then(|writer| writer.begin(&beginning));
    let record =
        record.map_or(std::ptr::null_mut(), |record| std::ptr::from_ref(record).cast_mut());
    PROCESS.store(record, Ordering::Release);
    !record.is_null()
}

/// The process ends now, or becomes another program: `ticks` after it began.
pub(crate) fn ends(becomes_another: bool, ticks: u64) {
    // SAFETY: null, or a record, which stays.
    if let Some(process) = unsafe { PROCESS.load(Ordering::Acquire).as_ref() } {
        process.ends(becomes_another, ticks);
    }
}

/// Appends a record, if anything is recorded.
pub(crate) fn append(kind: Kind, payload: impl FnOnce() -> Payload) {
    with(|writer| writer.append(kind, &payload()));
}

/// Replaces what is said of a region.
pub(crate) fn replace(slot: &mut Option<Slot>, region: u32, text: &[u8]) {
    with(|writer| writer.replace(slot, region, text));
}

/// The writer of a process that records.
pub(crate) fn with<T>(write: impl FnOnce(&mut Writer) -> T) -> Option<T> {
    let mut writer = WRITER.lock();
    let writer = writer.as_mut().filter(|writer| writer.process().is_some())?;
    Some(write(writer))
}

/// Bytes of address space to map: a program with a limit keeps nearly all of what it may have.
fn room() -> usize {
    const MOST: usize = 1 << 30;
    match limit(libc::RLIMIT_AS) {
        libc::RLIM_INFINITY => MOST,
        limit => MOST.min((limit / 16) as usize).next_multiple_of(PAGE),
    }
}

fn limit(of: libc::__rlimit_resource_t) -> libc::rlim_t {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: 0 };
    // SAFETY: filled by the call, or left as it is.
    unsafe { libc::getrlimit(of, &raw mut limit) };
    limit.rlim_cur
}

/// The words of a mapping of so many bytes, which stays.
///
/// # Safety
/// There must be one, from a page's beginning on; nobody reads or writes what has no access.
unsafe fn words(base: *mut libc::c_void, bytes: usize) -> &'static [AtomicU64] {
    // SAFETY: as the caller says.
    unsafe { std::slice::from_raw_parts(base.cast(), bytes / 8) }
}

/// Gives access to so many pages from `page` on, of words that begin at `base`.
fn allow(base: *const AtomicU64, page: usize, pages: usize) -> bool {
    let from = base.cast::<u8>().wrapping_add(page * PAGE).cast_mut();
    // SAFETY: pages of the mapping, which nobody has but this process.
    unsafe { libc::mprotect(from.cast(), pages * PAGE, libc::PROT_READ | libc::PROT_WRITE) == 0 }
}

fn last_error() -> std::io::Error {
    std::io::Error::last_os_error()
}
