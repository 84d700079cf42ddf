//! Histories of made-up reports, in words, as JSON and in a real browser.

use serde_json::{Value, json};

use super::super::input::RunDocument;
use super::super::made::{WIDTHS, open, report};
use super::super::reduced::Reduced;
use super::chain::{History, Point};
use super::{json, page, text};
use crate::document;

fn point(label: &str, reports: &[Value]) -> Point {
    let read = |report: &Value| {
        let document: RunDocument = serde_json::from_value(report.clone()).expect("a report");
        Reduced::of(&document)
    };
    Point { label: label.into(), reports: reports.iter().map(read).collect() }
}

/// Runs whose second region moves by a line each time, and gets slower in the last run.
fn moving(runs: u32) -> History {
    let points = (0..runs).map(|run| {
        let slow = if run + 1 == runs { 2.0 } else { 1.0 };
        let regions = [(10, 1.0, 0.25), (20 + run, 2.0 * slow, 0.5)];
        point(&format!("commit-{run:03}"), &[report(4.0 + 2.0 * slow, &regions)])
    });
    History::of(points.collect(), 0.05)
}

#[test]
fn a_region_is_followed_while_its_lines_move() {
    let written = document::value(&json::document(&moving(5)));
    let regions = written["regions"].as_array().expect("a list");
    assert_eq!(regions.len(), 2, "{written:#}");
    let names: Vec<&Value> = regions.iter().map(|region| &region["name"]).collect();
    assert_eq!(
        names,
        ["solve, line 24", "solve, line 10"],
        "the longest, as the latest run has it"
    );
    let moved = &regions[0]["runs"];
    let of = |member: &str| -> Vec<Value> {
        moved.as_array().expect("a list").iter().map(|run| run[member].clone()).collect()
    };
    assert_eq!(of("time_s"), [2.0, 2.0, 2.0, 2.0, 4.0]);
    assert_eq!(
        of("verdict"),
        [Value::Null, "same".into(), "same".into(), "same".into(), "slower".into()]
    );
    assert_eq!((&moved[4]["ratio"], &moved[4]["useful"]), (&2.0.into(), &0.5.into()));
    assert_eq!(moved[4]["states"], json!({"useful": 4.0, "start": 0.0, "end": 0.0, "lock": 4.0}));
    // One report a run has no noise of whole runs.
    let runs = &written["runs"];
    assert_eq!((&runs[0]["verdict"], &runs[4]["verdict"]), (&Value::Null, &"unclear".into()));
    assert_eq!(runs[4]["efficiency"]["parallel"], 0.8);
}

#[test]
fn a_region_that_a_run_lacks_is_null_there_and_has_no_change_behind_it() {
    let both = report(5.0, &[(10, 1.0, 0.0), (20, 2.0, 0.0)]);
    // The third run has neither line of the first: nobody can tell which region is left.
    let one = report(5.0, &[(20, 2.0, 0.0)]);
    let points = [("a", &both), ("b", &one), ("c", &both)];
    let points = points.map(|(label, report)| point(label, std::slice::from_ref(report)));
    let written = document::value(&json::document(&History::of(points.into(), 0.05)));
    let regions = written["regions"].as_array().expect("a list");
    assert_eq!(regions.len(), 2, "{written:#}");
    let short = regions.iter().find(|region| region["name"] == "solve, line 10").expect("a region");
    assert_eq!((&short["runs"][1], &short["runs"][2]["verdict"]), (&Value::Null, &Value::Null));
    assert_eq!(short["runs"][2]["time_s"], 1.0);
}

#[test]
fn repeats_decide_about_the_program_and_a_busy_machine_does_not() {
    let runs = |seconds: [f64; 5]| seconds.map(|time| report(time, &[(10, time / 2.0, 0.1)]));
    let before = runs([1.0, 1.01, 0.99, 1.0, 1.02]);
    let mut after = runs([1.5, 1.51, 1.49, 1.5, 1.52]);
    let history = |after: &[Value]| History::of(vec![point("a", &before), point("b", after)], 0.05);
    let written = document::value(&json::document(&history(&after)));
    assert_eq!(
        (&written["runs"][1]["verdict"], &written["runs"][1]["reports"]),
        (&"slower".into(), &5.into())
    );
    let said = text::write(&history(&after), 200);
    assert!(said.starts_with("./app: 2 runs; 1.50 s in the latest, b (+50.0 % to the one before); solve, line 10  a.c slower (+50.0 %)\n"), "{said}");
    assert!(!said.contains("runs of one report"), "{said}");
    after[0]["processes"][0]["lacks_processors"] = true.into();
    let written = document::value(&json::document(&history(&after)));
    assert_eq!(written["runs"][1]["verdict"], "unclear");
    let notes = written["notes"].to_string();
    assert!(notes.contains("no processor of their own in 1 run"), "{notes}");
}

#[test]
fn a_change_of_machine_threads_or_command_is_noted() {
    let mut other = report(5.0, &[(10, 1.0, 0.0)]);
    other["provenance"]["host"] = "elsewhere".into();
    other["command"] = json!(["./app", "8"]);
    other["processes"][0]["regions"][0]["teams"] = json!([{"threads": 8}]);
    let points = vec![point("a", &[report(5.0, &[(10, 1.0, 0.0)])]), point("b", &[other])];
    let notes = text::notes(&History::of(points, 0.05));
    for what in ["hosts or processors", "numbers of threads", "commands"] {
        let line = format!("the runs have different {what}: they change at b");
        assert!(notes.contains(&line), "{notes:?}");
    }
}

#[test]
fn text_has_a_row_for_each_run_and_the_regions_that_changed() {
    let said = text::write(&moving(3), 200);
    pacman_suite::snapshot(env!("CARGO_MANIFEST_DIR"), "snapshots/history.txt", &said);
}

#[test]
fn a_page_of_two_and_of_200_runs_has_its_charts_at_any_width() {
    for runs in [2, 200] {
        let page = page(&moving(runs));
        assert!(page.len() < 3_000_000, "{} bytes", page.len());
        for size in WIDTHS {
            let probe = "
                seen.charts = count('.chart svg');
                seen.lines = document.querySelector('.chart .line').getAttribute('d').split(/[ML]/).length - 1;
                seen.bands = document.querySelectorAll('section.program .band').length;
                seen.rows = count('table.regions tbody tr');
                const details = document.querySelector('section.runs details');
                details.open = true;
                details.fill();
                seen.runs = count('table.runs tbody tr');
                const chart = document.querySelector('.chart');
                chart.dispatchEvent(new KeyboardEvent('keydown', { key: 'Home', bubbles: true }));
                seen.first = Array.from(document.querySelectorAll('section.program .readout'), one => one.textContent);
                seen.wide = Array.from(document.querySelectorAll('.chart svg'), one => one.getBoundingClientRect().width);
                const texts = Array.from(document.querySelectorAll('.chart svg text'), one => one.getBoundingClientRect());
                seen.outside = texts.filter(box => box.left < 0 || box.right > window.innerWidth).length;
                document.querySelectorAll('button.region')[1].click();
                seen.chosen = document.querySelector('section.regions h3').textContent;";
            let Some(seen) = open(&page, size, probe) else { return };
            assert_eq!(
                (&seen["overflow"], &seen["outside"]),
                (&0.into(), &0.into()),
                "{size:?}: {seen}"
            );
            assert_eq!(seen["charts"], 5, "{seen}");
            assert_eq!(
                (&seen["lines"], &seen["bands"]),
                (&runs.into(), &(2 * runs).into()),
                "{seen}"
            );
            assert_eq!((&seen["rows"], &seen["runs"]), (&2.into(), &runs.into()));
            let first: Vec<&str> = seen["first"]
                .as_array()
                .expect("a list")
                .iter()
                .filter_map(Value::as_str)
                .collect();
            assert_eq!(first[0], "commit-000 6.00 s");
            assert_eq!(first[2], "commit-000 useful 58 %, lock 42 %");
            assert_eq!(seen["chosen"], "solve, line 10  a.c");
            let text = seen["text"].as_str().expect("text");
            let last = format!("8.00 s in the latest, commit-{:03}", runs - 1);
            assert!(text.contains(&last) && text.contains("▲ slower"), "{text}");
            assert!(seen["drawn"].as_f64() < Some(4000.0), "{}", seen["drawn"]);
        }
    }
}

#[test]
fn hostile_labels_and_names_are_text() {
    let evil = "</script><img src=x onerror=\"window.errors.push('ran')\"><!--";
    let mut bad = report(5.0, &[(10, 1.0, 0.0)]);
    bad["processes"][0]["regions"][0]["name"] = evil.into();
    bad["processes"][0]["sites"][0]["cause"] = evil.into();
    bad["command"] = json!([evil]);
    let page = page(&History::of(vec![point(evil, &[bad.clone()]), point("b", &[bad])], 0.05));
    let probe = "seen.foreign = count('main script, img, [onerror]');";
    for size in WIDTHS {
        let Some(seen) = open(&page, size, probe) else { return };
        assert_eq!((&seen["foreign"], &seen["overflow"]), (&0.into(), &0.into()), "{size:?}");
        assert!(seen["text"].as_str().expect("text").contains("<img src=x"));
    }
}
