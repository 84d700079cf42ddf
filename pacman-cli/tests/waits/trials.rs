//! Comparisons of a program's own clock with the library's, which other work may come between.
//!
//! A thread that loses its processor between the two clocks is on one side of an edge by the one, and on the other
//! side by the other. So a figure is held against the program's own in one of several runs. Where other work is at it in all
//! of them, two figures still differ by no more than the time that the threads of the program lost: the kernel has that
//! for each (`lost.c`).

use std::collections::BTreeMap;
use std::fmt::Debug;

use pacman_suite::skipped_part;

/// A source that the programs are compiled with.
pub(super) const LOST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits/lost.c");

/// The figures of one run that differ from what is known.
pub(super) struct Differences<K> {
    /// By more than clocks do.
    wrong: BTreeMap<K, String>,
    /// By more than that and the time that the program lost.
    impossible: BTreeMap<K, String>,
}

impl<K: Ord + Clone> Differences<K> {
    pub(super) fn new() -> Differences<K> {
        Differences { wrong: BTreeMap::new(), impossible: BTreeMap::new() }
    }

    /// Compares a figure with what is known of it, in seconds; `lost` are those that the program lost meanwhile.
    pub(super) fn compare(&mut self, key: K, seen: f64, known: f64, bound: f64, lost: f64) {
        let apart = (seen - known).abs();
        let says = || format!("{seen} s of {known} s, {lost} s lost");
        if apart.is_nan() || apart > bound {
            self.wrong.insert(key.clone(), says());
        }
        if apart.is_nan() || apart > bound + lost {
            self.impossible.insert(key, says());
        }
    }
}

/// Runs until each figure was right once, `runs` times at most.
///
/// # Panics
///
/// If a figure differed in all runs by more than the program lost. If one was wrong in all of them, and right but for what
/// was lost, `what` is skipped.
pub(super) fn each_is_right_once<K: Ord + Clone + Debug>(
    what: &str,
    runs: u32,
    mut run: impl FnMut() -> Differences<K>,
) {
    let mut left = run();
    for _ in 1..runs {
        if left.wrong.is_empty() {
            return;
        }
        let now = run();
        left.wrong.retain(|key, _| now.wrong.contains_key(key));
        left.impossible.retain(|key, _| now.impossible.contains_key(key));
    }
    assert!(left.impossible.is_empty(), "{what}: {:#?}", left.impossible);
    if !left.wrong.is_empty() {
        skipped_part(what, "other work has the processors");
    }
}
