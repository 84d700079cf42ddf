//! Counts of clocks that are mostly of the readings themselves.
//!
//! The kernel's clocks run while the kernel reads them. So a phase of a microsecond has a `task-clock` of several: that of
//! its end's reading, and of the rest of its begin's. Other events do not see readings by RDPMC, and the kernel's
//! counters of events do not move in a reading.

use std::sync::OnceLock;

use crate::event::Event;
use crate::plausible::exceeds;
use crate::report::Report;

use super::rotation::Sets;
use super::thread_recorder::ThreadRecorder;

/// Empty phases that are measured.
const ROUNDS: usize = 15;
/// The part of a count from which on it is mostly of readings.
const MOST: f64 = 0.5;

/// The counts of an empty phase, as the first thread measured them. Empty if no event is a clock.
#[derive(Debug, Default)]
pub(super) struct Readings(OnceLock<Vec<u64>>);

impl Readings {
    /// Measures empty phases of each set, once a session, if an event is a clock. Leaves set 0 on the counters.
    pub(super) fn measure(&self, events: &[Event], sets: &Sets, owner: &mut ThreadRecorder) {
        let has_clock = events.iter().any(|event| is_clock(event.unit(), event.is_hardware()));
        if has_clock && self.0.get().is_none() {
            let mut own = vec![0; events.len()];
            for set in (0..sets.len()).rev() {
                let order = sets.events(set);
                let measured = owner.empty_phases(set, ROUNDS, order.len()).unwrap_or_default();
                order.into_iter().zip(measured).for_each(|(event, count)| own[event] = count);
            }
            self.0.get_or_init(|| own);
        }
    }

    /// A line for each phase and clock whose count is mostly of the readings, or exceeds the time of its executions
    /// because of them. Times of a simulated machine are not those of its clocks.
    pub(super) fn notes(&self, report: &Report) -> Vec<String> {
        let own = self.0.get().map_or(&[][..], Vec::as_slice);
        let mut lines = Vec::new();
        for (at, event) in report.events.iter().enumerate() {
            let own = own.get(at).copied().filter(|own| *own > 0);
            let Some(own) = own.filter(|_| is_clock(event.unit, event.hardware)) else { continue };
            let rows = || report.threads.iter().flat_map(|thread| &thread.phases);
            for (phase, name) in report.phases.iter().enumerate() {
                let (mut executions, mut count, mut time) = (0, 0, 0);
                for row in rows().filter(|row| row.phase == phase) {
                    let Some(counted) = row.counts.get(at) else { continue };
                    (executions, count) = (executions + counted.samples, count + counted.raw.sum);
                    let sets = report.sets.iter().zip(&row.sets);
                    let sets = sets.filter(|(set, _)| set.events.contains(&at));
                    time += sets.map(|(_, counted)| counted.time.sum).sum::<u64>();
                }
                let is_mostly = own as f64 * executions as f64 >= MOST * count as f64;
                let is_beyond = !report.simulated && exceeds(count.into(), time.into());
                if count > 0 && (is_mostly || is_beyond) {
                    lines.push(format!(
                        "{} in {name:?} {} its readings, which count {own} ns in each execution",
                        event.name,
                        if is_mostly { "is mostly of" } else { "contains" }
                    ));
                }
            }
        }
        lines
    }
}

fn is_clock(unit: &str, is_hardware: bool) -> bool {
    unit == "ns" && !is_hardware
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::{Duration, Instant};

    use crate::Session;

    /// The kernel's own clocks need no PMU and no rights.
    #[test]
    fn a_clock_of_a_phase_of_a_microsecond_is_doubted() {
        if !pacman_suite::process::reaches_perf_events() {
            return pacman_suite::skipped("perf_event_open does not reach a kernel");
        }
        let session = Session::builder("readings").events("task-clock,page-faults");
        let session = session.start().expect("software events");
        let (short, long) = (session.phase("short"), session.phase("long"));
        let (short, long) = (short.expect("a phase"), long.expect("a phase"));
        let thread = session.attach().expect("counters");
        for _ in 0..2_000 {
            thread.begin(short).expect("it begins");
            thread.end(short).expect("it ends");
        }
        for _ in 0..2 {
            thread.begin(long).expect("it begins");
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(20) {}
            thread.end(long).expect("it ends");
        }
        let doubts = session.report().notes;
        let [doubt] = &doubts[..] else { panic!("{doubts:?}") };
        assert!(
            doubt.starts_with("task-clock in \"short\" is mostly of its readings, which count ")
        );
    }
}
