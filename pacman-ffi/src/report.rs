//! Reports to a descriptor or a file, as a table, CSV or JSON.

use std::ffi::{OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pacman_core::export::{self, Environment, TableStyle};
use pacman_core::report::ThreadReport;

use crate::error::{Failure, Result, Status, answer_isolated};
use crate::input::{self, Sized32};
use crate::output;
use crate::phase::PhaseHandle;
use crate::registry::{self, Entry, pacman_session};

/// The formats, by their numbers in the header.
pub(crate) const TABLE: u32 = 0;
pub(crate) const CSV: u32 = 1;
pub(crate) const JSON: u32 = 2;
const LOG_CSV: u32 = 3;

/// Writes a report to a file descriptor.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pacman_report_write(
    session: *const pacman_session,
    format: u32,
    fd: c_int,
) -> c_int {
    answer_isolated(|| {
        let entry = registry::find(session.addr(), "write a report")?;
        let text = text(&entry, format, fd)?;
        let name = release(entry);
        output::write_all(fd, &text)
            .map_err(|error| unwritten(&name, &format!("descriptor {fd}"), &error))?;
        Ok(Status::Ok)
    })
}

/// Writes a report to a file. After a failure an existing file is unchanged.
///
/// # Safety
/// `path` is null or a string closed by a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_report_save(
    session: *const pacman_session,
    format: u32,
    path: *const c_char,
) -> c_int {
    answer_isolated(|| {
        // SAFETY: the caller's promise; the path is not kept.
        let path = unsafe { input::bytes(path, "this as a path") }?;
        let path = Path::new(OsStr::from_bytes(path));
        let entry = registry::find(session.addr(), "save a report")?;
        let text = text(&entry, format, -1)?;
        let name = release(entry);
        output::save(path, &text)
            .map_err(|error| unwritten(&name, &format!("{path:?}"), &error))?;
        Ok(Status::Ok)
    })
}

/// The count of an event in a phase on a thread; `pacman_count` in C.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Count {
    /// The size of the caller's struct, in bytes.
    pub size: u32,
    /// 1 if `value` is an estimate.
    pub estimated: u32,
    /// The best value for the sum over all executions.
    pub value: u64,
    /// Finished executions of the phase on the thread.
    pub executions: u64,
    /// Executions that counted the event.
    pub samples: u64,
    /// The raw sum over the samples.
    pub sum: u64,
    /// The least count of a sample.
    pub min: u64,
    /// The greatest count of a sample.
    pub max: u64,
    /// Executions with an impossible value, which no other field contains.
    pub implausible: u64,
    /// 1 if all counts of the event may be wrong.
    pub doubtful: u64,
}

// SAFETY: the fields are integers, in an order that needs no padding.
unsafe impl Sized32 for Count {
    const NAME: &'static str = "a pacman_count";
    const LEAST: usize = std::mem::offset_of!(Count, executions);
}

/// Reads the count of one event in one phase on one thread.
///
/// # Safety
/// `count` is null or points to a writable struct of the length in its `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_count_read(
    session: *const pacman_session,
    thread: usize,
    phase: PhaseHandle,
    event: usize,
    count: *mut Count,
) -> c_int {
    answer_isolated(|| {
        input::present(count, "a count")?;
        let entry = registry::find(session.addr(), "read a count")?;
        let known = entry.session.phase_from_bits(phase.id).is_some();
        if !known || event >= entry.session.events().len() {
            return Err(Failure::new(
                if known { Status::Invalid } else { Status::Handle },
                format!(
                    "cannot read event {event} of phase {:#x}: session {:?} has no such {}",
                    phase.id,
                    entry.session.name(),
                    if known { "event" } else { "phase" }
                ),
            ));
        }
        let report = entry.session.report();
        let own = |row: &&ThreadReport| row.number == thread && row.threads == 1;
        let Some(of_thread) = report.threads.iter().find(own) else {
            let why = match thread < entry.life.threads.load(Ordering::Relaxed) {
                true => "it has ended, and its counts are in the sum of ended threads only",
                false => "none of that number has attached",
            };
            let line = format!("cannot read a count of thread {thread}: {why}");
            return Err(Failure::new(Status::NoThread, line));
        };
        // The lower half of a phase's word is its number.
        let row = of_thread.phases.iter().find(|row| row.phase == phase.id as u32 as usize);
        let found = row.filter(|row| row.executions > 0).map(|row| (row, &row.counts[event]));
        let Some((row, found, value)) = found.and_then(|(row, it)| Some((row, it, it.value()?)))
        else {
            return Err(Failure::new(
                Status::NoSample,
                format!(
                    "cannot read {} of thread {thread}: no execution of the phase has counted it \
                     yet",
                    report.events[event].name
                ),
            ));
        };
        let value = Count {
            size: 0,
            estimated: found.scaled.is_some().into(),
            value,
            executions: row.executions,
            samples: found.samples,
            sum: found.raw.sum,
            min: found.raw.min,
            max: found.raw.max,
            implausible: row.implausible.as_ref().map_or(0, |aside| aside.executions),
            doubtful: report.events[event].doubt.is_some().into(),
        };
        // SAFETY: the caller's promise.
        unsafe { input::fill_sized(count, &value) }?;
        Ok(Status::Ok)
    })
}

/// The report as bytes in `format`. A table fits the terminal behind `fd`, if there is one.
pub(crate) fn text(entry: &Entry, format: u32, fd: c_int) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let report = entry.session.report();
    let made = match format {
        TABLE => {
            let terminal = output::terminal_width(fd);
            let mut environment = Environment::read(terminal.is_some());
            environment.columns = environment.columns.or(terminal.filter(|width| *width > 0));
            export::table(&report, &TableStyle::from(&environment), &mut text)
        }
        CSV => export::csv(&report, &mut text),
        LOG_CSV => export::csv_log(&report, &mut text),
        JSON => export::json(&report, &mut text),
        other => {
            return Err(Failure::new(
                Status::Invalid,
                format!(
                    "cannot write a report in format {other}: there is no such format; use \
                     PACMAN_FORMAT_TABLE, PACMAN_FORMAT_CSV, PACMAN_FORMAT_JSON or \
                     PACMAN_FORMAT_LOG_CSV"
                ),
            ));
        }
    };
    made.expect("memory takes all that is written");
    Ok(text)
}

/// Drops the session and returns its name. A write may wait for its reader. If the program closes the
/// session meanwhile, the name must be free at once.
fn release(entry: Arc<Entry>) -> String {
    entry.session.name().to_string()
}

#[cold]
fn unwritten(session: &str, to: &str, error: &std::io::Error) -> Failure {
    Failure::new(
        Status::Output,
        format!("cannot write the report of session {session:?} to {to}: {error}"),
    )
}
