//! Counters of all threads that run phases.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use pacman_core::export::{TableStyle, table};
use pacman_core::session::{EventSetRotation, SessionBuilder};
use pacman_core::{ErrorKind, Phase, Placement, Result, Session, Topology};

use crate::known;
use crate::report::Report;

/// The events of [`Counters::default_events`] where the machine has counters.
const HARDWARE: &str = "CYCLES,INSTRUCTIONS,CACHE_MISSES,BRANCH_MISSES,task-clock";
/// Its events elsewhere.
const SOFTWARE: &str = "task-clock,page-faults,context-switches,cpu-migrations";

/// Counters of a set of events, in every thread that counts a phase.
///
/// Threads attach at their first phase and detach when they end. [`report`](Self::report) and
/// [`Display`](fmt::Display) show all threads, also while they run. If `PACMAN_REPORT_DIR` names a
/// directory, the report is written there when the counters are dropped, as JSON.
///
/// ```
/// use pacman_counters::Counters;
///
/// let pmu = Counters::start("task-clock,page-faults")?;
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| pmu.count("fill", || vec![1u8; 1 << 20]));
///     }
/// });
/// let faults = pmu.report().get("fill", "page-faults")?;
/// assert_eq!((faults.threads().count(), faults.executions()), (2, 2));
/// # Ok::<(), pacman_counters::Error>(())
/// ```
#[derive(Debug)]
pub struct Counters {
    session: Session,
    /// Stands for these counters in the threads' memory of phases.
    token: Arc<()>,
    /// The facts that a reader of these figures must know, a line each.
    notes: Mutex<Vec<String>>,
}

impl Counters {
    /// Counts the events of a comma-separated list, such as `CYCLES,INSTRUCTIONS`.
    ///
    /// Events that do not fit on the counters at once take turns: each execution of a phase counts one
    /// set of them, and the report estimates the rest and says so.
    ///
    /// # Errors
    /// `UnknownEvent`, `OtherModel`, `NoPmu`, `Permission`, `Unsupported`: the line says why an event
    /// cannot be counted here. Errors of single threads are notes of the report.
    pub fn start(events: &str) -> Result<Counters> {
        Counters::of(&name(), events, None)
    }

    /// As [`start`](Self::start), and binds each thread that counts to a hardware context of its own.
    ///
    /// # Errors
    /// As there; those of reading the topology. More threads than places are notes of the report.
    ///
    /// ```
    /// use pacman_counters::{Counters, Placement};
    ///
    /// let pmu = Counters::start_bound("task-clock", Placement::Compact)?;
    /// pmu.count("work", || std::hint::black_box(6 * 7));
    /// assert!(pmu.report().threads[0].place.is_some_and(|place| place.bound));
    /// # Ok::<(), pacman_counters::Error>(())
    /// ```
    pub fn start_bound(events: &str, placement: Placement) -> Result<Counters> {
        Counters::of(&name(), events, Some((Topology::detect()?, placement)))
    }

    /// Counts cycles, instructions, cache misses and branch misses where the machine has counters, and
    /// the kernel's events elsewhere. The report then says why.
    ///
    /// # Errors
    /// Those of [`start`](Self::start) for the kernel's events.
    pub fn default_events() -> Result<Counters> {
        let missing = [ErrorKind::NoPmu, ErrorKind::Permission, ErrorKind::Unsupported];
        let name = name();
        Counters::of(&name, HARDWARE, None).or_else(|error| {
            if !missing.contains(&error.kind()) {
                return Err(error);
            }
            let counters = Counters::of(&name, SOFTWARE, None)?;
            counters.note(format!("the kernel's events only: {error}"));
            Ok(counters)
        })
    }

    fn of(name: &str, events: &str, places: Option<(Topology, Placement)>) -> Result<Counters> {
        let describe = || -> SessionBuilder {
            let session = Session::builder(name).events(events);
            match &places {
                Some((topology, placement)) => {
                    session.placement(topology.clone(), placement.clone())
                }
                None => session,
            }
        };
        let session = describe().start().or_else(|error| match error.kind() {
            ErrorKind::Conflict | ErrorKind::TooManyEvents => describe()
                .keep_figures_together()
                .rotate_event_sets(EventSetRotation::PerExecution)
                .start()
                // A single event that never fits is the reason to tell.
                .map_err(|_| error),
            _ => Err(error),
        });
        session.map(Counters::from)
    }

    /// Runs `work` as one execution of a phase in the calling thread, and returns its result.
    ///
    /// The first call in a thread attaches it: it opens the thread's counters. Phases nest and may be
    /// entered again; the time and counts of an inner phase are in the outer one, too. If `work` panics, its
    /// execution is counted and marked. If the thread cannot count, `work` runs all the same, and the
    /// report has a note.
    pub fn count<R>(&self, phase: &str, work: impl FnOnce() -> R) -> R {
        let known = known::phase(&self.token, phase).or_else(|| self.prepare(phase));
        let Some(known) = known else { return work() };
        // The guard cannot be made inside the closure that finds the attachment: a nested phase looks it up
        // again.
        if let Err(error) = self.session.begin(known) {
            self.note(format!("an execution of {phase:?} was not counted: {error}"));
            return work();
        }
        let ends = Ends { counters: self, phase: known, name: phase };
        let value = work();
        drop(ends);
        value
    }

    /// All threads and phases until now. It disturbs no thread.
    pub fn report(&self) -> Report {
        let mut report = self.session.report();
        report.notes.splice(0..0, self.notes().iter().cloned());
        Report::new(report)
    }

    /// The session below, for programs that need more: see [`pacman_core::Session`].
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Attaches the thread, where that is to be done, and looks up the phase. Notes what fails.
    #[cold]
    fn prepare(&self, name: &str) -> Option<Phase> {
        let attached = self.session.attach_current_thread().or_else(|error| match error.kind() {
            ErrorKind::AlreadyAttached => Ok(()),
            _ => Err(error),
        });
        match attached.and_then(|()| self.session.phase(name)) {
            Ok(phase) => {
                known::remember(&self.token, name, phase);
                Some(phase)
            }
            Err(error) => {
                self.note(format!("a thread did not count {name:?}: {error}"));
                None
            }
        }
    }

    /// Adds a line to the report, once.
    fn note(&self, line: String) {
        let mut notes = self.notes();
        if !notes.contains(&line) {
            notes.push(line);
        }
    }

    fn notes(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts by name in a session that the program describes itself.
impl From<Session> for Counters {
    fn from(session: Session) -> Counters {
        Counters { session, token: Arc::new(()), notes: Mutex::default() }
    }
}

impl Drop for Counters {
    /// Detaches the calling thread. Others detach when they end.
    fn drop(&mut self) {
        // NotAttached where this thread ran no phase.
        let _ = self.session.detach_current_thread();
    }
}

/// The table for people, 100 columns wide: see [`pacman_core::export::table`].
impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report().fmt(f)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        table(self, &TableStyle::default(), &mut text).map_err(|_| fmt::Error)?;
        f.write_str(String::from_utf8_lossy(&text).trim_end())
    }
}

/// Ends an execution, also if its work panics.
struct Ends<'a> {
    counters: &'a Counters,
    phase: Phase,
    name: &'a str,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.counters.session.end(self.phase) {
            let name = self.name;
            self.counters.note(format!("an execution of {name:?} was not counted: {error}"));
        }
    }
}

/// A name for a session: two of one name cannot be open at once.
fn name() -> String {
    static MADE: AtomicU64 = AtomicU64::new(0);
    match MADE.fetch_add(1, Ordering::Relaxed) {
        0 => "counters".to_owned(),
        earlier => format!("counters {}", earlier + 1),
    }
}
