//! Tests of `findings`.

use pacman_regions::{Adaptation, Recording, Sampling};

use super::*;
use crate::quota::Throttled;
use crate::run::tests::made;

pub(super) fn findings(recording: &Recording) -> Vec<Finding> {
    of(&made::report(std::slice::from_ref(recording)).processes[0])
}

#[test]
fn the_dearest_five_regions_come_first() {
    let mut recording = made::recording(8);
    assert_eq!(findings(&recording), [], "nothing was measured");
    for (at, region) in recording.regions.iter_mut().enumerate() {
        region.outer = region.seconds;
        let ratio = if at == 2 { 0.95 } else { 0.5 };
        region.adaptation =
            Some(Adaptation { packed: vec![(1, ratio), (2, 0.97)], ..Adaptation::default() });
    }
    let found = findings(&recording);
    let gains: Vec<f64> = found.iter().map(|finding| finding.gain_s).collect();
    assert_eq!(gains, [4.0, 3.5, 2.5, 2.0, 1.5], "the third one has nothing to gain");
    assert_eq!(found[0].kind, Kind::FewerThreads);
    assert!(found[0].line().contains("on 1 of 4 contexts it takes 50 % of its time. To help: "));
    recording.regions.iter_mut().for_each(|region| region.outer = 0.01);
    assert_eq!(findings(&recording), [], "5 ms of 4 s are not worth a line");
}

#[test]
fn a_quota_that_waiting_threads_used_up_is_one() {
    let thread = |busy| made::ThreadSpec { busy, start: 0.0, waits: 0.0, cpu: 0 };
    let recording = made::timed(&[thread(4.0), thread(0.0)], "critical");
    let mut report = made::report(&[recording]);
    let process = &mut report.processes[0];
    let quotas = |process: &ProcessReport| {
        let all = of(process).into_iter().filter(|finding| finding.kind == Kind::Quota);
        all.map(|finding| finding.gain_s).collect::<Vec<_>>()
    };
    assert_eq!(quotas(process), [0.0; 0]);
    // Both processors stood still for three quarters of 8.5 s: a quarter of 4.5 s was work.
    process.throttled = Some(Throttled::made(1, 0.5, 1.5));
    assert_eq!(quotas(process), [8.5 - 2.0 * 1.125]);
    assert_eq!(of(process)[0].kind, Kind::Quota, "it is the dearest");
    // Two such processes share it, and four processors stood still.
    process.throttled = Some(Throttled::made(1, 0.5, 3.0).among(2));
    assert_eq!(quotas(process), [8.5 - 4.0 * 1.125]);
    // One of two processors stood still, because one thread slept.
    process.throttled = Some(Throttled::made(1, 0.5, 0.5));
    assert_eq!(quotas(process), [8.5 - 2.0 * 3.375]);
    process.throttled = Some(Throttled::made(1, 0.5, 0.0));
    assert_eq!(quotas(process), [0.0; 0], "all of it was work");
    process.throttled = Some(Throttled::made(2, 1.5, 1.5));
    assert_eq!(quotas(process), [0.0; 0], "two threads have something to do");
}

#[test]
fn waits_have_the_place_of_their_construct() {
    let thread = |waits| made::ThreadSpec { busy: 8.0, start: 0.0, waits, cpu: 0 };
    let recording = made::timed(&[thread(6.0), thread(4.0)], "critical");
    let found = findings(&recording);
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, Kind::Waits);
    assert!(finding.fact.contains("for a critical section"), "{finding:?}");
    assert!(finding.remedy.contains("hold the lock for less work"), "{finding:?}");
    assert_eq!(finding.gain_s, 5.0, "the threads wait 10 of their 16 s in a region of 8 s");
    assert_eq!((finding.margin_s, &*finding.gain()), (Some(0.0), "5.00 s"));

    let with = |margin| {
        let mut recording = recording.clone();
        recording.regions[0].sampling = Some(Sampling { timed: 5, margin, cost: None });
        findings(&recording)
    };
    assert_eq!(with(0.25)[0].gain(), "5.00 s ±2.00 s");
    assert_eq!(with(0.62), [], "it may be nothing");
}
