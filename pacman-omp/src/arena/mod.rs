//! Where this process records: memory that is still there when the process is not.
//!
//! The command has made it, as a segment, or it is a file in a directory that the user names.
//! Everything that is recorded goes there when it becomes known, so that nothing is left to do when the
//! process ends. [`pacman_regions::arena`] has the format.

mod file;
mod mapped;
mod segment;

use std::sync::atomic::{AtomicPtr, Ordering};

use pacman_core::fork::Lock;
use pacman_regions::Options;
use pacman_regions::arena::{Kind, Payload, Process, ProcessStart, Slot, Writer};

/// What this process writes; `None` where nothing is recorded.
pub(crate) static WRITER: Lock<Option<Writer>> = Lock::new(None);
/// The record of the process, for signal handlers, too.
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

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

/// The process starts, or has just been forked.
pub(crate) fn begin(start: &ProcessStart) {
    let record = WRITER.lock().as_mut().and_then(|writer| writer.begin(start));
    let record =
        record.map_or(std::ptr::null_mut(), |record| std::ptr::from_ref(record).cast_mut());
    PROCESS.store(record, Ordering::Release);
}

/// The process ends now, or becomes another program, `ticks` after it began.
pub(crate) fn end(becomes_another: bool, ticks: u64) {
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
