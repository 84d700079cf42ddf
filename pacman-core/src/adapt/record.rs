//! What was measured at one configuration lately.

/// The latest costs, few enough that the median is a matter of nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    latest: [f64; KEPT],
    count: u32,
}

const KEPT: usize = 5;

impl Record {
    pub(super) fn push(&mut self, cost: f64) {
        self.latest[self.count as usize % KEPT] = cost;
        self.count = self.count.saturating_add(1);
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn is_measured(&self) -> bool {
        self.count > 0
    }

    fn kept(&self) -> usize {
        KEPT.min(self.count as usize)
    }

    /// The median of the latest; of two the lesser, because what disturbs an execution adds.
    pub(super) fn level(&self) -> f64 {
        if self.kept() == 0 {
            return f64::INFINITY;
        }
        let mut sorted = self.latest;
        let sorted = &mut sorted[..self.kept()];
        sorted.sort_unstable_by(f64::total_cmp);
        sorted[(sorted.len() - 1) / 2]
    }

    /// The median deviation from the level, as a part of it; of two, half their distance.
    pub(super) fn spread(&self) -> f64 {
        let (kept, level) = (self.kept(), self.level());
        if kept < 2 {
            return 0.0;
        }
        let mut off = self.latest.map(|cost| (cost - level).abs());
        let off = &mut off[..kept];
        off.sort_unstable_by(f64::total_cmp);
        let middle = if kept == 2 { off[1] / 2.0 } else { off[kept / 2] };
        middle / level
    }

    /// As if nothing had been measured.
    pub(super) fn forget(&mut self) {
        *self = Record::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_moves_neither_level_nor_spread() {
        let mut record = Record::default();
        [1.0, 1.02, 50.0, 0.98, 1.0].into_iter().for_each(|cost| record.push(cost));
        assert_eq!(record.level(), 1.0);
        assert!(record.spread() < 0.03);
        (0..3).for_each(|_| record.push(2.0));
        assert_eq!(record.level(), 2.0, "three of five latest");
    }
}
