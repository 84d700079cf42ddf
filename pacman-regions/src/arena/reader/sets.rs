//! The decoded form of counts whose event sets took turns.

use super::set_sum::SetSum;
use super::sorted::Sorted;
use crate::Row;

/// Fills in the counts of a row of `region` from those of its sets, if sets took turns: each estimated
/// for all counted executions from those that counted its event. An event without any has no count, and neither
/// has one whose interval is wider than the estimate.
pub(super) fn estimate(row: &mut Row, sorted: &Sorted<'_>, region: u32) {
    if sorted.sets.len() < 2 {
        return;
    }
    let of_row = |set: u32| sorted.set_rows.get(&(region, row.thread, set));
    let sets: Vec<Option<&SetSum>> = (0..sorted.sets.len() as u32).map(of_row).collect();
    let known = || sets.iter().flatten();
    let all = known().map(|own| own.counted).fold(0, u64::saturating_add);
    let of_all = All {
        measure: known().map(|own| own.measure as f64).sum(),
        squares: known().map(|own| own.measure_squares).fold(0.0, f64::max),
        longest: known().map(|own| own.longest as f64).fold(0.0, f64::max),
    };
    row.counts = vec![None; sorted.events.len()];
    row.margins = vec![0.0; sorted.events.len()];
    row.counted_by_event = vec![0; sorted.events.len()];
    for event in 0..sorted.events.len() {
        let place = |set: &Vec<usize>| set.iter().position(|own| *own == event);
        let places = sorted.sets.iter().map(place);
        let parts: Vec<(&SetSum, usize)> =
            places.zip(&sets).filter_map(|(place, set)| Some(((*set)?, place?))).collect();
        let sum = parts.iter().fold(0u64, |sum, (set, at)| sum.wrapping_add(set.counts[*at]));
        let counted = parts.iter().map(|(set, _)| set.counted).fold(0, u64::saturating_add);
        row.counted_by_event[event] = counted.min(row.executions);
        if counted == 0 {
            continue;
        }
        // A sum that went backwards stays as it is, so that the reader of the recording sees it.
        if counted >= all || (sum as i64) < 0 {
            row.counts[event] = Some(sum);
            continue;
        }
        let Some((value, margin)) = of_all.estimate(&parts, sum, || {
            let of_team = sorted.set_rows.range((region, 0, 0)..=(region, u32::MAX, u32::MAX));
            let rate = of_team.filter_map(|(&(.., set), own)| {
                let place = sorted.sets.get(set as usize).and_then(place)?;
                Some(own.rates[place])
            });
            rate.fold(0.0, f64::max)
        }) else {
            continue;
        };
        (row.counts[event], row.margins[event]) = (Some(value), margin);
    }
    // The process may have ended between the two stores.
    row.counted = all.min(row.executions);
}

/// All counted executions of a row, whatever set they counted.
struct All {
    measure: f64,
    /// The sum of the squares of the turns' measures, in the set where it is greatest.
    squares: f64,
    longest: f64,
}

/// Each of two bounds is exceeded in one of 40 cases at most, so that both hold in 95 of 100.
const MISSES: f64 = 0.025;

impl All {
    /// The count for all of them and half of its interval; `None` if that is wider than the count.
    ///
    /// The count is scaled by the measure, which is known for all of them. So the only error is that turns of
    /// other sets had more or fewer counts for their measure. In each block of turns the set of each was drawn at
    /// random. So the sum of these differences over the counted turns is near its mean. Hoeffding's inequality
    /// bounds the distance by the differences' range alone. The empirical one of Bernstein (Maurer and Pontil, 2009)
    /// is closer where the differences are small. The range is the greatest rate of the
    /// region's turns on any thread.
    fn estimate(
        &self,
        parts: &[(&SetSum, usize)],
        sum: u64,
        most: impl Fn() -> f64,
    ) -> Option<(u64, f64)> {
        let over = |of: fn(&SetSum) -> f64| parts.iter().map(|(set, _)| of(set)).sum::<f64>();
        let (turns, measure) = (over(|set| set.turns as f64), over(|set| set.measure as f64));
        // Without a count, nothing is known of the rate that other turns had.
        if turns < 1.0 || measure <= 0.0 || sum == 0 {
            return None;
        }
        let rate = sum as f64 / measure;
        let most = most();
        // An event of several sets has as many turns in each block.
        let drawn = self.squares * parts.len() as f64;
        let hoeffding = most * (drawn * (2.0 / MISSES).ln() / 2.0).sqrt();
        let squares: f64 = parts
            .iter()
            .map(|(set, at)| {
                let product = 2.0 * rate * set.products[*at];
                set.squares[*at] - product + rate * rate * set.measure_squares
            })
            .sum();
        let far = (4.0 / MISSES).ln();
        let bernstein = if turns < 2.0 { f64::INFINITY } else { turns / (turns - 1.0) };
        let bernstein = (2.0 * far * squares.max(0.0) * bernstein).sqrt()
            + 7.0 / 3.0 * far * most * self.longest * bernstein;
        let value = rate * self.measure;
        let margin = hoeffding.min(bernstein) * self.measure / measure;
        (margin <= value).then_some(((value.round() as u64).max(sum), margin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A set with half of the turns, each with a measure of 1 and these counts.
    fn half(counts: &[u64]) -> SetSum {
        let mut set = SetSum { turns: counts.len() as u64, ..SetSum::default() };
        (set.measure, set.measure_squares) = (set.turns, set.turns as f64);
        for count in counts.iter().map(|count| *count as f64) {
            set.squares[0] += count * count;
            set.products[0] += count;
            set.rates[0] = set.rates[0].max(count);
        }
        set
    }

    fn estimate(counts: &[u64]) -> Option<(u64, f64)> {
        let set = half(counts);
        let turns = counts.len() as f64;
        let most = || set.rates[0];
        let all = All { measure: 2.0 * turns, squares: turns, longest: 1.0 };
        all.estimate(&[(&set, 0)], counts.iter().sum(), most)
    }

    #[test]
    fn many_equal_turns_say_much_and_few_say_nothing() {
        assert_eq!(estimate(&[9]), None);
        assert_eq!(estimate(&[9, 9]), None);
        let (value, margin) = estimate(&[9; 12]).expect("an interval");
        assert!(value == 216 && (80.0..100.0).contains(&margin), "{margin}");
        let (value, margin) = estimate(&[9; 10_000]).expect("an interval");
        assert!(value == 180_000 && margin < 300.0, "{margin}");
    }

    #[test]
    fn turns_that_differ_widen_the_interval() {
        let even = estimate(&[9; 1000]).expect("an interval").1;
        let mut counts = [0; 1000];
        counts[7] = 9000;
        assert_eq!(estimate(&counts), None, "all counts are of one turn");
        let counts: Vec<u64> = (0..1000).map(|at| 18 * (at % 2)).collect();
        assert!(
            estimate(&counts).is_some_and(|(value, wide)| value == 18_000 && wide > 3.0 * even)
        );
    }

    #[test]
    fn no_counts_say_nothing_of_other_turns() {
        assert_eq!(estimate(&[0; 1000]), None);
    }
}
