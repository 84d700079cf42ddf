//! The memory for this process's records, which outlives the process.
//!
//! It is a segment that the command made. A process that cannot attach the segment, as in another IPC namespace
//! or as another user, has a file in a directory of the command, and without the command one in a directory
//! that the user names. Each fact goes
//! there as soon as it is known, so that the end of the process has nothing left to write.
//! [`pacman_regions::arena`] has the format.

mod file;
mod mapped;
mod segment;
mod truncated;

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use pacman_regions::arena::{Kind, Payload, Process, ProcessStart, Slot, Writer};
use pacman_regions::{Options, Segment};

use crate::lock::Lock;

pub(crate) use mapped::program_begins;
use segment::Refusal;

/// The writer of this process; `None` if nothing is recorded.
pub(crate) static WRITER: Lock<Option<Writer>> = Lock::new(None);
static IS_SEGMENT: AtomicBool = AtomicBool::new(false);
/// The record of the process. Signal handlers use it too.
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

/// Maps the memory that the options name. Prints a line for the user if it cannot.
pub(crate) fn open(options: &Options) {
    match writer(options) {
        Ok(writer) => *WRITER.lock() = Some(writer),
        Err(Some(why)) => complain(&why),
        Err(None) => {}
    }
}

/// A writer to the segment, or else to a file in the directory. An error is a line for the user, or nothing if
/// the run is over: a process may outlive the run and start others.
fn writer(options: &Options) -> Result<Writer, Option<String>> {
    let refusal = match options.segment.as_ref().map(segment::attach) {
        Some(Ok(segments)) => {
            IS_SEGMENT.store(true, Ordering::Relaxed);
            return Ok(Writer::new(segments));
        }
        Some(Err(refusal)) => Some(refusal),
        None => None,
    };
    let directory = options.directory.as_ref().ok_or(None);
    let file = directory.and_then(|directory| match refusal {
        Some(Refusal::Absent) if !directory.exists() => Err(None),
        _ => file::create(directory).map_err(Some),
    });
    match (file, refusal) {
        (Ok(file), _) => Ok(Writer::new(file)),
        (Err(why), Some(Refusal::Denied(denied))) => {
            let also = why.map_or_else(String::new, |why| format!("; {why}"));
            Err(Some(format!("cannot attach the memory for recordings: {denied}{also}")))
        }
        (Err(why), _) => Err(why),
    }
}

/// The words behind the header of a single segment, which another process made. Nobody can cut it short.
///
/// # Errors
/// The reason.
pub(crate) fn attach_whole(segment: &Segment) -> Result<&'static [AtomicU64], String> {
    segment::attach_whole(segment).map_err(|refusal| match refusal {
        Refusal::Absent => "its memory is gone, or in another IPC namespace".to_owned(),
        Refusal::Denied(why) => format!("cannot attach its memory: {why}"),
    })
}

/// Whether the process records in the command's segment.
pub(crate) fn is_segment() -> bool {
    IS_SEGMENT.load(Ordering::Relaxed)
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

/// The process has no record: a child of one that filters its system calls.
pub(crate) fn forget() {
    PROCESS.store(std::ptr::null_mut(), Ordering::Release);
}

/// Maps memory for many more records than most processes have, because the process will filter its system
/// calls.
pub(crate) fn map_ahead() {
    with(Writer::map_ahead);
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
