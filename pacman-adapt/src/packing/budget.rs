//! The time that samples may lose.

/// Nanoseconds that samples may lose from the start on.
const FREE: u64 = 2_000_000;

/// The budget of a process. All times are nanoseconds.
///
/// A sample reserves its allowance before it begins, and gives back the part that it did not need. So the sum of all
/// samples never exceeds the budget, however long the program's executions take.
#[derive(Clone, Copy, Debug)]
pub struct LossBudget {
    /// What it has at the start of the run.
    free: u64,
    /// Millionths of the run.
    millionths: u64,
    spent: u64,
}

impl LossBudget {
    /// A budget of `part` of the run so far, and 2 ms; nothing where `part` is 0.
    pub fn new(part: f64) -> LossBudget {
        let millionths = (part.clamp(0.0, 1.0) * 1e6) as u64;
        LossBudget { free: if part > 0.0 { FREE } else { 0 }, millionths, spent: 0 }
    }

    /// The most that samples may lose in a run that has taken `run`.
    pub fn limit(&self, run: u64) -> u64 {
        self.free + (u128::from(run) * u128::from(self.millionths) / 1_000_000) as u64
    }

    /// The rest, in a run that has taken `run`.
    pub fn left(&self, run: u64) -> u64 {
        self.limit(run).saturating_sub(self.spent)
    }

    /// Reserves `allowance`, if it is left.
    pub fn reserve(&mut self, allowance: u64, run: u64) -> bool {
        let fits = allowance <= self.left(run);
        if fits {
            self.spent += allowance;
        }
        fits
    }

    /// Gives back what was reserved and not spent.
    pub fn give_back(&mut self, unused: u64) {
        self.spent = self.spent.saturating_sub(unused);
    }

    /// Spends `more` than was reserved: the masks were restored later than they should have been. So of several such
    /// samples only the last one is beyond the budget.
    pub fn overspend(&mut self, more: u64) {
        self.spent = self.spent.saturating_add(more);
    }

    /// All that was spent.
    pub fn spent(&self) -> u64 {
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_grows_with_the_run() {
        let mut budget = LossBudget::new(0.01);
        assert!(budget.reserve(1_500_000, 0) && !budget.reserve(500_001, 0));
        assert!(budget.reserve(1_500_000, 100_000_000));
        assert_eq!((budget.left(100_000_000), budget.spent()), (0, 3_000_000));
        budget.give_back(400_000);
        assert_eq!(budget.left(100_000_000), 400_000);
    }

    #[test]
    fn without_a_part_there_is_nothing_to_spend() {
        let mut budget = LossBudget::new(0.0);
        assert!(!budget.reserve(1, u64::MAX));
    }
}
