//! Tests of `chase`.

use super::*;
use crate::validate::checks::kernel::random::SplitMix;

fn chase(places: usize, held: usize) -> Chase {
    let region = Region::new(places * PAIR, Pages::Small).unwrap();
    Chase::new(region, places, held, |number| number * PAIR).unwrap()
}

/// The places of one run, step by step.
fn visits(chase: &mut Chase) -> Vec<usize> {
    let mut at = chase.at;
    let visited = (0..chase.steps)
        .map(|_| {
            at = chase.region.word(at);
            at
        })
        .collect();
    chase.run(Work::Long).unwrap();
    assert_eq!(chase.at, at);
    visited
}

/// The misses of a cache of `held` lines. `victim` chooses the line to evict, as an index into
/// the lines in order of their last use.
fn misses(visits: &[usize], held: usize, mut victim: impl FnMut(&[usize]) -> usize) -> u64 {
    let mut lines: Vec<usize> = Vec::new();
    let mut misses = 0;
    for &visit in visits {
        if let Some(found) = lines.iter().position(|&line| line == visit) {
            lines.remove(found);
        } else {
            misses += 1;
            if lines.len() == held {
                lines.remove(victim(&lines));
            }
        }
        lines.push(visit);
    }
    misses
}

#[test]
fn no_replacement_policy_leaves_the_band() {
    let mut chase = chase(1024, 64);
    let around = Around { wall: 0, ticks: 0, waits: 0, preemptions: 0 };
    let truth = chase.truth(&around);
    assert_eq!(truth, Truth { low: 61_440, high: 65_536 });
    let visits = visits(&mut chase);
    let mut random = SplitMix::fresh();
    // Keeping old lines for ever is the best that any cache can do with a cycle.
    for (policy, counted) in [
        ("least recently used", misses(&visits, 64, |_| 0)),
        ("most recently used", misses(&visits, 64, |lines| lines.len() - 1)),
        ("random", misses(&visits, 64, |lines| random.below(lines.len()))),
    ] {
        assert!((truth.low..=truth.high).contains(&counted), "{policy}: {counted}");
    }
    // A cache twice as large leaves it: the band is not so wide that all fits.
    assert!(misses(&visits, 128, |lines| lines.len() - 1) < truth.low);
}

#[test]
fn a_run_goes_on_where_the_last_one_ended() {
    let mut chase = chase(STEPS, 1);
    let begin = chase.at;
    let visited = visits(&mut chase);
    assert_eq!(visited.last(), Some(&begin), "one round of a cycle");
}
