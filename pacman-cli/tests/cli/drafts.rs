//! Files that are written as a whole, in directories that others may write to, too.

use std::fs;
use std::path::Path;

use super::scratch::Scratch;
use super::text;

#[test]
fn a_report_that_is_there_stays_until_the_new_one_is_written() {
    let place = Scratch::new();
    for options in [&["stat", "-e", "task-clock"][..], &["smt", "--method", "idle"]] {
        let report = place.file("report", "the old one");
        let answer = super::pacman_pmu(options)
            .arg("-o")
            .args([&report, Path::new("--"), Path::new("cat"), &report])
            .output()
            .expect("the command was built");
        assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(0), "the old one"));
        let new = fs::read_to_string(&report).unwrap();
        assert!(!new.is_empty() && !new.contains("the old one"), "{new}");
    }
}
