//! The cost of adaptation so far, and the cost that is still allowed.

/// The limits of a phase's total additional cost against a run without adaptation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegretLimits {
    /// Initial limit, as a part of the total cost without adaptation.
    pub initial: f64,
    /// Steady limit, from `after_executions` on, as a part of that cost.
    pub steady: f64,
    /// Number of executions after which the steady limit holds.
    pub after_executions: u64,
}

impl Default for RegretLimits {
    /// 5 % at any time, 1 % once 120 executions have passed.
    ///
    /// In 120 executions the steady limit allows the cost of one whole execution. A sample on half of
    /// the machine may cost that much. Twenty executions pay for it within the initial limit.
    fn default() -> RegretLimits {
        RegretLimits { initial: 0.05, steady: 0.01, after_executions: 120 }
    }
}

impl RegretLimits {
    /// The limits for a loss of at most `part` of the total cost without adaptation; five times that
    /// before enough executions have passed.
    pub fn within(part: f64) -> RegretLimits {
        let usual = RegretLimits::default();
        RegretLimits { initial: part * (usual.initial / usual.steady), steady: part, ..usual }
    }
}

/// One phase's account.
///
/// `baseline` is the cost of all executions so far at the default. It is measured for those that
/// ran there, and estimated at the time for the others. `lost` is their cost in excess of the
/// baseline; gains make it negative. The credit is the loss that the limits still allow.
///
/// ```
/// use pacman_adapt::{RegretBudget, RegretLimits};
/// let mut account = RegretBudget::new(RegretLimits::default());
/// (0..9).for_each(|_| account.at_default(1.0));
/// // After the tenth execution 5 % of ten may be lost.
/// assert!((account.credit(1.0) - 0.5).abs() < 1e-12);
/// account.elsewhere(1.3, 1.0);
/// assert!((account.lost() - 0.3).abs() < 1e-12);
/// assert!((account.credit(1.0) - 0.25).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegretBudget {
    bound: RegretLimits,
    executions: u64,
    baseline: f64,
    lost: f64,
}

impl RegretBudget {
    /// An account without an execution.
    pub fn new(bound: RegretLimits) -> RegretBudget {
        RegretBudget { bound, executions: 0, baseline: 0.0, lost: 0.0 }
    }

    /// Enters an execution at the default, which never counts as a loss.
    pub fn at_default(&mut self, cost: f64) {
        self.enter(1, cost, cost);
    }

    /// Enters an execution elsewhere. The default is estimated to cost `default`.
    pub fn elsewhere(&mut self, cost: f64, default: f64) {
        self.enter(1, cost, default);
    }

    /// Enters executions that cost `cost` in total, and would have cost `default` at the default.
    pub(super) fn enter(&mut self, executions: u64, cost: f64, default: f64) {
        self.executions += executions;
        self.baseline += default;
        self.lost += cost - default;
    }

    /// Adds a cost of earlier executions elsewhere.
    pub fn reserve(&mut self, cost: f64) {
        self.lost += cost;
    }

    /// Corrects the estimate: earlier executions elsewhere would have cost `increase` more at the
    /// default.
    pub fn reprice(&mut self, increase: f64) {
        self.baseline += increase;
        self.lost -= increase;
    }

    /// The loss that the next execution may have, if one at the default costs `default`.
    ///
    /// Before the steady limit applies, a second condition holds. The credit is at most the loss
    /// that will be allowed when that limit begins, if all executions until then run at the
    /// default.
    pub fn credit(&self, default: f64) -> f64 {
        let executions = self.executions + 1;
        let total = self.baseline + default;
        let allowed = if executions >= self.bound.after_executions {
            self.bound.steady * total
        } else {
            let at_turn = total + (self.bound.after_executions - executions) as f64 * default;
            (self.bound.initial * total).min(self.bound.steady * at_turn)
        };
        allowed - self.lost
    }

    /// The number of executions at the default after which the credit covers `risk`; `None` if it
    /// never does.
    pub fn waits(&self, risk: f64, default: f64) -> Option<u64> {
        const MOST: u64 = 10_000;
        // The credit only grows, so this halves the range.
        let after = |waited: u64| {
            let baseline = self.baseline + waited as f64 * default;
            let then = RegretBudget { executions: self.executions + waited, baseline, ..*self };
            then.credit(default) >= risk
        };
        let (mut least, mut most) = (0, MOST);
        while least < most {
            let middle = (least + most) / 2;
            (least, most) = if after(middle) { (least, middle) } else { (middle + 1, most) };
        }
        (least < MOST).then_some(least)
    }

    /// The cost of the executions so far beyond the estimate for the default; below 0 for a gain.
    pub fn lost(&self) -> f64 {
        self.lost
    }

    /// The estimated cost of these executions at the default.
    pub fn baseline(&self) -> f64 {
        self.baseline
    }

    /// The number of executions.
    pub fn executions(&self) -> u64 {
        self.executions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Executes the default one by one, until the credit covers the risk.
    fn waits_one_by_one(account: &RegretBudget, risk: f64, default: f64) -> Option<u64> {
        let mut then = *account;
        (0..10_000).find(|_| {
            let covers = then.credit(default) >= risk;
            then.at_default(default);
            covers
        })
    }

    #[test]
    fn a_wait_ends_at_the_first_execution_whose_credit_covers_the_risk() {
        for (executions, lost) in [(0, 0.0), (3, 0.4), (60, -2.0), (119, 0.3), (400, 7.5)] {
            let mut account = RegretBudget::new(RegretLimits::default());
            (0..executions).for_each(|_| account.at_default(1.0));
            account.reserve(lost);
            for risk in
                [-1.0, 0.0, 0.03, 0.31, 0.999, 1.17, 5.0, 99.0, 1e9, f64::INFINITY, f64::NAN]
            {
                let waits = waits_one_by_one(&account, risk, 1.0);
                assert_eq!(account.waits(risk, 1.0), waits, "{risk} after {executions}");
            }
        }
    }
}
