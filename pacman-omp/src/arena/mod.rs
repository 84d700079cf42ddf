//! The memory for this process's records, which outlives the process.
//!
//! It is a segment that the command made, or a file in a directory that the user names. Each fact goes
//! there as soon as it is known, so that the end of the process has nothing left to write.
//! [`pacman_regions::arena`] has the format.

mod file;
mod mapped;
mod segment;

use std::sync::atomic::{AtomicPtr, Ordering};

use pacman_core::fork::Lock;
use pacman_regions::Options;
use pacman_regions::arena::{Kind, Payload, Process, ProcessStart, Slot, Writer};

/// The writer of this process; `None` if nothing is recorded.
pub(crate) static WRITER: Lock<Option<Writer>> = Lock::new(None);
/// The record of the process. Signal handlers use it too.
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

/// Maps the memory that the options name. Prints a line for the user if it cannot.
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

/// Tells the user on standard error, because no recording can.
fn complain(why: &str) {
    let line = format!("libpacman_omp.so: {why}; nothing of this process is recorded\n");
    // SAFETY: the bytes are readable. A failed write is ignored: there is no other place for the line.
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
    with_process(|process| process.ends(becomes_another, ticks));
}

/// Several threads start regions that are inside no other.
pub(crate) fn has_several_roots() {
    with_process(Process::has_several_roots);
}

/// The thread of that number starts the first region that is inside no other.
pub(crate) fn has_root(thread: u32) {
    with_process(|process| process.has_root(thread));
}

/// Sets the nanoseconds that the process's threads ran, and that they waited for a processor.
pub(crate) fn scheduled(ran: u64, delayed: u64) {
    with_process(|process| process.scheduled(ran, delayed));
}

fn with_process(act: impl FnOnce(&Process)) {
    // SAFETY: null, or a record, which is never freed.
    if let Some(process) = unsafe { PROCESS.load(Ordering::Acquire).as_ref() } {
        act(process);
    }
}

/// Appends a record, if the process records.
pub(crate) fn append(kind: Kind, payload: impl FnOnce() -> Payload) {
    with(|writer| writer.append(kind, &payload()));
}

/// Replaces the text about a region.
pub(crate) fn replace(slot: &mut Option<Slot>, region: u32, text: &[u8]) {
    with(|writer| writer.replace(slot, region, text));
}

/// Calls `write` with the writer, if the process records.
pub(crate) fn with<T>(write: impl FnOnce(&mut Writer) -> T) -> Option<T> {
    let mut writer = WRITER.lock();
    let writer = writer.as_mut().filter(|writer| writer.process().is_some())?;
    Some(write(writer))
}
