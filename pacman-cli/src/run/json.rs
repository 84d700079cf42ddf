//! The report for programs: everything.

use pacman_events::shown::text_of;
use pacman_regions::{Adaptation, Ending};
use serde_json::{Value, json};

use super::report::{Columns, Figures, ProcessReport, RegionReport, Report, Thread, runtime};

/// The document, indented, with a newline.
pub(super) fn write(report: &Report) -> String {
    format!("{:#}\n", document(report))
}

fn document(report: &Report) -> Value {
    json!({
        "format": "pacman-run",
        "version": 1,
        "command": report.command,
        "time_s": report.ended.seconds,
        "exit_status": report.ended.exit.status(),
        "signal": report.ended.exit.signal(),
        "objective": report.objective,
        "simulated": report.simulated,
        "processes": report.processes.iter().map(process).collect::<Vec<Value>>(),
        "notes": report.notes,
    })
}

fn process(process: &ProcessReport) -> Value {
    json!({
        "pid": process.process.pid,
        "parent": process.process.parent,
        "command": process.process.command,
        "time_s": process.process.seconds,
        "ending": process.process.ending.word(),
        "ending_signal": match process.process.ending {
            Ending::Killed(signal) => Some(signal),
            _ => None,
        },
        "runtimes": process.runtimes.iter().map(|one| json!({
            "family": one.family,
            "path": text_of(&one.path),
            "version": one.version,
        })).collect::<Vec<Value>>(),
        "threads": process.threads,
        "contexts": process.contexts,
        "share": process.share(),
        "events": process.columns.events.iter().map(|event| json!({
            "name": event.name,
            "unit": event.unit,
            "uncounted": event.uncounted,
            "doubt": event.doubt,
        })).collect::<Vec<Value>>(),
        "metrics": process.columns.metrics.iter().map(|metric| json!({
            "name": metric.name(),
            "unit": metric.unit(),
        })).collect::<Vec<Value>>(),
        "overhead": {
            "execution_ns": process.overhead.nanoseconds,
            "reads": process.overhead.reads,
        },
        "regions": process
            .regions
            .iter()
            .map(|one| region(process, one))
            .collect::<Vec<Value>>(),
        "timeline": {
            "bin_s": process.timeline.bin,
            "rows": process.timeline.rows.iter().map(|row| json!({
                "region": row.region,
                "time_s": row.seconds,
                "thread_time_s": row.thread_seconds,
            })).collect::<Vec<Value>>(),
        },
        "notes": process.notes,
    })
}

fn region(process: &ProcessReport, region: &RegionReport) -> Value {
    let columns = &process.columns;
    json!({
        "name": region.name.text,
        "symbol": region.name.symbol,
        "file": region.name.file,
        "line": region.name.line,
        "module": text_of(&region.site.module),
        "address": region.site.address,
        "source": region.site.source,
        "entry": region.entry,
        "runtime": process.runtimes.get(region.runtime).map(runtime),
        "executions": region.executions,
        "nested": region.nested,
        "time_s": region.seconds,
        "mean_s": region.mean,
        "shortest_s": region.shortest,
        "longest_s": region.longest,
        "share": region.share,
        "teams": region.teams.iter().map(|team| json!({
            "threads": team.threads,
            "executions": team.executions,
            "time_s": team.seconds,
        })).collect::<Vec<Value>>(),
        "imbalance": region.imbalance,
        "waiting": region.waiting,
        "overhead": region.overhead,
        "figures": figures(columns, &region.figures),
        "threads": region.threads.iter().map(|one| thread(columns, one)).collect::<Vec<Value>>(),
        "adaptation": region.adaptation.as_ref().map(adaptation),
    })
}

fn thread(columns: &Columns, thread: &Thread) -> Value {
    json!({
        "thread": thread.row.thread,
        "executions": thread.row.executions,
        "busy_s": thread.row.seconds,
        "cpu": thread.row.cpu,
        "moves": thread.row.moves,
        "package": thread.seat.map(|seat| seat.package),
        "core": thread.seat.map(|seat| seat.core),
        "sibling": thread.seat.map(|seat| seat.sibling),
        "beside": thread.beside,
        "counted": thread.row.counted,
        "implausible": thread.implausible,
        "figures": figures(columns, &thread.figures),
    })
}

fn adaptation(adaptation: &Adaptation) -> Value {
    json!({
        "state": adaptation.state,
        "threads": adaptation.threads,
        "configuration": adaptation.configuration,
        "why": adaptation.why,
        "reduced": adaptation.reduced,
        "gained_s": adaptation.gained,
        "guards": adaptation.guards,
        "loops": adaptation.loops,
    })
}

/// Counts, rates and metrics by name: JSON has no place for what is absent but null.
fn figures(columns: &Columns, figures: &Figures) -> Value {
    let by_event = |value: &dyn Fn(usize) -> Value| -> Value {
        let pairs = columns.events.iter().enumerate();
        pairs.map(|(at, event)| (event.name.clone(), value(at))).collect()
    };
    let metrics = columns.metrics.iter().zip(&figures.metrics);
    json!({
        "counts": by_event(&|at| json!(figures.counts[at].map(|count| count.value))),
        "complete": figures.counts.iter().flatten().all(|count| count.is_complete),
        "rates": by_event(&|at| json!(figures.rates[at])),
        "metrics": metrics
            .map(|(metric, value)| (metric.name().to_owned(), json!(value)))
            .collect::<Value>(),
    })
}
