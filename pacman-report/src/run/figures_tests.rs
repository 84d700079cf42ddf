//! Each figure of a region is in each form of a report.

use std::collections::HashMap;

use pacman_regions::Recording;
use serde_json::Value;

use crate::run::report::{FIGURES, Unit};
use crate::run::tests::made::{self, ThreadSpec, timed};
use crate::run::text::Extent;
use crate::run::{csv, json, text};

/// A region whose waits were timed; two threads were on no processor for so many seconds each.
fn recording(off: f64) -> Recording {
    let thread = |waits: f64, cpu: u32| ThreadSpec { busy: 7.5, start: 0.25, waits, cpu };
    let mut recording = timed(&[thread(3.0, 0), thread(1.0, 2)], "lock");
    for row in &mut recording.regions[0].rows {
        let states = row.states.as_mut().expect("waits were timed");
        (states.useful_off, states.waiting_off) = (Some(off), Some(off / 2.0));
    }
    recording.overhead.nanoseconds = Some(50.0);
    recording
}

/// Its report in JSON.
pub(crate) fn written(off: f64) -> String {
    json::write(&made::report(&[recording(off)]))
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn json_csv_and_text_have_every_figure() {
    let report = made::report(&[recording(0.5)]);
    let document = read(&written(0.5));
    let region = &document["processes"][0]["regions"][0];
    let csv = csv::write(&report);
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    let heading = reader.headers().expect("a heading").clone();
    let row = reader.records().next().expect("a row").expect("as many fields as columns");
    let row: HashMap<&str, &str> = heading.iter().zip(&row).collect();
    assert_eq!(row.len(), heading.len(), "two columns have one name: {heading:?}");
    let text = text::write(&report, Extent::default(), 200);
    for (at, figure) in FIGURES.iter().enumerate() {
        let value = region[figure.name].as_f64();
        assert!(value.is_some(), "{} is absent: {region:#}", figure.name);
        let about = &document["region_figures"][at];
        assert_eq!((&about["name"], &about["about"]), (&figure.name.into(), &figure.about.into()));
        let cell = row.get(&*format!("region_{}", figure.name)).or_else(|| row.get(figure.name));
        let cell: Option<f64> = cell.and_then(|cell| cell.parse().ok());
        let (value, cell) = (value.unwrap_or(f64::NAN), cell.unwrap_or(f64::NAN));
        assert!((value - cell).abs() < 1e-9, "{}: {value} and {cell}: {csv}", figure.name);
        for line in figure.heading.into_iter().flatten() {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
    let steady =
        text.lines().filter(|line| !line.starts_with("on ")).map(|line| format!("{line}\n"));
    let steady: String = steady.collect();
    pacman_suite::snapshot(env!("CARGO_MANIFEST_DIR"), "snapshots/run.txt", &steady);
    let seconds = FIGURES.iter().filter(|figure| figure.unit == Unit::Seconds);
    assert!(seconds.clone().all(|figure| figure.name.ends_with("_s")), "names have their unit");
    // A figure that was not measured is null, and not 0.
    let thread = ThreadSpec { busy: 7.5, start: 0.25, waits: 3.0, cpu: 0 };
    let document = read(&json::write(&made::report(&[timed(&[thread], "lock")])));
    let region = &document["processes"][0]["regions"][0];
    assert_eq!((&region["useful_off_s"], &region["overhead"]), (&().into(), &().into()));
}
