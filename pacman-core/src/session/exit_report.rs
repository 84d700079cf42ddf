//! The report that a session leaves behind if the environment asks for one.
//!
//! It is written when the last handle and the last attachment are gone, or when the process
//! exits, whichever comes first. `exec`, `_exit` and a deadly signal leave nothing.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, Weak};

use pacman_events::shown;

use super::shared::{AtEnd, Shared};
use super::snapshot;
use crate::backend::perf;
use crate::fork::Fenced;
use crate::{atomic_write, export};

/// The directory for the reports; without it none is written.
const DIRECTORY: &str = "PACMAN_REPORT_DIR";

/// Events to count in addition to the program's own, if a report is written.
const EVENTS: &str = "PACMAN_REPORT_EVENTS";

/// The destination of one session's report.
struct ExitReport {
    directory: PathBuf,
    /// A fork's child has the parent's sessions, but must not report them.
    generation: u32,
    written: AtomicBool,
}

/// The sessions to report when the process exits.
static OPEN: Fenced<Vec<Weak<Shared>>> = Fenced::new(Vec::new());

impl ExitReport {
    /// The report that the environment asks for now.
    fn requested() -> Option<ExitReport> {
        let directory = PathBuf::from(directory()?);
        let (generation, written) = (perf::generation(), AtomicBool::new(false));
        Some(ExitReport { directory, generation, written })
    }

    /// Writes the report, once.
    fn leave(&self, shared: &Shared) {
        // ATOMICS: of several threads that get here together, one may write. The data that it
        // writes came from other threads, and is read under the session's own protocol.
        if self.generation != perf::generation() || self.written.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Err(error) = self.write(shared) {
            complain(&format!(
                "cannot leave the report of session {:?} in {}: {error}; {DIRECTORY} must name a \
                 directory that can be written to",
                shared.name(),
                shown::shown_path(&self.directory)
            ));
        }
    }

    fn write(&self, shared: &Shared) -> io::Result<()> {
        let name = format!("{}-{}.json", std::process::id(), shared.number());
        let mut report = Vec::new();
        export::json(&snapshot::report(shared), &mut report)?;
        atomic_write::write_in(&self.directory, &name, &report)
    }
}

/// `shared` for its first handle. If the environment asks for a report, the session leaves one when it
/// ends or the process exits.
pub(super) fn reporting(shared: Shared) -> Arc<Shared> {
    let Some(report) = ExitReport::requested() else { return Arc::new(shared) };
    let at_end: AtEnd = Box::new(move |shared| report.leave(shared));
    let shared = Arc::new(shared.ending_with(Some(at_end)));
    enlist(&shared);
    shared
}

fn enlist(shared: &Arc<Shared>) {
    let mut open = OPEN.lock();
    open.retain(|session| session.strong_count() > 0);
    open.push(Arc::downgrade(shared));
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| {
        // SAFETY: the function lives as long as this library. The C library calls it when the
        // process exits or the library is unloaded.
        unsafe { libc::atexit(leave_all) };
    });
}

extern "C" fn leave_all() {
    // Only a thread that is starting a session holds it now, and that session has nothing to
    // report.
    let Some(mut open) = OPEN.try_lock() else { return };
    let left: Vec<Arc<Shared>> = open.drain(..).filter_map(|session| session.upgrade()).collect();
    // The end of a session takes another such lock.
    drop(open);
    left.iter().for_each(|shared| shared.end());
}

/// The events to add to the program's own, if a report is left.
pub(super) fn requested_events() -> Option<String> {
    directory()?;
    std::env::var(EVENTS).ok().filter(|list| !list.trim().is_empty())
}

/// Says that a session counts without the requested events.
pub(super) fn report_uncounted(session: &str, error: &crate::Error) {
    complain(&format!("session {session:?} counts its own events only: {error} ({EVENTS})"));
}

fn directory() -> Option<OsString> {
    // A program with more rights than the user that started it must not write files for that user.
    // SAFETY: takes a number and returns one.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return None;
    }
    std::env::var_os(DIRECTORY).filter(|path| !path.is_empty())
}

/// The user who set the variable has no other way to learn of it.
fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "pacman: {}", shown::line(line));
}
