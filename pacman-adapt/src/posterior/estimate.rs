//! The usual cost of one configuration, from its executions.

/// The latest costs that are kept. Their median is right while two of five are disturbed.
const LATEST: usize = 5;
/// The executions above the usual cost, of the latest, that show that it has grown: bursts only make executions
/// longer, so one more than a median needs.
const SHOWN: usize = LATEST - 1;
/// The most executions that the usual cost is a mean of, so that it follows a slow drift.
const MEMORY: f64 = 64.0;
/// The executions in which an estimate that is not refreshed loses half of its weight. Without that noise of 6 % keeps
/// what is worse more often.
const HALF_LIFE: f64 = 512.0;
/// The executions after which a greater cost is no burst: three times the five of the longest usual ones.
const LONG_BURST: f64 = 16.0;

/// The posterior of a configuration's usual cost: the cost without bursts of other programs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Estimate {
    /// The latest costs, and the average number of busy threads of the same executions.
    latest: [(f64, f64); LATEST],
    pub(crate) count: u32,
    level: f64,
    /// Another usual cost that is as likely; the same where there is no doubt.
    other: f64,
    /// The executions that the level is a mean of.
    weight: f64,
    /// The number of the phase's execution that ran here last.
    pub(crate) seen: u64,
}

/// The news of a further execution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum News {
    /// The usual cost, apart from an excess that a burst may have caused.
    Excess(f64),
    /// The usual cost is another one by this factor. That is what an excess of the executions before was.
    Change(f64, f64),
}

impl Estimate {
    /// Adds execution number `now`. A cost further than `tolerance` (a part) above the level is a burst,
    /// until the latest show a change.
    #[inline]
    pub(crate) fn push(&mut self, cost: f64, busy: f64, now: u64, tolerance: f64) -> News {
        let level = self.level;
        self.latest[self.count as usize % LATEST] = (cost, busy);
        (self.count, self.seen) = (self.count.saturating_add(1), now);
        if self.count <= LATEST as u32 {
            (self.level, self.weight) = (self.median(), f64::from(self.count));
            self.other = self.level;
            return News::Excess((cost - self.level * (1.0 + tolerance)).max(0.0));
        }
        let (limit, off) = (self.level * tolerance, cost - self.level);
        // An execution within the limits completes no change: those before it would have been one.
        if off.abs() > limit {
            let median = self.median();
            let above = self.latest.iter().filter(|(cost, _)| *cost > level + limit).count();
            if median < level - limit || above >= SHOWN {
                // It has grown, or this is a long burst.
                self.other = level.min(median);
                (self.level, self.weight) = (median, 3.0);
                let beyond = |cost: f64| (cost - level - limit).max(0.0);
                let excess = self.latest.iter().map(|(cost, _)| beyond(*cost)).sum::<f64>();
                return News::Change(median / level, excess - beyond(cost));
            }
        }
        let is_settled = self.other == self.level || self.weight >= LONG_BURST;
        self.weight = (self.weight + 1.0).min(MEMORY);
        self.level += off.clamp(-limit, limit) / self.weight;
        if is_settled {
            self.other = self.level;
        }
        News::Excess((cost - self.level - limit).max(0.0))
    }

    /// The usual cost; infinite before the first execution.
    #[inline]
    pub(crate) fn level(&self) -> f64 {
        if self.count > 0 { self.level } else { f64::INFINITY }
    }

    /// The two usual costs that are equally likely.
    pub(crate) fn levels(&self) -> [f64; 2] {
        [self.level(), if self.count > 0 { self.other } else { f64::INFINITY }]
    }

    /// The standard deviation of the change of the level by one more execution. Executions vary by `noise`. If the
    /// latest was below the level by more than `tolerance`, it was no burst, so it may be the first of a change.
    pub(crate) fn news(&self, noise: f64, tolerance: f64, now: u64) -> f64 {
        let age = now.saturating_sub(self.seen) as f64 / HALF_LIFE;
        let weight = (self.weight * (-age).exp2()).max(0.5);
        let of_noise = noise / (weight * (weight + 1.0)).sqrt();
        let (latest, _) = self.latest[(self.count as usize + LATEST - 1) % LATEST];
        let below = 1.0 - latest / self.level;
        self.level * of_noise.hypot(if below > tolerance { 0.5 * below } else { 0.0 })
    }

    /// The highest average of busy threads; infinite if one is unknown.
    pub(crate) fn parallelism(&self) -> f64 {
        self.kept().iter().map(|(_, busy)| *busy).fold(0.0, f64::max)
    }

    fn kept(&self) -> &[(f64, f64)] {
        &self.latest[..LATEST.min(self.count as usize)]
    }

    /// The median of the latest costs. Of two it is the lower one, because disturbances only add cost.
    fn median(&self) -> f64 {
        let mut sorted = self.latest.map(|(cost, _)| cost);
        let sorted = &mut sorted[..self.kept().len()];
        sorted.sort_unstable_by(f64::total_cmp);
        sorted[(sorted.len() - 1) / 2]
    }

    /// Half the distance of the first two costs as a part of the level, or the median deviation of more.
    pub(crate) fn spread(&self) -> f64 {
        let mut off = self.latest.map(|(cost, _)| (cost / self.level - 1.0).abs());
        let off = &mut off[..self.kept().len()];
        off.sort_unstable_by(f64::total_cmp);
        let middle = off.get(off.len() / 2).copied().unwrap_or_default();
        if off.len() == 2 { middle / 2.0 } else { middle }
    }
}
