//! The decoded form of counts whose event sets took turns.

use super::sorted::Sorted;
use crate::Row;

/// Fills in the counts of a row of `region` from those of its sets, if sets took turns: each estimated
/// for all executions from those in which its event was counted. An event without any has no count.
pub(super) fn estimate(row: &mut Row, sorted: &Sorted<'_>, region: u32) {
    if sorted.sets.len() < 2 {
        return;
    }
    let mut sums = vec![(0u64, 0u64); sorted.events.len()];
    row.counted = 0;
    for (set, events) in (0..).zip(&sorted.sets) {
        let Some(own) = sorted.set_rows.get(&(region, row.thread, set)) else { continue };
        row.counted = row.counted.saturating_add(own.counted);
        for (event, count) in events.iter().zip(own.counts) {
            let (sum, counted) = &mut sums[*event];
            *sum = sum.wrapping_add(count);
            *counted = counted.saturating_add(own.counted);
        }
    }
    let executions = row.executions;
    row.counts = sums.iter().map(|&(sum, counted)| scaled(sum, executions, counted)).collect();
    // The process may have ended between the two stores.
    row.counted = row.counted.min(executions);
    row.counted_by_event = sums.iter().map(|(_, counted)| (*counted).min(executions)).collect();
}

/// The count for all executions; `None` without a counted one.
fn scaled(sum: u64, executions: u64, counted: u64) -> Option<u64> {
    match counted {
        0 => None,
        counted if counted >= executions => Some(sum),
        // A sum that went backwards stays as it is, so that the reader of the recording sees it.
        _ if (sum as i64) < 0 => Some(sum),
        counted => {
            let product = u128::from(sum) * u128::from(executions) + u128::from(counted / 2);
            Some(u64::try_from(product / u128::from(counted)).unwrap_or(u64::MAX))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_executions_is_scaled_to_all_of_them() {
        assert_eq!(scaled(25, 400, 100), Some(100));
        assert_eq!(scaled(7, 3, 2), Some(11), "10.5 is rounded");
        assert_eq!(scaled(7, 3, 3), Some(7));
        assert_eq!(scaled(0, 3, 0), None, "0 would be wrong");
        assert_eq!(scaled(u64::MAX / 2, 10, 2), Some(u64::MAX), "no wrapping");
        let backwards = 5u64.wrapping_neg();
        assert_eq!(scaled(backwards, 10, 2), Some(backwards));
    }
}
