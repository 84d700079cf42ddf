//! Sums over rows: what a phase cost one thread, a core, or everyone.

use crate::export::{Absent, count_of};
use crate::report::{PhaseReport, ThreadReport};

/// What a phase cost one thread or several. Sums of 64-bit values in 128 bits.
#[derive(Clone, Debug)]
pub(super) struct Figures {
    pub(super) executions: u128,
    /// Wall time of the finished executions, summed over the threads.
    pub(super) time: u128,
    /// How long the threads were attached, summed.
    pub(super) attached: u128,
    /// One for each event of the report.
    pub(super) counts: Vec<Figure>,
}

/// One event's part of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figure {
    /// The sum over those threads that have one.
    pub(super) value: Option<u128>,
    /// Some of it is an estimate.
    pub(super) scaled: bool,
    /// A thread finished executions and has no count.
    pub(super) missing: bool,
    pub(super) enabled: u128,
    pub(super) running: u128,
}

impl Figures {
    pub(super) fn none(events: usize) -> Figures {
        Figures { executions: 0, time: 0, attached: 0, counts: vec![Figure::default(); events] }
    }

    pub(super) fn of(thread: &ThreadReport, row: &PhaseReport, events: usize) -> Figures {
        Figures {
            executions: row.executions.into(),
            time: row.time.sum.into(),
            attached: thread.attached.into(),
            counts: (0..events).map(|event| Figure::of(row, event)).collect(),
        }
    }

    pub(super) fn add(&mut self, other: &Figures) {
        self.executions += other.executions;
        self.time += other.time;
        self.attached += other.attached;
        for (sum, figure) in self.counts.iter_mut().zip(&other.counts) {
            sum.add(figure);
        }
    }

    /// Running and enabled time of the event that was counted for the least share
    /// of the time, among those that are estimates or absent.
    pub(super) fn counted(&self) -> Option<(u128, u128)> {
        self.counts
            .iter()
            .filter(|count| (count.scaled || count.missing) && count.enabled > 0)
            .map(|count| (count.running, count.enabled))
            .min_by(|a, b| {
                let share = |(running, enabled): &(u128, u128)| *running as f64 / *enabled as f64;
                share(a).total_cmp(&share(b))
            })
    }
}

impl Figure {
    fn of(row: &PhaseReport, event: usize) -> Figure {
        let counted = count_of(row, event);
        let mut figure = match counted {
            Ok(count) => Figure {
                value: count.value().map(u128::from),
                scaled: count.scaled.is_some(),
                ..Figure::default()
            },
            // Nothing finished is nothing to miss: no sum is too small for it.
            Err(absent) => Figure { missing: absent != Absent::NotFinished, ..Figure::default() },
        };
        if let Some(count) = row.counts.get(event) {
            figure.enabled = count.enabled.into();
            figure.running = count.running.into();
        }
        figure
    }

    fn add(&mut self, other: &Figure) {
        self.value = match (self.value, other.value) {
            (Some(one), Some(two)) => Some(one + two),
            (one, two) => one.or(two),
        };
        self.scaled |= other.scaled;
        self.missing |= other.missing;
        self.enabled += other.enabled;
        self.running += other.running;
    }
}
