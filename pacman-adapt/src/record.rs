//! The latest measurements at one configuration.

/// Number of costs kept: so few that their median takes nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    latest: [f64; KEPT],
    /// The average number of busy threads of the same executions.
    busy: [f64; KEPT],
    count: u32,
    /// See [`level`](Self::level): it is read more often than it changes.
    level: f64,
    /// The only cost is of an earlier run; the first execution replaces it.
    recalled: bool,
}

const KEPT: usize = 5;

impl Record {
    pub(super) fn push(&mut self, cost: f64, parallelism: Option<f64>) {
        self.keep(cost, parallelism);
        self.level = self.median();
    }

    /// Adds several costs in a row, without busy times.
    pub(super) fn push_all(&mut self, costs: &[f64]) {
        costs.iter().for_each(|&cost| self.keep(cost, None));
        self.level = self.median();
    }

    /// Takes the cost that an earlier run measured, until an execution replaces it.
    pub(super) fn recall(&mut self, cost: f64) {
        self.push(cost, None);
        self.recalled = true;
    }

    /// Whether only an earlier run has measured it.
    pub(super) fn is_recalled(&self) -> bool {
        self.recalled
    }

    fn keep(&mut self, cost: f64, parallelism: Option<f64>) {
        if self.recalled {
            self.forget();
        }
        let place = self.count as usize % KEPT;
        self.latest[place] = cost;
        self.busy[place] = parallelism.unwrap_or(f64::INFINITY);
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

    /// The highest average of busy threads; infinite if one is unknown.
    pub(super) fn parallelism(&self) -> f64 {
        let most = self.busy[..self.kept()].iter().copied().reduce(f64::max);
        most.unwrap_or(f64::INFINITY)
    }

    /// The median of the latest costs. Of two it is the lower one, because disturbances only add
    /// cost.
    pub(super) fn level(&self) -> f64 {
        if self.is_measured() { self.level } else { f64::INFINITY }
    }

    fn median(&self) -> f64 {
        match self.kept() {
            0 => f64::INFINITY,
            KEPT => middle(self.latest),
            kept => {
                let mut sorted = self.latest;
                sorted[..kept].sort_unstable_by(f64::total_cmp);
                sorted[(kept - 1) / 2]
            }
        }
    }

    /// The median deviation from the level, as a part of it. For two costs it is half their
    /// distance.
    pub(super) fn spread(&self) -> f64 {
        let (kept, level) = (self.kept(), self.level());
        let mut off = self.latest.map(|cost| (cost - level).abs());
        let deviation = match kept {
            0 | 1 => return 0.0,
            KEPT => middle(off),
            _ => {
                off[..kept].sort_unstable_by(f64::total_cmp);
                if kept == 2 { off[1] / 2.0 } else { off[kept / 2] }
            }
        };
        deviation / level
    }

    /// Multiplies all measured costs by `factor`.
    pub(super) fn scale(&mut self, factor: f64) {
        self.latest.iter_mut().for_each(|cost| *cost *= factor);
        self.level = self.median();
    }

    /// Adds `cost` to the latest execution.
    pub(super) fn amend(&mut self, cost: f64) {
        if let Some(latest) = self.count.checked_sub(1) {
            self.latest[latest as usize % KEPT] += cost;
            self.level = self.median();
        }
    }

    /// Forgets all measurements.
    pub(super) fn forget(&mut self) {
        *self = Record::default();
    }
}

/// The median of five without a branch, because every execution needs it.
///
/// It orders two pairs, and leaves out the lowest and the highest of the four.
fn middle([a, b, c, d, e]: [f64; KEPT]) -> f64 {
    let low = a.min(b).max(c.min(d));
    let high = a.max(b).min(c.max(d));
    let (low, high) = (low.min(high), low.max(high));
    low.max(high.min(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_five_is_the_third_in_order() {
        for code in 0..5usize.pow(5) {
            let five = [1, 5, 25, 125, 625].map(|place| (code / place % 5) as f64);
            let mut sorted = five;
            sorted.sort_unstable_by(f64::total_cmp);
            assert_eq!(middle(five), sorted[2], "{five:?}");
        }
    }

    #[test]
    fn one_outlier_moves_neither_level_nor_spread() {
        let mut record = Record::default();
        [1.0, 1.02, 50.0, 0.98, 1.0].into_iter().for_each(|cost| record.push(cost, None));
        assert_eq!(record.level(), 1.0);
        assert!(record.spread() < 0.03);
        (0..3).for_each(|_| record.push(2.0, None));
        assert_eq!(record.level(), 2.0, "three of five latest");
    }
}
