//! Reports: to a descriptor or a file, as a table, CSV or JSON.

use std::ffi::{OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use pacman_core::export::{self, TableStyle};
use pacman_core::report::{Report, ThreadState};

use crate::error::{Failure, Result, Status, answer};
use crate::input;
use crate::output;
use crate::registry::{self, Entry, pacman_session};

/// The formats, by their numbers in the header.
const TABLE: u32 = 0;
const CSV: u32 = 1;
const JSON: u32 = 2;
const LOG_CSV: u32 = 3;

/// Writes a report to a file descriptor.
#[unsafe(no_mangle)]
pub extern "C" fn pacman_report_write(
    session: *const pacman_session,
    format: u32,
    fd: c_int,
) -> c_int {
    answer(|| {
        let entry = registry::find(session.addr(), "write a report")?;
        let text = text(&entry, format, fd)?;
        let name = release(entry);
        output::write_all(fd, &text)
            .map_err(|error| unwritten(&name, &format!("descriptor {fd}"), &error))?;
        Ok(Status::Ok)
    })
}

/// Writes a report to a file, whole or not at all.
///
/// # Safety
/// `path` is null or a string closed by a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pacman_report_save(
    session: *const pacman_session,
    format: u32,
    path: *const c_char,
) -> c_int {
    answer(|| {
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

/// The report as bytes of the wanted format; `fd` is where a table will be read.
fn text(entry: &Entry, format: u32, fd: c_int) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let report = report(entry);
    let made = match format {
        TABLE => {
            let terminal = output::terminal_width(fd);
            let mut style = TableStyle::from_env(terminal.is_some());
            style.width = terminal.filter(|width| *width > 0).unwrap_or(style.width);
            export::table(&report, &style, &mut text)
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

/// The session's report, with the threads that ended while attached named so:
/// the core sees only that this library detached them.
fn report(entry: &Entry) -> Report {
    let mut report = entry.session.report();
    let exited = entry.life.exited.lock();
    for thread in &mut report.threads {
        if thread.state == ThreadState::Detached && exited.contains(&thread.number) {
            thread.state = ThreadState::Exited;
        }
    }
    drop(exited);
    report
}

/// Lets go of the session before a write that may wait for its reader: closing
/// it meanwhile frees its name at once.
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
