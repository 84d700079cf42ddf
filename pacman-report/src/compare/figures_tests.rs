//! A comparison has every figure of the reports.

use std::slice::from_ref;

use serde_json::Value;

use super::comparison::Comparison;
use super::input::RunDocument;
use super::{json, text};
use crate::document;
use crate::run::FIGURES;
use crate::run::figures_tests::written;

#[test]
fn a_comparison_has_every_figure_of_both_sides() {
    let texts = [written(0.5), written(2.0)];
    let read = |text: &String| -> RunDocument {
        let mut report: Value = serde_json::from_str(text).expect("JSON");
        let about = [("host", "h"), ("processor", "P"), ("began", "2026-11-29T09:00:00Z")];
        about.iter().for_each(|(member, text)| report["provenance"][*member] = (*text).into());
        serde_json::from_value(report).expect("a report")
    };
    let [before, after] = [read(&texts[0]), read(&texts[1])];
    let comparison = Comparison::of(from_ref(&before), from_ref(&after), 0.05, true);
    let compared = document::value(&json::document(&comparison, 0.05, 0.01));
    let region = &compared["regions"][0];
    for (text, side) in texts.iter().zip(["before", "after"]) {
        let report: Value = serde_json::from_str(text).expect("JSON");
        let own = &report["processes"][0]["regions"][0];
        for figure in &FIGURES {
            let measured = &region[side]["measured"][figure.name];
            assert!(measured.is_number(), "{} {side}: {region:#}", figure.name);
            assert_eq!(measured, &own[figure.name], "{} {side}: {region:#}", figure.name);
        }
    }
    let differ = text::different(&comparison.regions[0].1);
    let titles: Vec<&str> = differ.iter().map(|(title, ..)| title.as_str()).collect();
    assert!(titles.contains(&"useful on processor %"), "{differ:?}");
    let text = text::write(&comparison, 0.05, 0.01, 200);
    pacman_suite::snapshot(env!("CARGO_MANIFEST_DIR"), "snapshots/compare.txt", &text);
    // Figures of the program as a whole, and of parts of it, are none of a region.
    assert_eq!(compared["program"]["before"]["measured"], serde_json::json!({}));
}
