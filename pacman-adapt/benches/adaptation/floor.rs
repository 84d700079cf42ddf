//! The regret that rules with knowledge of every cost cannot avoid.

use pacman_adapt::phases::SimPhase;
use pacman_adapt::predict::Configuration;
use pacman_adapt::{RegretBudget, Rules};

/// Two rules that know the mean cost of every configuration.
#[derive(Debug)]
pub(super) struct Floor {
    default: Configuration,
    best: Configuration,
    all: Vec<Configuration>,
    costs: Vec<f64>,
    is_measured: Vec<bool>,
    account: RegretBudget,
    max_smt_gain: f64,
    /// The executions at the default before anything else may run: two that agree, or one with counts.
    at_default: usize,
    executions: usize,
    /// The total costs without the budget, and within it.
    pub(super) totals: [f64; 2],
}

impl Floor {
    pub(super) fn new(
        all: Vec<Configuration>,
        default: Configuration,
        best: Configuration,
        law: &SimPhase,
        rules: &Rules,
    ) -> Floor {
        let costs = all.iter().map(|&on| law.seconds(on)).collect();
        let is_measured = vec![false; all.len()];
        let account = RegretBudget::new(rules.bound);
        let max_smt_gain = rules.max_smt_gain;
        let at_default = if rules.predictor.is_some() { 1 } else { 2 };
        Floor {
            default,
            best,
            all,
            costs,
            is_measured,
            account,
            max_smt_gain,
            at_default,
            executions: 0,
            totals: [0.0; 2],
        }
    }

    /// Adds one execution, which costs `seconds` on a configuration.
    pub(super) fn step(&mut self, seconds: impl Fn(Configuration) -> f64) {
        let free = if self.executions < self.at_default { self.default } else { self.best };
        self.totals[0] += seconds(free);
        let bounded = self.within_budget();
        let (cost, at_default) = (self.costs[bounded], self.cost(self.default));
        let on = self.all[bounded];
        match on == self.default {
            true => self.account.at_default(cost),
            false => self.account.elsewhere(cost, at_default),
        }
        self.is_measured[bounded] = true;
        self.totals[1] += seconds(on);
        self.executions += 1;
    }

    fn cost(&self, on: Configuration) -> f64 {
        let at = self.all.iter().position(|&other| other == on).expect("a candidate");
        self.costs[at]
    }

    /// The least costly candidate that the budget can pay for.
    fn within_budget(&self) -> usize {
        let default = self.cost(self.default);
        let credit = self.account.credit(default);
        let can_run = |&at: &usize| match self.executions < self.at_default {
            true => self.all[at] == self.default,
            false => self.all[at] == self.default || self.ceiling(at) - default <= credit,
        };
        (0..self.all.len())
            .filter(can_run)
            .min_by(|&a, &b| self.costs[a].total_cmp(&self.costs[b]))
            .expect("the default can always run")
    }

    /// The upper bound of a cost by the assumptions A and B.
    fn ceiling(&self, at: usize) -> f64 {
        if self.is_measured[at] {
            return self.costs[at];
        }
        let parts = |on: Configuration| (on.cores().unwrap_or(1), on.per_core().unwrap_or(1));
        let capacity = |on: Configuration| {
            let (cores, contexts) = parts(on);
            f64::from(cores) * (1.0 + self.max_smt_gain * f64::from(contexts - 1))
        };
        let (cores, contexts) = parts(self.all[at]);
        let measured = (0..self.all.len()).filter(|&other| self.is_measured[other]);
        measured
            .filter(|&from| parts(self.all[from]).0 >= cores && parts(self.all[from]).1 >= contexts)
            .map(|from| self.costs[from] * capacity(self.all[from]) / capacity(self.all[at]))
            .fold(f64::INFINITY, f64::min)
    }
}
