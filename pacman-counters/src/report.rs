//! Figures by name.

use std::ops::Deref;
use std::time::Duration;

use pacman_core::{Error, ErrorKind, Event, Result};

/// Everything that [`Counters`](crate::Counters) had counted at one moment.
///
/// It dereferences to the [`pacman_core::Report`], which has every row. `{}` writes the table.
#[derive(Clone, Debug)]
pub struct Report(pacman_core::Report);

impl Report {
    pub(crate) fn new(report: pacman_core::Report) -> Report {
        Report(report)
    }

    /// The counts of one event in one phase, in all threads that ran it.
    ///
    /// # Errors
    /// `InvalidInput` for a phase that no thread has finished, and for an event that is not counted; the
    /// line lists those that are. `NotComputable` if some thread ran the phase and has no count of the
    /// event, because a sum would lack its part.
    pub fn get(&self, phase: &str, event: &str) -> Result<Counts> {
        let asked = |what: &str, name: &str, there: Vec<&str>| {
            let there = if there.is_empty() { "nothing".to_owned() } else { there.join(", ") };
            let why = format!(
                "cannot read {event} of phase {phase:?}: no {what} {name}; there is {there}"
            );
            Err(Error::new(ErrorKind::InvalidInput, why))
        };
        let ran: Vec<usize> = (0..self.phases.len())
            .filter(|at| {
                self.threads.iter().any(|one| one.phases.iter().any(|row| row.phase == *at))
            })
            .collect();
        let Some(&at) = ran.iter().find(|at| self.phases[**at] == phase) else {
            let there = ran.iter().map(|at| self.phases[*at].as_str()).collect();
            return asked("finished phase", &format!("{phase:?}"), there);
        };
        let canonical = event.parse::<Event>().ok().map(|event| event.name().to_owned());
        let is_asked = |name: &str| name == event || Some(name) == canonical.as_deref();
        let Some(column) = self.events.iter().position(|one| is_asked(&one.name)) else {
            let there = self.events.iter().map(|one| one.name.as_str()).collect();
            return asked("event", event, there);
        };
        let mut counts = Counts { threads: Vec::new(), executions: 0, time: 0, estimated: false };
        for thread in &self.threads {
            for row in thread.phases.iter().filter(|row| row.phase == at) {
                let count = row.counts.get(column);
                let Some(value) = count.and_then(|count| count.value()) else {
                    let number = thread.number;
                    let why = format!(
                        "cannot read {event} of phase {phase:?}: thread {number} ran it and has no count \
                         of it; its row of the report says why"
                    );
                    return Err(Error::new(ErrorKind::NotComputable, why));
                };
                counts.estimated |= count.is_some_and(|count| count.scaled.is_some());
                counts.threads.push((thread.number, value));
                counts.executions += row.executions;
                counts.time = counts.time.saturating_add(row.time.sum);
            }
        }
        Ok(counts)
    }
}

impl Deref for Report {
    type Target = pacman_core::Report;

    fn deref(&self) -> &pacman_core::Report {
        &self.0
    }
}

/// The counts of one event in one phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    threads: Vec<(usize, u64)>,
    executions: u64,
    time: u64,
    estimated: bool,
}

impl Counts {
    /// The sum over all threads.
    pub fn sum(&self) -> u64 {
        self.threads.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count))
    }

    /// Each thread that ran the phase, by its number in the report, and its count.
    pub fn threads(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.threads.iter().copied()
    }

    /// Finished executions, in all threads.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// The wall time of the phase, summed over the threads.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.time)
    }

    /// Whether some count is an estimate: the event was on the counters for a part of the time.
    pub fn is_estimated(&self) -> bool {
        self.estimated
    }
}
