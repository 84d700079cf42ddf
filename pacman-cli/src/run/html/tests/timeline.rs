//! The picture over time, of a run whose bins are known.

use pacman_regions::{Recording, TimelineRow};

use crate::run::html::timeline;
use crate::run::made::{recording, report};

fn row(region: usize, thread_seconds: &[f64]) -> TimelineRow {
    let seconds = thread_seconds.iter().map(|time| time.min(1.0)).collect();
    TimelineRow { region, seconds, thread_seconds: thread_seconds.to_vec() }
}

fn picture(recording: Recording) -> String {
    let report = report(&[recording]);
    timeline::section(report.observed().next().expect("it has regions"), 0)
}

#[test]
fn areas_stand_on_each_other_and_end_with_the_process() {
    let mut recording = recording(2);
    recording.timeline.rows = vec![row(0, &[4.0, 2.0]), row(1, &[0.0, 1.0])];
    let picture = picture(recording);
    assert!(picture.contains("viewBox=\"0 0 4 100\""), "4 s in bins of 1 s: {picture}");
    // From the top left corner along the upper edge, back along the lower one; 4 threads high.
    let below = "d=\"M0 0.00H1V50.00H2V100.00H0Z\"";
    let above = "d=\"M0 0.00H1V25.00H2V100.00H2V50.00H1V0.00H0Z\"";
    assert!(picture.contains(below) && picture.contains(above), "{picture}");
}

#[test]
fn regions_beyond_the_colours_are_one_area_and_bins_are_few() {
    let mut recording = recording(11);
    recording.process.seconds = 1000.0;
    recording.timeline.rows = (0..11).map(|at| row(at, &[0.5; 1000])).collect();
    let picture = picture(recording);
    assert_eq!(picture.matches("<path class=\"area ").count(), 9);
    assert!(picture.contains("<title>3 other regions</title>"));
    assert!(picture.contains("viewBox=\"0 0 500 100\""), "two bins in one: {picture}");
}

#[test]
fn no_timeline_is_said() {
    assert!(picture(recording(1)).contains("too short for a timeline"));
}
