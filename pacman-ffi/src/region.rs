//! Regions by name: a session of the process, opened when the first one begins.

use std::env;
use std::ffi::{CStr, OsString, c_char, c_int};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use pacman_core::fork::Fenced;
use pacman_core::{cancel, floating};
use pacman_counters::Counters;

use crate::error::{Result, Status, answer};
use crate::input;
use crate::kept;
use crate::machine;
use crate::output;
use crate::registry;
use crate::report::{self, CSV, JSON, TABLE};
use crate::thread;

/// The file of the report.
const REPORT: &str = "PACMAN_REPORT";
/// The events; without it, what the machine can count.
const EVENTS: &str = "PACMAN_EVENTS";
/// The directory for the reports of all sessions; see `pacman_core::session`.
const DIRECTORY: &str = "PACMAN_REPORT_DIR";

/// The values of [`OPENED`] that are not handles.
const UNKNOWN: usize = 0;
const OFF: usize = 2;

/// The handle of the process's session, or one of the values above. It never changes back.
static OPENED: AtomicUsize = AtomicUsize::new(UNKNOWN);

/// Begins the region of that name on the calling thread.
///
/// # Safety
/// `name` is a string closed by a zero. `site` is null, or points to a word that is 0 before the first call
/// and that only these functions use, for this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pacman_region_begin(name: *const c_char, site: *mut u64) -> c_int {
    answer(|| {
        let handle = OPENED.load(Ordering::Acquire);
        if handle == OFF {
            return Ok(Status::Ok);
        }
        // SAFETY: the caller's promise about the site.
        let site = unsafe { site.cast::<AtomicU64>().as_ref() };
        let phase = site.map_or(0, |site| site.load(Ordering::Relaxed));
        if phase != 0 && handle != UNKNOWN && kept::is_attached(handle) {
            return kept::with(handle, "begin a region", |kept| {
                kept.attached.begin(kept.phase(phase)?)?;
                Ok(Status::Ok)
            });
        }
        // SAFETY: the caller's promise about the name.
        prepared(|| unsafe { begin_first(name, site) })
    })
}

/// Ends the region of that name, which the calling thread began last.
///
/// # Safety
/// As for [`pacman_region_begin`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pacman_region_end(name: *const c_char, site: *mut u64) -> c_int {
    answer(|| {
        let handle = OPENED.load(Ordering::Acquire);
        if handle == OFF {
            return Ok(Status::Ok);
        }
        // SAFETY: the caller's promise about the site.
        let site = unsafe { site.cast::<AtomicU64>().as_ref() };
        let phase = match site.map_or(0, |site| site.load(Ordering::Relaxed)) {
            // SAFETY: the caller's promise about the name.
            0 => prepared(|| unsafe { define(handle, name, site) })?,
            phase => phase,
        };
        kept::with(handle, "end a region", |kept| {
            kept.attached.end(kept.phase(phase)?)?;
            Ok(Status::Ok)
        })
    })
}

/// Runs what makes system calls: a thread cannot be cancelled in them, and the program's floating-point
/// state stays its own.
#[cold]
fn prepared<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    cancel::put_off_during(|| floating::isolated(work))
}

/// Begins a region for the first time at a site or on a thread.
///
/// # Safety
/// As for [`define`].
unsafe fn begin_first(name: *const c_char, site: Option<&AtomicU64>) -> Result<Status> {
    let handle = opened();
    if handle == OFF {
        return Ok(Status::Ok);
    }
    thread::attach(handle)?;
    // SAFETY: the caller's promise.
    let phase = unsafe { define(handle, name, site) }?;
    kept::with(handle, "begin a region", |kept| {
        kept.attached.begin(kept.phase(phase)?)?;
        Ok(Status::Ok)
    })
}

/// The word of the phase of that name, which its site keeps.
///
/// # Safety
/// `name` is null or a string closed by a zero.
unsafe fn define(handle: usize, name: *const c_char, site: Option<&AtomicU64>) -> Result<u64> {
    // SAFETY: the caller's promise; the text is not kept.
    let name = unsafe { input::text(name, "this as the name of a region") }?;
    let phase = registry::find(handle, "define a region")?.session.phase(name)?.to_bits();
    if let Some(site) = site {
        // Every thread stores the same word.
        site.store(phase, Ordering::Relaxed);
    }
    Ok(phase)
}

/// The handle of the process's session, which the first call opens if its figures are requested.
fn opened() -> usize {
    static OPENING: Fenced<()> = Fenced::new(());
    let _one = OPENING.lock();
    match OPENED.load(Ordering::Acquire) {
        UNKNOWN => {
            let handle = open();
            OPENED.store(handle, Ordering::Release);
            handle
        }
        known => known,
    }
}

fn open() -> usize {
    let destination = destination();
    let is_observed = is_observed();
    if destination.is_none() && !is_observed && wanted(DIRECTORY).is_none() {
        return OFF;
    }
    let events = wanted(EVENTS).map(|events| events.to_string_lossy().into_owned());
    let counters = machine::choose().and_then(|()| match (&events, &destination) {
        (Some(events), _) => Counters::start(events),
        // The preloaded library counts; this is for the time.
        (None, None) if is_observed => Counters::start("task-clock"),
        (None, _) => Counters::default_events(),
    });
    let counters = match counters {
        Ok(counters) => counters,
        Err(error) => {
            complain(&format!("regions are not counted: {error}"));
            return OFF;
        }
    };
    counters.report().notes.iter().for_each(|note| complain(note));
    let handle = registry::insert(counters.session().clone(), machine::topology());
    if let Some(path) = destination {
        let report = AtExit { path, handle, process: std::process::id() };
        if LEFT.set(report).is_ok() {
            // SAFETY: the function lives as long as this library. The C library calls it when the process
            // exits or the library is unloaded.
            unsafe { libc::atexit(leave) };
        }
    }
    handle
}

/// The report that the process leaves.
struct AtExit {
    path: PathBuf,
    handle: usize,
    /// A fork's child has its parent's session, and no report to write.
    process: u32,
}

static LEFT: OnceLock<AtExit> = OnceLock::new();

extern "C" fn leave() {
    let Some(AtExit { path, handle, process }) = LEFT.get() else { return };
    if *process != std::process::id() {
        return;
    }
    let Ok(entry) = registry::find(*handle, "leave a report") else { return };
    let written = match path.to_str() {
        Some("-") => report::text(&entry, TABLE, libc::STDERR_FILENO)
            .map(|text| output::write_all(libc::STDERR_FILENO, &text)),
        _ => report::text(&entry, format_of(path), -1).map(|text| output::save(path, &text)),
    };
    if let Ok(Err(error)) = written {
        complain(&format!("cannot write the report of the regions to {path:?}: {error}"));
    }
}

fn format_of(path: &Path) -> u32 {
    match path.extension().and_then(|end| end.to_str()) {
        Some("json") => JSON,
        Some("csv") => CSV,
        _ => TABLE,
    }
}

fn destination() -> Option<PathBuf> {
    wanted(REPORT).map(PathBuf::from)
}

/// A variable of the environment. A program with more rights than the user that started it must not write
/// files for that user.
fn wanted(name: &str) -> Option<OsString> {
    // SAFETY: takes a number and returns one.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return None;
    }
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Whether `pacman-pmu run` observes this process.
fn is_observed() -> bool {
    const FUNCTION: &CStr = c"pacman_omp_phase";
    // SAFETY: a C string. A missing symbol is a null pointer.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, FUNCTION.as_ptr()) }.is_null()
}

/// The user who set the variable has no other way to learn of it.
fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "pacman: {line}");
}
