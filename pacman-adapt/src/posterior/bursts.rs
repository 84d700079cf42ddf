//! The excess that bursts of other programs add to some executions.

/// The most executions that the mean is of: twice as many lose half of their weight. It loses half in as many
/// executions elsewhere, too, because other programs come and go.
const MEMORY: f64 = 128.0;

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
        let is_full = self.executions >= 2.0 * MEMORY;
        if is_full || now > self.seen + 1 {
            let kept = if is_full { 0.5 } else { 1.0 } * self.kept(now);
            for figure in
                [&mut self.executions, &mut self.sum, &mut self.highest, &mut self.recurring]
            {
                *figure *= kept;
            }
        }
        self.seen = now;
        self.executions += 1.0;
        self.sum += excess;
        self.highest = self.highest.max(excess);
    }

    /// The part of the weight that is left.
    fn kept(&self, now: u64) -> f64 {
        if now <= self.seen + 1 { 1.0 } else { (-((now - self.seen) as f64) / MEMORY).exp2() }
    }

    /// The highest excess, if there was more than one burst.
    pub(crate) fn highest(&self) -> f64 {
        if self.sum > self.highest { self.highest } else { 0.0 }
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
