//! Known answers, and the right verdicts on a synthetic counter.

use pacman_suite::Texts;
use proptest::prelude::*;

use super::*;

fn of_exactly(truth: u64, counts: &[i64]) -> Verdict {
    of_band(truth, truth, counts)
}

fn of_band(low: u64, high: u64, counts: &[i64]) -> Verdict {
    let truth = Truth { low, high };
    let samples: Vec<Sample> = counts.iter().map(|&counted| Sample { truth, counted }).collect();
    Verdict::of(&samples)
}

#[test]
fn verdicts_on_known_counters() {
    let file = "snapshots/validate-verdicts.txt";
    let mut told = Texts::new(env!("CARGO_MANIFEST_DIR"), file, "verdicts on known counters");
    for verdict in [
        of_exactly(1000, &[1000; 4]),
        // An interrupt disturbed one repeat in four.
        of_exactly(10_000, &[10_000, 10_000, 10_003, 10_000]),
        // Interrupts disturbed two: a counter that is right only half of the time is not exact.
        of_exactly(10_000, &[10_000, 10_000, 10_003, 10_001]),
        // Right, and then off by more than interrupts explain.
        of_exactly(1000, &[1000, 1000, 1000, 1002]),
        of_exactly(1000, &[951, 1000, 1049]),
        of_exactly(1000, &[2000, 2010, 1990]),
        of_exactly(1000, &[500, 500, 505]),
        // Sandy Bridge's floating-point events on memory operands: a factor that wanders
        // between 4 and 6 cannot be corrected for.
        of_exactly(1000, &[4000, 5000, 6000]),
        of_exactly(1000, &[0; 5]),
        of_exactly(1000, &[-3, 2, 9]),
        of_exactly(1000, &[1000, 1000, 1000, 1_099_511_627_776]),
        of_exactly(1000, &[1000, 1000, 1000, -5, 1000, -9]),
        // Off by as much on both sides, in either order.
        of_exactly(1000, &[1000, 1000, 906, 1094]),
        of_exactly(1000, &[1094, 906, 1000, 1000]),
        // Nothing is known of the inside of a band, so its width is in the error.
        of_band(900, 1000, &[900, 1000]),
        of_band(900, 1000, &[950, 950]),
        of_band(990, 1010, &[2000, 2000]),
    ] {
        told.add(verdict);
    }
}

#[test]
fn a_counter_inside_a_band_is_not_called_exact() {
    assert_eq!(of_band(999, 1000, &[1000; 8]).id(), "within");
}

#[test]
fn programs_see_which_way_it_is_wrong() {
    let ids = [&[1000][..], &[1040], &[3000], &[300], &[0]].map(|counts| {
        let verdict = of_exactly(1000, counts);
        (verdict.id(), verdict.is_usable())
    });
    assert_eq!(
        ids,
        [("exact", true), ("within", true), ("over", true), ("under", true), ("unusable", false)]
    );
}

/// The verdict on a counter of factor `factor` and noise up to `noise`, from the definitions in
/// words and its least and greatest factor; `None` next to a boundary.
fn deserved(truth: f64, ratios: &[f64]) -> Option<&'static str> {
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Counts are whole: factors are known to one part in `truth`.
    let grain = 2.0 / truth;
    let off = (1.0 - least).max(most - 1.0);
    if off == 0.0 {
        return Some("exact");
    }
    let near = |value: f64, bound: f64| (value - bound).abs() < grain;
    if off < 0.0015 || near(off, 0.05) {
        return None;
    }
    if off < 0.05 {
        return Some("within");
    }
    if near(most, 0.01) {
        return None;
    }
    if most < 0.01 {
        return Some("unusable");
    }
    let mut sorted = ratios.to_vec();
    sorted.sort_by(f64::total_cmp);
    let spread = (most - least) / sorted[sorted.len() / 2];
    if (spread - 0.05).abs() < 3.0 * grain / least {
        return None;
    }
    Some(if spread > 0.05 {
        "unusable"
    } else if most > 1.0 {
        "over"
    } else {
        "under"
    })
}

proptest! {
    #[test]
    fn a_synthetic_counter_gets_the_verdict_it_deserves(
        truth in 100_000u64..10_000_000,
        factor in prop_oneof![Just(1.0), 0.0..0.02, 0.9..1.1, 0.1..8.0],
        noise in prop_oneof![Just(0.0), 0.0..0.1, 0.0..0.9],
        luck in prop::collection::vec(-1.0..1.0f64, 3..40),
    ) {
        let counts: Vec<i64> = luck
            .iter()
            .map(|luck| (truth as f64 * factor * (1.0 + noise * luck)).round() as i64)
            .collect();
        let ratios: Vec<f64> =
            counts.iter().map(|&count| count as f64 / truth as f64).collect();
        let verdict = of_exactly(truth, &counts);
        if let Some(deserved) = deserved(truth as f64, &ratios) {
            prop_assert_eq!(verdict.id(), deserved, "{} of {:?}", verdict, ratios);
        }
        match verdict {
            Verdict::Within { error } => {
                for ratio in &ratios {
                    prop_assert!((ratio - 1.0).abs() <= error + 1e-12);
                }
            }
            // Dividing by the factor makes the counter close enough: that is its use.
            Verdict::Factor { factor: found, .. } => {
                for ratio in &ratios {
                    prop_assert!((ratio / found - 1.0).abs() <= STABLE);
                }
                prop_assert!((found / factor - 1.0).abs() <= noise + 1e-3 / factor);
            }
            _ => {}
        }
    }

    #[test]
    fn the_order_of_repeats_does_not_matter(
        counts in prop::collection::vec(900i64..1200, 1..12),
        turn in 0usize..12,
    ) {
        let mut turned = counts.clone();
        turned.rotate_left(turn % counts.len());
        prop_assert_eq!(of_exactly(1000, &counts), of_exactly(1000, &turned));
    }
}
