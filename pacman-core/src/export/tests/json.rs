//! Tests of JSON, read back by an independent parser.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{assert_snapshot, specimen};
use crate::export;
use crate::report::EventSetRotation;
use crate::report::Stat;
use crate::report::{CountReport, LoggedSample, Report};

fn text(report: &Report) -> String {
    let mut text = Vec::new();
    export::json(report, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn parsed(report: &Report) -> Value {
    serde_json::from_str(&text(report)).unwrap()
}

#[test]
fn the_documents_read_as_before() {
    assert_snapshot("scaled.json", &text(&specimen::scaled()));
    assert_snapshot("troubled.json", &text(&specimen::troubled()));
}

#[test]
fn members_and_their_order_are_the_documented_ones() {
    let report = parsed(&specimen::troubled());
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        names(&report),
        [
            "format",
            "version",
            "session",
            "simulated",
            "age_ns",
            "provenance",
            "notes",
            "events",
            "sets",
            "rotation",
            "phases",
            "threads"
        ]
    );
    let thread = &report["threads"][0];
    assert_eq!(
        names(thread),
        [
            "number",
            "threads",
            "tid",
            "name",
            "place",
            "state",
            "attached_ns",
            "read_path",
            "log_dropped",
            "notes",
            "phases",
            "log"
        ]
    );
    assert_eq!(
        names(&thread["phases"][0]),
        [
            "phase",
            "executions",
            "recursions",
            "panics",
            "open",
            "implausible",
            "time_ns",
            "sets",
            "counts"
        ]
    );
    assert_eq!(
        names(&thread["phases"][0]["counts"][0]),
        ["value", "absent", "raw", "samples", "scaled", "enabled_ns", "running_ns"]
    );
    assert_eq!(
        names(&thread["place"]),
        ["cpu", "package", "core", "sibling", "node", "core_type", "bound"]
    );
}

#[test]
fn absent_is_null_and_says_why() {
    let report = parsed(&specimen::troubled());
    let count = &report["threads"][0]["phases"][0]["counts"][0];
    assert_eq!(
        *count,
        json!({
            "value": null, "absent": "never-counted", "raw": null, "samples": 5,
            "scaled": null, "enabled_ns": 50_000_000, "running_ns": 0
        })
    );
    let unfinished = &report["threads"][1]["phases"][0];
    assert_eq!(unfinished["time_ns"], Value::Null);
    assert_eq!(unfinished["counts"][1]["absent"], "not-finished");
    assert_eq!(report["threads"][1]["place"], Value::Null);
    assert_eq!(report["threads"][1]["name"], Value::Null);
    let true_zero = &report["threads"][0]["phases"][1]["counts"][0];
    assert_eq!((&true_zero["value"], &true_zero["absent"]), (&json!(0), &Value::Null));
}

#[test]
fn integers_keep_all_their_digits() {
    let mut report = specimen::server();
    report.age = u64::MAX;
    report.threads[0].phases[0].counts[0].raw.sum = (1 << 53) + 1;
    let text = text(&report);
    assert!(text.contains("\"age_ns\":18446744073709551615"));
    assert!(text.contains("\"sum\":9007199254740993"));
    assert_eq!(parsed(&report)["age_ns"].as_u64(), Some(u64::MAX));
}

#[test]
fn an_empty_report_is_a_document() {
    let report = parsed(&specimen::report("idle", Vec::new(), &[]));
    assert_eq!(report["threads"], json!([]));
    assert_eq!(report["version"], 1);
}

#[test]
fn each_thread_and_phase_has_a_line_of_its_own() {
    let report = specimen::server();
    let rows: usize = report.threads.iter().map(|thread| thread.phases.len()).sum();
    let text = text(&report);
    assert_eq!(text.lines().filter(|line| line.starts_with("{\"number\":")).count(), 4);
    assert_eq!(text.lines().filter(|line| line.starts_with("{\"phase\":")).count(), rows);
    assert!(text.ends_with("]}\n"));
}

fn any_stat() -> impl Strategy<Value = Stat> {
    (any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(sum, min, max)| Stat { sum, min, max })
}

proptest! {
    #[test]
    fn names_and_values_read_back_as_they_were(
        names in prop::collection::vec(any::<String>(), 5),
        values in prop::collection::vec(any::<u64>(), 8),
        raw in any_stat(),
        running in 0..=100u64,
    ) {
        let mut report = specimen::report(&names[0], vec![specimen::event(&names[1], "u")], &[&names[2]]);
        report.notes = vec![names[3].clone(), String::new()];
        let mut thread = specimen::thread(0, None);
        thread.name = Some(names[4].clone());
        thread.notes = vec![names[0].clone()];
        let mut row = specimen::row(0, values[0].max(1), values[1], &[]);
        let count = CountReport::new(raw, [1, 1], [running, 100]);
        row.counts.push(count);
        thread.phases.push(row.clone());
        thread.log.push(LoggedSample { phase: 0, begin: values[2], end: values[3], set: 0, counts: vec![values[4]] });
        thread.log_dropped = values[5];
        report.threads.push(thread);

        let read = parsed(&report);
        prop_assert_eq!(read["session"].as_str(), Some(&*names[0]));
        prop_assert_eq!(read["events"][0]["name"].as_str(), Some(&*names[1]));
        prop_assert_eq!(&read["phases"], &json!([names[2]]));
        prop_assert_eq!(&read["notes"], &json!([names[3], ""]));
        let thread = &read["threads"][0];
        prop_assert_eq!(thread["name"].as_str(), Some(&*names[4]));
        prop_assert_eq!(&thread["log_dropped"], &json!(values[5]));
        prop_assert_eq!(&thread["log"], &json!([
            {"phase": 0, "begin_ns": values[2], "end_ns": values[3], "set": 0, "counts": [values[4]]}
        ]));
        let phase = &thread["phases"][0];
        prop_assert_eq!(&phase["executions"], &json!(row.executions));
        prop_assert_eq!(&phase["time_ns"]["sum"], &json!(values[1]));
        let read = &phase["counts"][0];
        prop_assert_eq!(&read["value"], &json!(count.value()));
        prop_assert_eq!(&read["scaled"], &json!(count.scaled));
        if running > 0 {
            prop_assert_eq!(&read["raw"], &json!({"sum": raw.sum, "min": raw.min, "max": raw.max}));
        } else {
            prop_assert_eq!(&read["raw"], &Value::Null);
        }
    }
}

#[test]
fn samples_and_sets_are_members() {
    let document: Value =
        serde_json::from_str(&text(&specimen::rotate_event_sets(EventSetRotation::Staggered)))
            .unwrap();
    assert_eq!(document["sets"], serde_json::json!([[0, 1, 2], [0, 2, 3]]));
    assert_eq!(document["rotation"], "staggered");
    let row = &document["threads"][1]["phases"][0];
    assert_eq!(row["sets"], serde_json::json!([0, 1]));
    let misses = &row["counts"][1];
    assert_eq!((&misses["absent"], &misses["samples"]), (&"not-sampled".into(), &0.into()));
    assert!(misses["value"].is_null() && misses["raw"].is_null());
    assert_eq!(document["threads"][0]["phases"][0]["counts"][1]["scaled"], 20_000);
    assert_eq!(document["threads"][0]["log"][1]["set"], 1);
}
