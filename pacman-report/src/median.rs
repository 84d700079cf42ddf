//! The median: one rule for every figure of which there are several.

/// The value in the middle of sorted ones, or the `mean` of the two there; `None` without any.
pub(crate) fn of_sorted<T: Copy>(sorted: &[T], mean: impl FnOnce(T, T) -> T) -> Option<T> {
    let after = *sorted.get(sorted.len() / 2)?;
    let before = sorted[(sorted.len() - 1) / 2];
    Some(if sorted.len() % 2 == 1 { after } else { mean(before, after) })
}

/// The median of numbers in any order.
pub(crate) fn of(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut numbers: Vec<f64> = numbers.into_iter().collect();
    numbers.sort_by(f64::total_cmp);
    of_sorted(&numbers, f64::midpoint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_between_the_two_in_the_middle() {
        assert_eq!(of([]), None);
        assert_eq!(of([2.0]), Some(2.0));
        assert_eq!(of([3.0, 1.0]), Some(2.0));
        assert_eq!(of([9.0, 1.0, 4.0]), Some(4.0));
        assert_eq!(of([1.0, 9.0, 2.0, 9.0]), Some(5.5));
        assert_eq!(of([f64::MAX, f64::MAX]), Some(f64::MAX), "no overflow");
    }
}
