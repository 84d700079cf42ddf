//! The excess that bursts of other programs add to some executions.

/// The most executions that the mean is of: twice as many lose half of their weight. It loses half in as many
/// executions elsewhere, too, because other programs come and go.
const MEMORY: f64 = 128.0;

/// The excess that bursts add to some executions: at the default, or elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bursts {
    executions: f64,
    sum: f64,
    pub(crate) highest: f64,
    /// Costs that recur and are no accidents.
    recurring: f64,
    seen: u64,
}

impl Bursts {
    #[inline]
    pub(crate) fn add(&mut self, excess: f64, now: u64) {
        let is_full = self.executions >= 2.0 * MEMORY;
        if is_full || now > self.seen + 1 {
            let kept = if is_full { 0.5 } else { 1.0 } * self.kept(now);
            let [executions, sum, highest, recurring] =
                [self.executions, self.sum, self.highest, self.recurring].map(|of| of * kept);
            *self = Bursts { executions, sum, highest, recurring, seen: now };
        }
        self.seen = now;
        self.executions += 1.0;
        self.sum += excess;
        self.highest = self.highest.max(excess);
    }

    /// The part of the weight that is left.
    fn kept(&self, now: u64) -> f64 {
        (-(now.saturating_sub(self.seen + 1) as f64) / MEMORY).exp2()
    }

    /// Executions that passed for bursts have shown a change.
    pub(crate) fn take_back(&mut self, excess: f64) {
        self.sum = (self.sum - excess).max(0.0);
        self.highest = self.highest.min(self.sum);
    }

    pub(crate) fn charge(&mut self, cost: f64) {
        self.recurring += cost;
    }

    /// The mean of the costs that recur.
    pub(crate) fn recurring(&self) -> f64 {
        self.recurring / self.executions.max(1.0)
    }

    /// The mean excess of an execution. One burst decides nothing, so the highest is left out. `usual` counts as
    /// `weight` executions before the first.
    pub(crate) fn mean(&self, usual: f64, weight: f64, now: u64) -> f64 {
        let kept = self.kept(now);
        ((self.sum - self.highest) * kept + usual * weight) / (self.executions * kept + weight)
    }
}
