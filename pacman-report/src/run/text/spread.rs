//! The threads of a wide team in one line.

use crate::median;

/// The most threads of a region or phase that have a line each.
pub(super) const IN_FULL: usize = 16;

/// The least, the median and the most of the threads' values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) least: f64,
    pub(super) median: f64,
    pub(super) most: f64,
    /// The first thread that has the most.
    pub(super) thread: u32,
}

impl Spread {
    /// Of values with the numbers of their threads; `None` without any.
    pub(super) fn of(values: impl IntoIterator<Item = (u32, f64)>) -> Option<Spread> {
        let mut values: Vec<(u32, f64)> = values.into_iter().collect();
        // Stable, so that the first one of equals stays first.
        values.sort_by(|one, other| one.1.total_cmp(&other.1));
        let (_, least) = *values.first()?;
        let (_, most) = *values.last()?;
        let (thread, _) = *values.iter().find(|(_, value)| *value == most)?;
        let (_, median) =
            median::of_sorted(&values, |one, other| (one.0, f64::midpoint(one.1, other.1)))?;
        Some(Spread { least, median, most, thread })
    }

    /// As [`of`](Self::of), of counts.
    pub(super) fn of_counts(values: impl IntoIterator<Item = (u32, u64)>) -> Option<Spread> {
        Spread::of(values.into_iter().map(|(thread, count)| (thread, count as f64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_between_the_two_in_the_middle() {
        let spread = |values: &[f64]| Spread::of((0..).zip(values.iter().copied()));
        let of = |least, median, most, thread| Some(Spread { least, median, most, thread });
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[2.0]), of(2.0, 2.0, 2.0, 0));
        assert_eq!(spread(&[3.0, 1.0]), of(1.0, 2.0, 3.0, 0));
        assert_eq!(spread(&[1.0, 9.0, 2.0, 9.0]), of(1.0, 5.5, 9.0, 1), "the first of equals");
        assert_eq!(spread(&[1.0, 2.0, 4.0]), of(1.0, 2.0, 4.0, 2));
    }
}
