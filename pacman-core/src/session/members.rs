//! The threads of a session: those that are attached, the first that ended, and the others' sum.

use pacman_events::plural::{self, number};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::cells::{Row, Seen};
use super::thread::ThreadRecord;
use crate::backend::ReadPath;
use crate::report::ThreadState;

/// Number of ended threads that keep rows of their own. Without this limit, a program that starts a
/// thread for every request would need more memory with each.
pub(super) const KEPT: usize = 1024;

/// Notes kept for the threads in the sum. Further notes are only counted.
const NOTES: usize = 32;

/// Every thread that ever attached.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// By number.
    kept: BTreeMap<usize, Arc<ThreadRecord>>,
    joined: usize,
    /// The number of kept threads that have ended.
    ended: usize,
    past: Option<Past>,
}

/// The counts of all threads that ended.
#[derive(Clone, Debug)]
pub(super) struct Past {
    /// The number of the first of them.
    pub(super) number: usize,
    pub(super) threads: usize,
    /// The number of threads that ended while attached.
    pub(super) exited: usize,
    pub(super) read_path: ReadPath,
    pub(super) simulated: bool,
    /// Why hardware counts may be wrong.
    pub(super) doubt: Option<&'static str>,
    /// The sum of their attached times, in ticks.
    pub(super) ticks: u64,
    /// By set, then by phase.
    rows: Vec<BTreeMap<u32, Row>>,
    /// Number of their logged samples, including those that found no room.
    pub(super) samples: u64,
    notes: Vec<String>,
    more: usize,
}

impl Members {
    /// Adds a thread; `make` receives its number.
    pub(super) fn join(&mut self, make: impl FnOnce(usize) -> ThreadRecord) -> Arc<ThreadRecord> {
        let record = Arc::new(make(self.joined));
        self.kept.insert(self.joined, Arc::clone(&record));
        self.joined += 1;
        record
    }

    /// Records that a thread has ended. Its owner must not write any more.
    pub(super) fn retire(&mut self, record: &ThreadRecord) {
        if self.ended < KEPT {
            self.ended += 1;
            return;
        }
        self.kept.remove(&record.arrival.number);
        self.past.get_or_insert_with(|| Past::beginning_with(record)).add(record);
    }

    /// The threads with rows of their own, by number.
    pub(super) fn kept(&self) -> Vec<Arc<ThreadRecord>> {
        self.kept.values().cloned().collect()
    }

    pub(super) fn get(&self, number: usize) -> Option<Arc<ThreadRecord>> {
        self.kept.get(&number).cloned()
    }

    pub(super) fn past(&self) -> Option<Past> {
        self.past.clone()
    }
}

impl Past {
    fn beginning_with(record: &ThreadRecord) -> Past {
        Past {
            number: record.arrival.number,
            threads: 0,
            exited: 0,
            read_path: record.arrival.caps.read_path,
            simulated: record.arrival.caps.simulated,
            doubt: record.arrival.caps.doubt,
            ticks: 0,
            rows: vec![BTreeMap::new(); record.set_stats().len()],
            samples: 0,
            notes: Vec::new(),
            more: 0,
        }
    }

    fn add(&mut self, record: &ThreadRecord) {
        self.number = self.number.min(record.arrival.number);
        self.threads += 1;
        self.exited += usize::from(record.state() == ThreadState::Exited);
        self.ticks += record.until(record.arrival.since).saturating_sub(record.arrival.since);
        for (sum, set_stats) in self.rows.iter_mut().zip(record.set_stats()) {
            for phase in set_stats.rows.phases() {
                // The owner has ended, so nothing is half written.
                let Seen::Whole(row) = set_stats.rows.get(phase, || true) else { continue };
                match sum.get_mut(&phase) {
                    Some(sum) => sum.add(&row),
                    None => drop(sum.insert(phase, row)),
                }
            }
        }
        if let Some(log) = &record.log {
            self.samples += log.len() + log.dropped();
        }
        for note in record.notes() {
            if self.notes.len() < NOTES && !self.notes.contains(&note) {
                self.notes.push(note);
            } else {
                self.more += 1;
            }
        }
    }

    /// The phases that any of them ran, ascending.
    pub(super) fn phases(&self) -> Vec<u32> {
        let mut phases: Vec<u32> = self.rows.iter().flat_map(|rows| rows.keys().copied()).collect();
        phases.sort_unstable();
        phases.dedup();
        phases
    }

    /// The rows of a phase, one for each set.
    pub(super) fn rows(&self, phase: u32) -> Vec<Option<Row>> {
        self.rows.iter().map(|rows| rows.get(&phase).cloned()).collect()
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let mut lines = self.notes.clone();
        if self.more > 0 {
            lines.push(format!("{} more of the same", self.more));
        }
        if self.samples > 0 {
            lines.push(format!(
                "{} of theirs {} not kept",
                number(self.samples, "single sample"),
                plural::is(self.samples)
            ));
        }
        if self.exited > 0 && self.exited < self.threads {
            lines.push(format!("{} of {} ended while attached", self.exited, self.threads));
        }
        lines
    }
}
