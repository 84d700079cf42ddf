//! The data that every format of the answer is made from.

use std::time::Duration;

use pacman_core::Provenance;

use super::figures::{Columns, Row, Who};
use super::usage::Usage;

/// A part of the run, or all of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// `None` for the whole run.
    pub number: Option<usize>,
    /// From the begin of counting.
    pub begin: Duration,
    /// From the same.
    pub end: Duration,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Tables for people.
    Text,
    /// A line for each row.
    Csv,
    /// A document, or one for each interval.
    Json,
}

/// The data that all parts of the answer share.
pub struct Answer {
    /// The form.
    pub form: Form,
    /// Many processes get no row for each command.
    pub each_thread: bool,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The process that was counted, if it is not the command.
    pub process: Option<i32>,
    /// The events and metrics.
    pub columns: Columns,
    /// The subject of a row.
    pub by: By,
    /// The time between answers, if parts of the run were asked for.
    pub interval: Option<Duration>,
    /// A simulated machine counted.
    pub simulated: bool,
    /// The processor time of the command, once it has ended.
    pub usage: Option<Usage>,
    /// Where, when and by which version it was made.
    pub provenance: Provenance,
    /// Facts that a reader of the figures must know.
    pub notes: Vec<String>,
    /// Threads have a row for each command because there are many processes.
    pub is_grouped: bool,
    /// The most rows that a table shows.
    pub top: Option<usize>,
    /// The width by COLUMNS or the terminal; without either, and in a file, as wide as it takes.
    pub width: usize,
}

impl Answer {
    /// The counted process in words.
    pub fn subject(&self) -> String {
        match self.process {
            Some(pid) => format!("process {pid}"),
            None => self.command.first().cloned().unwrap_or_default(),
        }
    }
}

/// The subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A thread.
    Thread,
    /// All that ran on a core: threads, or what its contexts counted of all programs.
    Core {
        /// Whether its rows are contexts.
        of_contexts: bool,
    },
    /// All that ran on a hardware context.
    Context,
    /// The processes of a command.
    Command,
    /// A run of the command.
    Run,
}

impl By {
    /// The word for it in CSV and JSON.
    pub fn id(self) -> &'static str {
        match self {
            By::Thread => "thread",
            By::Core { .. } => "core",
            By::Context => "context",
            By::Command => "command",
            By::Run => "run",
        }
    }
}

/// The number of threads and processes in the rows.
pub(super) fn census(rows: &[Row]) -> (usize, usize) {
    let mut processes: Vec<i32> = rows
        .iter()
        .filter_map(|row| match &row.who {
            Who::Thread { pid, .. } => Some(*pid),
            _ => None,
        })
        .collect();
    let threads = processes.len();
    processes.sort_unstable();
    processes.dedup();
    (threads, processes.len())
}
