//! The data that every format of the answer is made from.

use std::time::Duration;

use pacman_core::Provenance;

use super::figures::{Columns, Row, Who};
use super::usage::Usage;

/// A part of the run, or all of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    /// `None` for the whole run.
    pub(super) number: Option<usize>,
    pub(super) begin: Duration,
    pub(super) end: Duration,
}

/// The data that all parts of the answer share.
pub(super) struct Answer {
    pub(super) command: Vec<String>,
    /// The process that was counted, if it is not the command.
    pub(super) process: Option<i32>,
    pub(super) columns: Columns,
    pub(super) by: By,
    pub(super) interval: Option<Duration>,
    pub(super) simulated: bool,
    /// The processor time of the command, once it has ended.
    pub(super) usage: Option<Usage>,
    pub(super) provenance: Provenance,
    pub(super) notes: Vec<String>,
    /// Threads have a row for each command because there are many processes.
    pub(super) is_grouped: bool,
    /// The most rows that a table shows.
    pub(super) top: Option<usize>,
    /// The width by COLUMNS or the terminal; without either, and in a file, as wide as it takes.
    pub(super) width: usize,
}

impl Answer {
    /// The counted process in words.
    pub(super) fn subject(&self) -> String {
        match self.process {
            Some(pid) => format!("process {pid}"),
            None => self.command.first().cloned().unwrap_or_default(),
        }
    }
}

/// The subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Thread,
    Core,
    Context,
    Command,
    Run,
}

impl By {
    pub(super) fn id(self) -> &'static str {
        match self {
            By::Thread => "thread",
            By::Core => "core",
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
