//! The size of JSON reports of wide teams.

use super::json;
use super::tests::made::{report_on, wide};

/// The length of the whole report for each thread of a region.
fn bytes_of_a_thread(threads: u32, regions: usize, events: &[&str]) -> f64 {
    let report = report_on(threads.div_ceil(2), &[wide(threads, regions, events)]);
    json::write(&report).len() as f64 / (f64::from(threads) * regions as f64)
}

/// All of the report is divided among its threads, what regions have of their own as well.
#[test]
fn a_thread_of_a_region_takes_120_bytes_at_most() {
    let bytes = bytes_of_a_thread(256, 50, &[]);
    println!("{bytes:.1} bytes for each thread of a region");
    assert!(bytes <= 120.0, "{bytes:.1} bytes for each thread of a region");
}

/// Each event adds three counts, of all time, of useful time and of waits, with the figures that follow from them.
#[test]
fn a_count_of_a_thread_adds_100_bytes_at_most() {
    let (without, with) =
        (bytes_of_a_thread(256, 20, &[]), bytes_of_a_thread(256, 20, &["CYCLES", "INSTRUCTIONS"]));
    println!("{with:.1} bytes with two events, {without:.1} without");
    assert!(with - without <= 200.0, "{with:.1} bytes with two events, {without:.1} without");
}
