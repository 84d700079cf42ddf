//! The cost of reading the counters, where clocks show that it exceeds the executions.
//!
//! A thread's clock, such as `task-clock`, cannot run for longer than the wall time. A begin reads
//! the counters before the time, and an end after it. So a clock's count contains a part of both
//! readings that the time lacks.

use super::block::Member;
use super::rate::exceeds;
use super::{quantity, text};
use crate::export::TableStyle;
use crate::report::{PhaseReport, Report};

/// A line for each clock that counted more than the time of a phase's executions.
///
/// It uses raw counts, and the time of the executions that counted them. So the cost is a lower
/// bound, even if event sets rotate or the kernel multiplexes events. Times of a simulated machine
/// are not those of its clocks, so it has no such lines.
pub(super) fn of_phase<'a>(
    report: &'a Report,
    phase: &'a str,
    members: &'a [Member<'_>],
    style: &'a TableStyle,
) -> impl Iterator<Item = String> + 'a {
    let clocks = report.events.iter().enumerate().filter(|(_, event)| event.unit == "ns");
    clocks.filter(|_| !report.simulated).filter_map(move |(event, column)| {
        let mut sum = Clocked::default();
        let mut which = Vec::new();
        for (thread, row) in members {
            let clocked = Clocked::of(report, row, event);
            if exceeds(clocked.count, clocked.time) {
                sum.add(clocked);
                which.push(thread.number);
            }
        }
        let each = |nanos: u128| quantity::duration(nanos / sum.executions, style.unicode);
        (sum.executions > 0).then(|| {
            format!(
                "{phase} on {}: a run lasts {}, and reading the counters adds at least {} to its {}",
                text::threads(&which),
                each(sum.time),
                each(sum.count - sum.time),
                text::clean(&column.name)
            )
        })
    })
}

/// The executions that counted a clock.
#[derive(Clone, Copy, Default)]
struct Clocked {
    executions: u128,
    time: u128,
    count: u128,
}

impl Clocked {
    fn of(report: &Report, row: &PhaseReport, event: usize) -> Clocked {
        let mut sum = Clocked::default();
        for (set, counted) in report.sets.iter().zip(&row.sets) {
            let place = set.events.iter().position(|of| *of == event);
            if let Some(count) = place.and_then(|place| counted.counts.get(place)) {
                sum.add(Clocked {
                    executions: counted.executions.into(),
                    time: counted.time.sum.into(),
                    count: count.sum.into(),
                });
            }
        }
        sum
    }

    fn add(&mut self, other: Clocked) {
        self.executions += other.executions;
        self.time += other.time;
        self.count += other.count;
    }
}
