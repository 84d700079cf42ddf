//! Sums over rows: the cost of a phase on a thread, a core, or all threads.

use crate::export::values::{Absent, count_of};
use crate::report::{PhaseReport, Report, ThreadReport};

/// The cost of a phase on one or more threads. Sums of 64-bit values take 128 bits.
#[derive(Clone, Debug)]
pub(super) struct Figures {
    pub(super) executions: u128,
    /// Wall time of the finished executions, summed over the threads.
    pub(super) time: u128,
    /// Time that the threads were attached, summed.
    pub(super) attached: u128,
    /// One for each event of the report.
    pub(super) counts: Vec<Figure>,
    /// One for each set, if sets rotated.
    pub(super) sets: Vec<SetFigures>,
}

/// The executions that counted one set.
#[derive(Clone, Debug)]
pub(super) struct SetFigures {
    pub(super) time: u128,
    /// The raw sum of each event of the report that is in the set.
    pub(super) counts: Vec<Option<u128>>,
}

/// The figure of one event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figure {
    /// The sum over the threads that have one.
    pub(super) value: Option<u128>,
    /// Part of it is an estimate.
    pub(super) scaled: bool,
    /// A thread finished executions and has no count.
    pub(super) missing: bool,
    /// Executions of the threads that have a figure.
    covered: u128,
    /// Executions of the threads that have none because their group was not on the counters.
    unsampled: u128,
    pub(super) enabled: u128,
    pub(super) running: u128,
}

impl Figures {
    pub(super) fn none(report: &Report) -> Figures {
        let events = report.events.len();
        let none = SetFigures { time: 0, counts: vec![None; events] };
        Figures {
            executions: 0,
            time: 0,
            attached: 0,
            counts: vec![Figure::default(); events],
            sets: vec![none; if report.rotation.is_some() { report.sets.len() } else { 0 }],
        }
    }

    pub(super) fn of(report: &Report, thread: &ThreadReport, row: &PhaseReport) -> Figures {
        let mut figures = Figures {
            executions: row.executions.into(),
            time: row.time.sum.into(),
            attached: thread.attached.into(),
            counts: (0..report.events.len()).map(|event| Figure::of(row, event)).collect(),
            ..Figures::none(report)
        };
        for ((figures, set), row) in figures.sets.iter_mut().zip(&report.sets).zip(&row.sets) {
            figures.time = row.time.sum.into();
            for (event, stat) in set.events.iter().zip(&row.counts) {
                figures.counts[*event] = Some(stat.sum.into());
            }
        }
        figures
    }

    pub(super) fn add(&mut self, other: &Figures) {
        self.executions += other.executions;
        self.time += other.time;
        self.attached += other.attached;
        for (sum, figure) in self.counts.iter_mut().zip(&other.counts) {
            sum.add(figure);
        }
        for (sum, set) in self.sets.iter_mut().zip(&other.sets) {
            sum.time += set.time;
            for (sum, count) in sum.counts.iter_mut().zip(&set.counts) {
                *sum = plus(*sum, *count);
            }
        }
    }

    /// Scales the figures of the threads that have some to those that have none yet. The threads do
    /// the same work if sets are staggered over them.
    pub(super) fn of_a_team(mut self) -> Figures {
        for count in &mut self.counts {
            let Some(value) = count.value.filter(|_| count.unsampled > 0) else { continue };
            let all = count.covered + count.unsampled;
            count.value = Some(value.saturating_mul(all) / count.covered);
            (count.scaled, count.missing, count.unsampled) = (true, false, 0);
        }
        self
    }

    /// Running and enabled time of the event that was counted for the smallest share of the time,
    /// among events that are estimated or absent.
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
                covered: row.executions.into(),
                ..Figure::default()
            },
            // Without a finished execution nothing is missing, so the sum is complete.
            Err(Absent::NotFinished) => Figure::default(),
            Err(Absent::NotSampled) => {
                let unsampled = row.executions.into();
                Figure { missing: true, unsampled, ..Figure::default() }
            }
            Err(_) => Figure { missing: true, ..Figure::default() },
        };
        if let Some(count) = row.counts.get(event) {
            figure.enabled = count.enabled_ns.into();
            figure.running = count.running_ns.into();
        }
        figure
    }

    fn add(&mut self, other: &Figure) {
        self.value = plus(self.value, other.value);
        self.covered += other.covered;
        self.unsampled += other.unsampled;
        self.scaled |= other.scaled;
        self.missing |= other.missing;
        self.enabled += other.enabled;
        self.running += other.running;
    }
}

/// The sum of the values that exist.
fn plus(one: Option<u128>, two: Option<u128>) -> Option<u128> {
    match (one, two) {
        (Some(one), Some(two)) => Some(one + two),
        (one, two) => one.or(two),
    }
}
