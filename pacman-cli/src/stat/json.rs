//! The answer for programs.

use serde_json::{Value, json};

use super::answer::{Answer, Interval};
use super::figures::{Figures, Row, Who};
use crate::exit::Exit;

/// One document: an interval, or the whole run.
pub(super) fn document(
    answer: &Answer,
    interval: Interval,
    rows: &[Row],
    exit: Option<Exit>,
) -> Value {
    let total = Figures::sum(rows.iter().map(|row| &row.figures));
    let mut sum = figures(answer, &total);
    sum["missing"] = json!(total.missing);
    json!({
        "format": "pacman-stat",
        "version": 1,
        "command": answer.command,
        "by": answer.by.id(),
        "interval": interval.number.map(|number| json!({
            "number": number,
            "begin_ns": interval.begin.as_nanos() as u64,
            "end_ns": interval.end.as_nanos() as u64,
        })),
        "elapsed_ns": interval.end.saturating_sub(interval.begin).as_nanos() as u64,
        "exit_status": exit.map(Exit::status),
        "simulated": answer.simulated,
        "events": answer.columns.events.iter().map(|event| json!({
            "name": event.name,
            "unit": event.unit,
            "hardware": event.hardware,
            "doubt": event.doubt,
        })).collect::<Vec<Value>>(),
        "rows": rows.iter().map(|each| row(answer, each)).collect::<Vec<Value>>(),
        "total": sum,
        "notes": answer.notes,
    })
}

fn row(answer: &Answer, row: &Row) -> Value {
    let mut value = figures(answer, &row.figures);
    let of_core = matches!(row.who, Who::Core { .. });
    value["thread"] = Value::Null;
    for key in ["pid", "tid", "name", "rows"] {
        value[key] = Value::Null;
    }
    match &row.who {
        Who::Thread { number, pid, tid, name } => {
            value["thread"] = json!(number);
            value["pid"] = json!(pid);
            value["tid"] = json!(tid);
            value["name"] = json!(name);
        }
        Who::Core { rows } => value["rows"] = json!(rows),
        Who::Context => {}
    }
    value["package"] = json!(row.seat.map(|seat| seat.package));
    value["core"] = json!(row.seat.map(|seat| seat.core));
    value["sibling"] = json!(row.seat.filter(|_| !of_core).map(|seat| seat.sibling));
    value["cpu"] = json!(row.seat.filter(|_| !of_core).map(|seat| seat.cpu));
    value["bound"] = json!(row.bound);
    value["moved"] = json!(row.moved);
    value["notes"] = json!(row.notes);
    value["implausible"] = json!(row.implausible);
    value
}

fn figures(answer: &Answer, figures: &Figures) -> Value {
    let derived = answer.columns.derive(figures);
    json!({
        "time_ns": figures.time.as_nanos() as u64,
        "counts": figures.counts,
        "ipc": derived.ipc,
        "stall_share": derived.stalled,
        "ghz": derived.ghz,
    })
}
