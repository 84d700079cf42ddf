//! The excess that bursts of other programs add to some executions.

/// The most executions that the mean is of: twice as many lose half of their weight.
const MEMORY: f64 = 128.0;
/// The executions elsewhere in which the mean loses half of its weight: other programs come and go.
const HALF_LIFE: f64 = 128.0;

/// The excess that bursts add to some executions: at the default, or elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bursts {
    executions: f64,
    sum: f64,
    highest: f64,
    /// Costs that recur and are no accidents.
    recurring: f64,
    seen: u64,
}

impl Bursts {
    #[inline]
    pub(crate) fn add(&mut self, excess: f64, now: u64) {
        if self.executions >= 2.0 * MEMORY {
            self.fade(0.5);
        }
        if now > self.seen + 1 {
            self.fade(self.kept(now));
        }
        self.seen = now;
        self.executions += 1.0;
        self.sum += excess;
        self.highest = self.highest.max(excess);
    }

    fn fade(&mut self, part: f64) {
        self.executions *= part;
        self.sum *= part;
        self.highest *= part;
        self.recurring *= part;
    }

    /// The part of the weight that is left.
    fn kept(&self, now: u64) -> f64 {
        (-(now.saturating_sub(self.seen) as f64) / HALF_LIFE).exp2()
    }

    /// The highest excess, if there was more than one burst.
    pub(crate) fn highest(&self) -> f64 {
        if self.sum > self.highest { self.highest } else { 0.0 }
    }

    pub(crate) fn add_recurring(&mut self, cost: f64) {
        self.recurring += cost;
    }

    /// The mean of the costs that recur.
    pub(crate) fn recurring(&self) -> f64 {
        self.recurring / self.executions.max(1.0)
    }

    /// The mean excess of an execution. One burst decides nothing, so the highest is left out. `usual` counts as `weight` executions before the first.
    pub(crate) fn mean(&self, usual: f64, weight: f64, now: u64) -> f64 {
        let part = if now > self.seen + 1 { self.kept(now) } else { 1.0 };
        let sum = (self.sum - self.highest).max(0.0);
        (sum * part + usual * weight) / (self.executions * part + weight).max(1.0)
    }
}
