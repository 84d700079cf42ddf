//! Slots by top-down category, through Linux's driver.

use super::boots::{self, Options};
use super::guest;

/// Every share of each thread and phase is right to half a point.
fn shares_are_right(options: Options, categories: usize) {
    let Some(text) = guest(options, "topdown") else { return };
    let words = |first: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(first));
        lines.map(|line| line.split(' ').collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let reads = words("reads ");
    assert_eq!(reads.len(), 2, "{text}");
    assert!(reads.iter().all(|words| words[1] == "Rdpmc"), "{text}");
    let slots = words("slots ");
    assert_eq!(slots.len(), 2 * 2 * categories, "{text}");
    let mut worst: f64 = 0.0;
    for words in slots {
        let number = |at: usize| words[at].parse::<f64>().expect("a number");
        let off = 100.0 * number(3) / number(4) - number(5) / 100.0;
        assert!(off.abs() <= 0.5, "{off} points off: {words:?}");
        worst = worst.max(off.abs());
    }
    println!(
        "lab {options:?}: {categories} categories on two siblings, {worst:.2} points off at most"
    );
}

#[test]
fn level_1_on_ice_lake() {
    shares_are_right(boots::ICE_LAKE, 4);
}

#[test]
fn both_levels_on_sapphire_rapids() {
    shares_are_right(boots::SAPPHIRE_RAPIDS, 8);
}
