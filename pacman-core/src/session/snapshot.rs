//! Copying what a session knows into a report.

use super::rows::{Row, Stat};
use super::shared::Shared;
use super::thread::ThreadRecord;
use crate::report::{
    CountReport, EventColumn, LoggedSample, PhaseReport, PlaceReport, Report, SetReport,
    ThreadReport,
};
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
            phases: phase_reports(record, phases.len(), shared, nanos),
            log: log_reports(record, shared, nanos),
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
    let mut report = Report {
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
        sets: shared.sets().described(),
        turns: shared.sets().turns(),
        phases,
        threads,
        age: nanos(now.saturating_sub(shared.since())),
        simulated: records.iter().any(|record| record.caps.simulated),
        notes,
    };
    report.notes.extend(report.silent());
    report
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
    shared: &Shared,
    nanos: impl Fn(u64) -> u64,
) -> Vec<PhaseReport> {
    (0..phases).filter_map(|phase| phase_report(record, phase, shared, &nanos)).collect()
}

/// A phase's rows, one for each set, and their sum; `None` if it never ran here.
fn phase_report(
    record: &ThreadRecord,
    phase: usize,
    shared: &Shared,
    nanos: &impl Fn(u64) -> u64,
) -> Option<PhaseReport> {
    let tallies = record.tallies();
    let rows: Vec<Option<Row>> = tallies.iter().map(|tally| tally.rows.get(phase as u32)).collect();
    if rows.iter().all(Option::is_none) {
        return None;
    }
    let all = || rows.iter().flatten();
    let executions = all().map(|row| row.executions).sum();
    let (events, sets) = (shared.events().len(), shared.sets());
    let mut counts = vec![Gathered::default(); events];
    for (set, row) in rows.iter().enumerate() {
        let Some(row) = row else { continue };
        for (event, stat) in sets.events(set).into_iter().zip(&row.counts) {
            counts[event].add(row, *stat);
        }
    }
    let time = |row: &Row| Stat {
        sum: nanos(row.ticks.sum),
        min: nanos(row.ticks.min),
        max: nanos(row.ticks.max),
    };
    let reported = |(set, row): (usize, &Option<Row>)| match row {
        None => SetReport {
            executions: 0,
            time: Stat::default(),
            counts: vec![Stat::default(); sets.width(set)],
        },
        Some(row) => SetReport {
            executions: row.executions,
            time: time(row),
            counts: row.counts[..sets.width(set)].to_vec(),
        },
    };
    let finished = all().filter(|row| row.executions > 0);
    Some(PhaseReport {
        phase,
        executions,
        recursions: all().map(|row| row.recursions).sum(),
        panics: all().map(|row| row.panics).sum(),
        time: finished.map(time).reduce(Stat::and).unwrap_or_default(),
        counts: counts.iter().map(|count| count.report(executions)).collect(),
        sets: rows.iter().enumerate().map(reported).collect(),
    })
}

/// What one event counted in all sets that it is in.
#[derive(Clone, Copy, Default)]
struct Gathered {
    raw: Option<Stat>,
    samples: u64,
    running: u64,
    enabled: u64,
}

impl Gathered {
    fn add(&mut self, row: &Row, stat: Stat) {
        if row.executions > 0 {
            self.raw = Some(self.raw.map_or(stat, |raw| raw.and(stat)));
        }
        self.samples += row.executions;
        self.running += row.running;
        self.enabled += row.enabled;
    }

    fn report(&self, executions: u64) -> CountReport {
        let raw = self.raw.unwrap_or_default();
        CountReport::new(raw, [self.samples, executions], [self.running, self.enabled])
    }
}

fn log_reports(
    record: &ThreadRecord,
    shared: &Shared,
    nanos: impl Fn(u64) -> u64,
) -> Vec<LoggedSample> {
    let Some(log) = &record.log else { return Vec::new() };
    let since = shared.since();
    log.entries()
        .into_iter()
        .map(|mut entry| {
            let set = entry.set as usize;
            entry.counts.truncate(shared.sets().width(set));
            LoggedSample {
                phase: entry.phase as usize,
                begin: nanos(entry.begin.saturating_sub(since)),
                end: nanos(entry.end.saturating_sub(since)),
                set,
                counts: entry.counts,
            }
        })
        .collect()
}
