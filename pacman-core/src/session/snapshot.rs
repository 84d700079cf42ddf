//! Copying what a session knows into a report.

use super::shared::Shared;
use super::thread::ThreadRecord;
use crate::report::{
    CountReport, EventColumn, LoggedSample, PhaseReport, PlaceReport, Report, ThreadReport,
};
use crate::session::Stat;
use crate::topology::Topology;

pub(super) fn report(shared: &Shared) -> Report {
    let now = shared.clock().now();
    let scale = shared.clock().nanos_per_tick();
    let nanos = |ticks: u64| (ticks as f64 * scale) as u64;
    let phases = shared.phase_names();
    let mut notes = Vec::new();
    let topology = match shared.topology() {
        Ok(topology) => Some(topology),
        Err(error) => {
            notes.push(format!("places are unknown: {error}"));
            None
        }
    };
    let records = shared.threads();
    let threads: Vec<ThreadReport> = records
        .iter()
        .map(|record| ThreadReport {
            number: record.number,
            tid: record.tid,
            name: record.name.clone(),
            place: place(record, topology),
            state: record.state(),
            attached: nanos(record.until(now).saturating_sub(record.since)),
            read_path: record.caps.read_path,
            phases: phase_reports(record, phases.len(), shared.events().len(), nanos),
            log: log_reports(record, shared.since(), nanos),
            log_dropped: record.log.as_ref().map_or(0, |log| log.dropped()),
            notes: record.notes(),
        })
        .collect();
    let dropped: u64 = threads.iter().map(|thread| thread.log_dropped).sum();
    if dropped > 0 {
        notes.push(format!(
            "{dropped} samples found no room in the log of {} a thread; sums are complete",
            shared.log()
        ));
    }
    Report {
        session: shared.name().to_string(),
        events: shared
            .events()
            .iter()
            .map(|event| EventColumn {
                name: event.name().to_string(),
                unit: event.unit(),
                hardware: event.is_hardware(),
            })
            .collect(),
        phases,
        threads,
        age: nanos(now.saturating_sub(shared.since())),
        simulated: records.iter().any(|record| record.caps.simulated),
        notes,
    }
}

fn place(record: &ThreadRecord, topology: Option<&Topology>) -> Option<PlaceReport> {
    let context = topology?.context(record.cpu?)?;
    Some(PlaceReport {
        cpu: context.cpu,
        package: context.package,
        core: context.core,
        sibling: context.sibling,
        node: context.node,
        core_type: context.core_type,
        bound: record.bound,
    })
}

fn phase_reports(
    record: &ThreadRecord,
    phases: usize,
    events: usize,
    nanos: impl Fn(u64) -> u64,
) -> Vec<PhaseReport> {
    (0..phases)
        .filter_map(|phase| {
            let row = record.rows.get(phase as u32)?;
            let time = Stat {
                sum: nanos(row.ticks.sum),
                min: nanos(row.ticks.min),
                max: nanos(row.ticks.max),
            };
            Some(PhaseReport {
                phase,
                executions: row.executions,
                recursions: row.recursions,
                panics: row.panics,
                time,
                counts: row
                    .counts
                    .iter()
                    .take(events)
                    .map(|raw| CountReport::new(*raw, row.enabled, row.running))
                    .collect(),
            })
        })
        .collect()
}

fn log_reports(record: &ThreadRecord, since: u64, nanos: impl Fn(u64) -> u64) -> Vec<LoggedSample> {
    let Some(log) = &record.log else { return Vec::new() };
    log.entries()
        .into_iter()
        .map(|entry| LoggedSample {
            phase: entry.phase as usize,
            begin: nanos(entry.begin.saturating_sub(since)),
            end: nanos(entry.end.saturating_sub(since)),
            counts: entry.counts,
        })
        .collect()
}
