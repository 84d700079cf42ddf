//! Tests of `waits`.

use pacman_regions::{Recording, Wait};

use super::*;
use crate::run::tests::made::{ThreadSpec, report, timed};

/// A region of two threads that wait at `sites` lines, at the line `n` for `n` times 40 ms each.
fn waiting_at(sites: usize) -> Recording {
    let spec = |start| ThreadSpec { busy: 7.5, start, waits: 0.0, cpu: 0 };
    let mut recording = timed(&[spec(0.25), spec(0.5)], "barrier");
    let waits = recording.waits.as_mut().expect("they were timed");
    let first = waits.sites[0].clone();
    waits.sites = (1..=sites)
        .map(|line| {
            let mut site = first.clone();
            site.site.source = Some(format!(";a.c;solve;{line};1;;"));
            site.site.address = line as u64;
            site
        })
        .collect();
    for states in recording.regions[0].rows.iter_mut().filter_map(|row| row.states.as_mut()) {
        states.waits = (0..sites)
            .map(|site| Wait { site, count: 2, seconds: 0.04 * (site + 1) as f64 })
            .collect();
    }
    recording
}

fn rows(sites: usize, is_short: bool) -> Vec<Vec<String>> {
    let report = report(&[waiting_at(sites)]);
    let table = table(&report.processes[0], 1, is_short).expect("threads wait");
    table.rows.into_iter().map(|row| row.cells).collect()
}

#[test]
fn the_longest_waits_come_first_and_a_line_has_the_others() {
    let rows = rows(14, true);
    let what: Vec<&str> = rows.iter().map(|cells| &*cells[4]).collect();
    let place = |line| format!("at a barrier, a.c:{line}");
    assert_eq!(what[..5], [14, 13, 12, 11, 10].map(place), "of 1 % or more");
    assert_eq!(what[5], "for its start");
    assert_eq!(what[12], "and 4 others", "the end and three barriers");
    // Two threads with 560 ms each, of two times 8 s.
    assert_eq!(rows[0][..4], ["1.12 s", "7.0", "4", "280 ms"]);
    // The waits at the end of the region are not counted.
    assert_eq!(rows[12][..4], ["730 ms", "4.6", "-", "-"]);
    assert_eq!(rows[1][5], "", "the region's name stands once");
    assert_eq!(rows.len(), 13);
}

#[test]
fn the_whole_report_has_all_waits_that_take_time() {
    let rows = rows(7, false);
    assert_eq!(rows.len(), 9);
    assert_eq!(rows[8][4], "at a barrier, a.c:1");
}

#[test]
fn calls_of_one_construct_are_one_line() {
    let mut recording = waiting_at(2);
    let sites = &mut recording.waits.as_mut().expect("they were timed").sites;
    sites[1].site.source = sites[0].site.source.clone();
    let report = report(&[recording]);
    let table = table(&report.processes[0], 1, true).expect("threads wait");
    let line = table.rows.iter().find(|row| row.cells[4].contains("a.c"));
    assert_eq!(line.expect("a line").cells[..3], ["240 ms", "1.5", "8"]);
    assert_eq!(table.rows.len(), 3);
}
