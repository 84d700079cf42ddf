//! Copying what a session knows into a report.

use pacman_events::plural::{self, number};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::cells::{Row, Seen};
use super::members::{KEPT, Past};
use super::rotation::SetStats;
use super::shared::Shared;
use super::thread::ThreadRecord;
use crate::event::installed;
use crate::plausible::Limits;
use crate::provenance::Provenance;
use crate::report::{
    CountReport, EventColumn, Implausible, LoggedSample, PhaseReport, PlaceReport, Report,
    SetReport, ThreadReport, ThreadState,
};
use crate::stat::Stat;
use pacman_topology::Topology;

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
    if shared.binds_by_itself() {
        notes.push(
            "each thread was bound to one hardware context while it was attached: this \
             processor's counters were programmed without the kernel's driver, and count a context"
                .to_owned(),
        );
    }
    let (records, past) = shared.threads();
    let of_thread = |record: &Arc<ThreadRecord>| {
        let mut cut = Vec::new();
        let phases = phase_reports(record, &phases, shared, nanos, &mut cut);
        ThreadReport {
            number: record.arrival.number,
            threads: 1,
            tid: record.arrival.tid,
            name: record.arrival.name.clone(),
            place: place(record, topology),
            state: record.state(),
            attached: nanos(record.until(now).saturating_sub(record.arrival.since)),
            read_path: record.arrival.caps.read_path,
            phases,
            log: log_reports(record, shared, nanos),
            log_dropped: record.log.as_ref().map_or(0, |log| log.dropped()),
            notes: [record.notes(), cut].concat(),
        }
    };
    let mut threads: Vec<ThreadReport> = records.iter().map(of_thread).collect();
    if let Some(past) = &past {
        threads.push(past_report(past, shared, nanos));
        notes.push(format!(
            "{} that ended {} in one row: the session keeps the rows of the first {KEPT} that end",
            number(past.threads, "thread"),
            plural::is(past.threads)
        ));
    }
    let dropped: u64 = threads.iter().map(|thread| thread.log_dropped).sum();
    if dropped > 0 {
        notes.push(format!(
            "{} did not fit into the log of {} per thread; sums are complete",
            number(dropped, "sample"),
            number(shared.log(), "sample")
        ));
    }
    let doubt = records.iter().find_map(|record| record.arrival.caps.doubt);
    let doubt = doubt.or(past.as_ref().and_then(|past| past.doubt));
    let age = nanos(now.saturating_sub(shared.since()));
    let (today, past_time) = (SystemTime::now(), Duration::from_nanos(age));
    let began = today.checked_sub(past_time).unwrap_or(today);
    let mut report = Report {
        session: shared.name().to_string(),
        events: shared
            .events()
            .iter()
            .map(|event| EventColumn {
                name: event.name().to_string(),
                unit: event.unit(),
                hardware: event.is_hardware(),
                doubt: doubt.filter(|_| event.is_hardware()),
                table: event.installed_table(),
                core_pmu: event.core_type().map(|core_type| core_type.name().to_owned()),
                part_of: shared.events().iter().position(|whole| event.is_part_of(whole)),
            })
            .collect(),
        sets: shared.sets().described(),
        rotation: shared.sets().rotation(),
        phases,
        threads,
        age,
        provenance: Provenance::here(topology, began),
        simulated: records.iter().any(|record| record.arrival.caps.simulated)
            || past.is_some_and(|past| past.simulated),
        notes,
    };
    let tables = report.events.iter().map(|event| (&*event.name, event.table.as_deref()));
    report.notes.extend(installed::note(tables));
    report.notes.extend(report.zero_count_warnings().into_iter().map(|(_, line)| line));
    report.notes.extend(shared.readings.notes(&report));
    report
}

fn place(record: &ThreadRecord, topology: Option<&Topology>) -> Option<PlaceReport> {
    let context = topology?.context(record.arrival.cpu?)?;
    Some(PlaceReport {
        cpu: context.cpu,
        package: context.package,
        core: context.core,
        sibling: context.sibling,
        node: context.node,
        core_type: context.core_type,
        bound: record.arrival.bound,
    })
}

/// The phases that a thread ran; `cut` gets a line for each row that is half written.
fn phase_reports(
    record: &ThreadRecord,
    names: &[String],
    shared: &Shared,
    nanos: impl Fn(u64) -> u64,
    cut: &mut Vec<String>,
) -> Vec<PhaseReport> {
    let mut phases: Vec<u32> =
        record.set_stats().iter().flat_map(|set_stats| set_stats.rows.phases()).collect();
    let open = record.open.phases();
    phases.extend(open.iter().map(|(phase, _)| *phase));
    phases.sort_unstable();
    phases.dedup();
    let mut row =
        |set_stats: &SetStats, phase: u32| match set_stats.rows.get(phase, || record.is_gone()) {
            Seen::Never => None,
            Seen::Whole(row) => Some(row),
            Seen::Cut => {
                let name = names.get(phase as usize).map_or("", String::as_str);
                let why = if record.is_gone() {
                    "when the process forked: it is cut by the fork"
                } else {
                    "for a second"
                };
                cut.push(format!(
                "the row of {name:?} is left out, because the thread was in the midst of writing \
                 it {why}"
            ));
                None
            }
        };
    let mut report = |phase| {
        let rows = record.set_stats().iter().map(|set_stats| row(set_stats, phase)).collect();
        let open = open.iter().find(|(open, _)| *open == phase).map_or(0, |(_, times)| *times);
        phase_report(phase, rows, open, shared, &nanos)
    };
    phases.into_iter().filter_map(&mut report).collect()
}

/// The one row of threads that ended.
fn past_report(past: &Past, shared: &Shared, nanos: impl Fn(u64) -> u64) -> ThreadReport {
    let report = |phase| phase_report(phase, past.rows(phase), 0, shared, &nanos);
    let all_exited = past.exited == past.threads;
    ThreadReport {
        number: past.number,
        threads: past.threads,
        tid: -1,
        name: Some(number(past.threads, "ended thread")),
        place: None,
        state: if all_exited { ThreadState::Exited } else { ThreadState::Detached },
        attached: nanos(past.ticks),
        read_path: past.read_path,
        phases: past.phases().into_iter().filter_map(report).collect(),
        log: Vec::new(),
        log_dropped: past.samples,
        notes: past.notes(),
    }
}

/// A phase's rows, one for each set, and their sum; `None` if it never ran here.
fn phase_report(
    phase: u32,
    rows: Vec<Option<Row>>,
    open: u64,
    shared: &Shared,
    nanos: &impl Fn(u64) -> u64,
) -> Option<PhaseReport> {
    let phase = phase as usize;
    if open == 0 && rows.iter().all(Option::is_none) {
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
        open,
        implausible: implausible(&rows, shared, nanos),
        time: finished.map(time).reduce(Stat::and).unwrap_or_default(),
        counts: counts.iter().map(|count| count.report(executions)).collect(),
        sets: rows.iter().enumerate().map(reported).collect(),
    })
}

/// The executions that were set aside, and why the first of them was.
fn implausible(
    rows: &[Option<Row>],
    shared: &Shared,
    nanos: &impl Fn(u64) -> u64,
) -> Option<Implausible> {
    let aside = || {
        let each = rows.iter().enumerate();
        each.filter_map(|(set, row)| Some((set, row.as_ref()?.set_aside?)))
    };
    let (set, (_, doubt)) = aside().next()?;
    let event = doubt.column.and_then(|column| shared.sets().events(set).get(column).copied());
    let name = event.map_or("", |event| shared.events()[event].name());
    Some(Implausible {
        executions: aside().map(|(_, (executions, _))| executions).sum(),
        event,
        why: doubt.says(name, nanos).to_string(),
    })
}

/// The count of one event over all sets that hold it.
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
    let limits: Vec<Limits> = (0..shared.sets().len()).map(|set| record.limits(set)).collect();
    log.entries()
        .into_iter()
        .filter_map(|mut entry| {
            let set = entry.set as usize;
            entry.counts.truncate(shared.sets().width(set));
            // The row reports such executions as implausible, so their values must not be shown.
            if limits[set].judge(entry.begin..entry.end, &entry.counts).is_some() {
                return None;
            }
            Some(LoggedSample {
                phase: entry.phase as usize,
                begin: nanos(entry.begin.saturating_sub(since)),
                end: nanos(entry.end.saturating_sub(since)),
                set,
                counts: entry.counts,
            })
        })
        .collect()
}
