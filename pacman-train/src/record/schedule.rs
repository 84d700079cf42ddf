//! In which order configurations run.

use pacman_adapt::predict::Configuration;

/// Every configuration once a round, each round beginning elsewhere: what drifts slowly, as a
/// machine that warms up does, falls on all of them alike.
///
/// Answers the round, from 0, and the configuration of each run.
pub(super) fn rounds(all: &[Configuration], runs: u64) -> Vec<(u64, Configuration)> {
    let step = (all.len() as u64).div_ceil(runs.max(1));
    let round = |round: u64| {
        let first = (round * step) as usize % all.len().max(1);
        all[first..].iter().chain(&all[..first]).map(move |&on| (round, on))
    };
    (0..runs).flat_map(round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_all_and_positions_even_out() {
        let all: Vec<Configuration> = (1..=6).map(|n| Configuration::new(n).unwrap()).collect();
        let order = rounds(&all, 3);
        for round in 0..3 {
            let mut these: Vec<_> =
                order.iter().filter(|(of, _)| *of == round).map(|(_, on)| *on).collect();
            these.sort_unstable();
            assert_eq!(these, all);
        }
        // In a fixed order, a linear drift costs the last configuration most. With 6 configurations
        // in 3 rounds, the greatest cost is a sixth of that.
        let mean = |on: Configuration| {
            let at = order.iter().enumerate().filter(|(_, (_, other))| *other == on);
            at.map(|(place, _)| place as f64).sum::<f64>() / 3.0
        };
        let means: Vec<f64> = all.iter().map(|&on| mean(on)).collect();
        let spread = means.iter().copied().fold(f64::MIN, f64::max)
            - means.iter().copied().fold(f64::MAX, f64::min);
        assert!(spread <= 1.0, "{means:?}");
        assert_eq!(rounds(&all[..1], 2).len(), 2);
        // More rounds than configurations still begin elsewhere each time.
        let firsts: Vec<_> = rounds(&all[..2], 4).chunks(2).map(|round| round[0].1).collect();
        assert_eq!(firsts, [all[0], all[1], all[0], all[1]]);
    }
}
