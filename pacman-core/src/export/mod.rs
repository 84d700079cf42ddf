//! Reports as text: a table for people, CSV for data frames, JSON for programs.
//!
//! | function | one row or entry is | for |
//! |---|---|---|
//! | [`table`] | a thread, in a block per phase | reading in a terminal |
//! | [`csv`] | a phase on a thread | spreadsheets and data frames |
//! | [`csv_log`] | one logged execution | timelines, distributions |
//! | [`json`] | everything, one document | programs |
//!
//! All four keep to the same rule about figures: a count is a value or it is
//! absent, and what is absent is never written as 0. Absent are the counts of a
//! group that the kernel never put on the counters, of a set whose turn has not come,
//! and everything about a phase of which no execution has finished yet. The table writes them as a dash and
//! says why below, CSV leaves the field empty, JSON has `null` and the reason.
//!
//! Writers never panic and print nothing on their own. What the writer refuses
//! comes back as it is: a closed pipe is an error of kind
//! [`BrokenPipe`](std::io::ErrorKind::BrokenPipe), and a command that feeds a
//! pager ends quietly on it. They write line by line and flush at the end; give
//! them a [`BufWriter`](std::io::BufWriter) where a line costs a system call.
//!
//! ```
//! use pacman_core::{Session, export};
//!
//! let session = Session::builder("doc-export").events("task-clock,page-faults")?.start()?;
//! let thread = session.attach()?;
//! thread.run(session.phase("fill")?, || std::hint::black_box(vec![1u8; 1 << 20]))?;
//!
//! let report = session.report();
//! let mut text = Vec::new();
//! export::table(&report, &export::TableStyle::default(), &mut text)?;
//! let text = String::from_utf8(text)?;
//! assert!(text.contains("fill") && text.contains("page-faults"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod csv;
mod json;
mod style;
mod table;

#[cfg(test)]
mod tests;

pub use csv::{csv, csv_log};
pub use json::json;
pub use style::TableStyle;
pub use table::table;

use crate::backend::ReadPath;
use crate::report::{CountReport, PhaseReport, Report, ThreadState, Turns};

/// Why a count is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Absent {
    /// The group was enabled, but the kernel never let it count.
    NeverCounted,
    /// No execution has finished, so there is nothing to sum up.
    NotFinished,
    /// The row holds no such count.
    NotRecorded,
    /// Sets take turns, and no execution has counted the event's yet.
    NotSampled,
}

impl Absent {
    /// The word that JSON has for it.
    fn code(self) -> &'static str {
        match self {
            Absent::NeverCounted => "never-counted",
            Absent::NotFinished => "not-finished",
            Absent::NotRecorded => "not-recorded",
            Absent::NotSampled => "not-sampled",
        }
    }
}

/// The count of event number `event` in a row, or why there is none.
fn count_of(row: &PhaseReport, event: usize) -> Result<&CountReport, Absent> {
    if row.executions == 0 {
        return Err(Absent::NotFinished);
    }
    let count = row.counts.get(event).ok_or(Absent::NotRecorded)?;
    if count.samples == 0 {
        return Err(Absent::NotSampled);
    }
    if count.value().is_none() {
        return Err(Absent::NeverCounted);
    }
    Ok(count)
}

/// The name of a phase; a report that was cut by hand may not have it.
fn phase_name(report: &Report, phase: usize) -> &str {
    report.phases.get(phase).map_or("?", String::as_str)
}

/// The only set that counts an event; `None` if every set does.
fn only_set(report: &Report, event: usize) -> Option<usize> {
    let mut sets = (0..report.sets.len()).filter(|set| report.sets[*set].events.contains(&event));
    let set = sets.next()?;
    (report.sets.len() > 1 && sets.next().is_none()).then_some(set)
}

/// A thread's state as the exchange formats spell it.
fn state_code(state: ThreadState) -> &'static str {
    match state {
        ThreadState::Attached => "attached",
        ThreadState::Detached => "detached",
        ThreadState::Exited => "exited",
    }
}

/// Who counted which set, as the exchange formats spell it.
fn turns_code(turns: Turns) -> &'static str {
    match turns {
        Turns::ByExecution => "by-execution",
        Turns::BySpread => "by-spread",
    }
}

/// A read path as the exchange formats spell it.
fn read_path_code(path: ReadPath) -> &'static str {
    match path {
        ReadPath::Rdpmc => "rdpmc",
        ReadPath::ReadCall => "read",
    }
}
