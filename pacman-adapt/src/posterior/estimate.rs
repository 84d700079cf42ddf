//! The cost of one configuration, from its executions.

/// The number of latest costs whose median shows a change.
const LATEST: usize = 5;
/// The most executions that the usual cost is a mean of, so that it follows a slow drift.
const MEMORY: f64 = 64.0;
/// The executions after which a greater cost is no burst.
const LONG_BURST: f64 = 16.0;
/// The executions in which an estimate that is not refreshed loses half of its weight.
const HALF_LIFE: f64 = 512.0;

/// The posterior of a configuration's usual cost: the cost without bursts of other programs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Estimate {
    latest: [f64; LATEST],
    /// The average number of busy threads of the same executions.
    busy: [f64; LATEST],
    count: u32,
    level: f64,
    /// The executions that the level is a mean of.
    weight: f64,
    /// The number of the phase's execution that ran here last.
    seen: u64,
    /// The factor by which another configuration has changed since then; 0 if none has.
    change: f64,
    /// The level before it grew, while the executions since may be a long burst; 0 otherwise.
    before: f64,
}

/// The news of a further execution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum News {
    /// The usual cost, apart from an excess that a burst may have caused.
    Excess(f64),
    /// The usual cost is another one by this factor.
    Change(f64),
    /// The same, after the change of another configuration was seen first.
    Resolved(f64),
}

impl Estimate {
    /// Adds execution number `now`. A cost further than `tolerance` (a part) above the level is a burst,
    /// until the latest show a change.
    #[inline]
    pub(crate) fn push(&mut self, cost: f64, busy: f64, now: u64, tolerance: f64) -> News {
        if self.change != 0.0 {
            // The configuration may cost something else now, so only this execution counts.
            let factor = cost / self.level;
            *self = Estimate::default();
            self.keep(cost, busy, now);
            (self.level, self.weight) = (cost, 1.0);
            return News::Resolved(factor);
        }
        let settled = self.count >= LATEST as u32;
        self.keep(cost, busy, now);
        if !settled {
            let median = self.median();
            (self.level, self.weight) = (median, f64::from(self.count));
            return News::Excess((cost - self.level * (1.0 + tolerance)).max(0.0));
        }
        let (limit, off) = (self.level * tolerance, cost - self.level);
        // An execution within the limits completes no change: those before it would have been one.
        let change = if off.abs() > limit { self.change_beyond(limit) } else { None };
        if let Some(factor) = change {
            self.before = if factor > 1.0 { self.level } else { 0.0 };
            (self.level, self.weight) = (self.level * factor, 3.0);
            return News::Change(factor);
        }
        self.weight = (self.weight + 1.0).min(MEMORY);
        if self.weight > LONG_BURST {
            self.before = 0.0;
        }
        self.level += off.clamp(-limit, limit) / self.weight;
        News::Excess((cost - self.level - limit).max(0.0))
    }

    /// The factor by which the latest costs show a change of the level by more than `limit`. Bursts make
    /// executions longer, so the level has grown only if four of five are above it.
    #[cold]
    fn change_beyond(&self, limit: f64) -> Option<f64> {
        let median = self.median();
        let above = self.latest.iter().filter(|&&cost| cost > self.level + limit).count();
        let grows = median > self.level && above >= LATEST - 1;
        (grows || median < self.level - limit).then_some(median / self.level)
    }

    #[inline]
    fn keep(&mut self, cost: f64, busy: f64, now: u64) {
        let place = self.count as usize % LATEST;
        (self.latest[place], self.busy[place]) = (cost, busy);
        self.count = self.count.saturating_add(1);
        self.seen = now;
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn is_measured(&self) -> bool {
        self.count > 0
    }

    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    /// The usual cost; infinite before the first execution.
    #[inline]
    pub(crate) fn level(&self) -> f64 {
        if self.is_measured() { self.level } else { f64::INFINITY }
    }

    /// The two usual costs that are equally likely. If another configuration has changed: as before, or
    /// changed by the same factor. If this one has just grown: the latest, or that before, after a burst.
    pub(crate) fn levels(&self) -> [f64; 2] {
        match (self.change != 0.0, self.before > 0.0) {
            (true, _) => [self.level(), self.level * self.change],
            (false, true) => [self.before, self.level],
            (false, false) => [self.level(); 2],
        }
    }

    /// The variance of the change of the level that one more execution would make, as a part of its square.
    /// Executions vary by `noise`. It grows with the executions since the last one here.
    pub(crate) fn news(&self, noise: f64, now: u64) -> f64 {
        let age = now.saturating_sub(self.seen) as f64 / HALF_LIFE;
        let weight = (self.weight * (-age).exp2()).max(0.5);
        noise * noise / (weight * (weight + 1.0))
    }

    /// The latest cost, if it was below the level by more than `tolerance`. It is no burst, so it may be the
    /// first of a change.
    pub(crate) fn surprise(&self, tolerance: f64) -> Option<f64> {
        let latest = self.latest[self.count.checked_sub(1)? as usize % LATEST];
        (latest < (1.0 - tolerance) * self.level).then_some(latest)
    }

    /// Another configuration has changed by `factor`.
    pub(crate) fn suspect(&mut self, factor: f64) {
        if self.is_measured() {
            let so_far = if self.change == 0.0 { 1.0 } else { self.change };
            let change = so_far * factor;
            self.change = if (change - 1.0).abs() < 0.05 { 0.0 } else { change };
        }
    }

    /// The default has changed by `factor`, so this has changed as well if it was suspected.
    pub(crate) fn follow(&mut self, factor: f64) {
        if self.change != 0.0 {
            self.latest.iter_mut().for_each(|cost| *cost *= factor);
            self.level *= factor;
            (self.change, self.before, self.weight) = (0.0, 0.0, 1.0);
        }
    }

    /// The highest average of busy threads; infinite if one is unknown.
    pub(crate) fn parallelism(&self) -> f64 {
        let kept = LATEST.min(self.count as usize);
        // Most callers know none.
        if kept == 0 || self.busy[0] == f64::INFINITY {
            return f64::INFINITY;
        }
        self.busy[..kept].iter().copied().fold(0.0, f64::max)
    }

    /// The median of the latest costs. Of two it is the lower one, because disturbances only add cost.
    #[inline]
    fn median(&self) -> f64 {
        match LATEST.min(self.count as usize) {
            LATEST => middle(self.latest),
            kept => {
                let mut sorted = self.latest;
                sorted[..kept].sort_unstable_by(f64::total_cmp);
                sorted[kept.saturating_sub(1) / 2]
            }
        }
    }

    /// Half the distance of the first two costs as a part of the level, or the median deviation of more.
    pub(crate) fn spread(&self) -> f64 {
        let kept = LATEST.min(self.count as usize);
        if kept < 2 {
            return 0.0;
        }
        let mut off = self.latest.map(|cost| (cost - self.level).abs());
        off[..kept].sort_unstable_by(f64::total_cmp);
        (if kept == 2 { off[1] / 2.0 } else { off[kept / 2] }) / self.level
    }
}

/// The median of five without a branch, because every execution needs it.
///
/// It orders two pairs, and leaves out the lowest and the highest of the four.
#[inline]
fn middle([a, b, c, d, e]: [f64; LATEST]) -> f64 {
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
}
