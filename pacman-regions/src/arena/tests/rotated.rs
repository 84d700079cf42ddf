//! Recordings whose event sets took turns.

use super::super::*;
use super::specimen;
use crate::{Event, Recording};

/// Three events in two sets: the first one is in both.
fn rotated() -> Recording {
    let mut recording = specimen::recording();
    recording.events = ["task-clock", "CYCLES", "LOADS"].map(Event::unknown).to_vec();
    recording.sets = vec![vec![0, 1], vec![0, 2]];
    recording.waits = None;
    recording.logs.clear();
    for phase in &mut recording.phases {
        for thread in &mut phase.threads {
            (thread.row.counts, thread.row.counted) = (vec![None; 3], 0);
            // They come from the waits.
            thread.states = None;
        }
    }
    let region = &mut recording.regions[0];
    region.sampling = None;
    region.executions = 5000;
    region.teams[0].executions = 5000;
    for row in &mut region.rows {
        row.states = None;
        (row.executions, row.counted) = (5000, 5000);
        row.counts = vec![Some(77), Some(100_000), Some(50_000)];
        row.counted_by_event = vec![5000, 4000, 1000];
    }
    recording
}

#[test]
fn counts_of_sets_are_scaled_to_all_executions() {
    let mut recording = rotated();
    let [read] = &read(&image_of(std::slice::from_ref(&recording))).expect("an arena")[..] else {
        panic!("one")
    };
    for (row, expected) in read.regions[0].rows.iter().zip(&mut recording.regions[0].rows) {
        let [exact, near, far] = row.margins[..] else { panic!("three") };
        assert!(exact == 0.0 && near > 100.0 && far > near && far < 25_000.0, "{:?}", row.margins);
        expected.margins.clone_from(&row.margins);
    }
    assert_eq!(*read, recording);
    let shares = [0, 1, 2].map(|event| read.regions[0].rows[0].counted_share(event));
    assert_eq!(shares, [None, Some(0.8), Some(0.2)], "the first event was always counted");
}

#[test]
fn an_event_whose_set_had_no_execution_has_no_count() {
    let mut recording = rotated();
    for row in &mut recording.regions[0].rows {
        row.counts = vec![Some(77), Some(100_000), Some(0)];
        row.counted_by_event = vec![5000, 5000, 0];
    }
    let read = read(&image_of(&[recording])).expect("an arena");
    for row in &read[0].regions[0].rows {
        assert_eq!(row.counts, [Some(77), Some(100_000), None], "0 would be wrong");
        assert_eq!((row.counted, row.counted_share(2)), (5000, Some(0.0)));
    }
}
