//! The choice of the set for each execution of a region on one thread.

/// The length of a turn in changes of the set: a change takes a hundredth of the time.
const LONGEST: u64 = 100;
/// The length of the first turns: sets soon have several turns each, and a change takes a tenth.
const SHORTEST: u64 = 10;

/// The turns of one region's sets on one thread.
///
/// A block has one turn of each set, in an order that is drawn for each block. A program whose executions
/// alternate, as those of a red and a black sweep, would else count one set in each kind alone. All threads
/// draw the same orders, so that a team usually counts one set in an execution and changes it together.
pub(crate) struct SetOrder {
    /// The seed of the region.
    seed: u64,
    /// The sets in the order of the block.
    order: Box<[u8]>,
    /// The turns so far.
    turns: u64,
    /// The ticks of executions since the latest turn.
    ticks: u64,
}

impl SetOrder {
    pub(super) fn new(region: u32, sets: usize) -> SetOrder {
        let order = (0..sets).map(|set| set as u8).collect();
        SetOrder { seed: u64::from(region) << 32, order, turns: 0, ticks: 0 }
    }

    /// The set of a turn that is due; `None` if the turn goes on. A change of the set takes `change` ticks.
    ///
    /// The first block has a turn for each execution, so that a region with few executions has all sets.
    pub(super) fn next(&mut self, change: u64) -> Option<usize> {
        let sets = self.order.len() as u64;
        let length = (SHORTEST + self.turns).min(LONGEST);
        if self.turns >= sets && self.ticks < change.saturating_mul(length) {
            return None;
        }
        let place = (self.turns % sets) as usize;
        if place == 0 {
            self.shuffle();
        }
        (self.turns, self.ticks) = (self.turns + 1, 0);
        Some(self.order[place].into())
    }

    /// An execution took `ticks`.
    pub(super) fn ended(&mut self, ticks: u64) {
        self.ticks = self.ticks.saturating_add(ticks);
    }

    /// Draws the order of the next block: Fisher and Yates.
    fn shuffle(&mut self) {
        for place in (1..self.order.len()).rev() {
            let other = self.draw(self.turns + place as u64) % (place as u64 + 1);
            self.order.swap(place, other as usize);
        }
    }

    /// A random number of the region: SplitMix64.
    fn draw(&self, number: u64) -> u64 {
        let mut state = (self.seed ^ number).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^ state >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_has_each_set_once_in_an_order_of_its_own() {
        let (mut one, mut other) = (SetOrder::new(3, 4), SetOrder::new(3, 4));
        let mut orders = std::collections::BTreeSet::new();
        for _ in 0..100 {
            let block: Vec<usize> = (0..4).map(|_| one.next(0).expect("a turn")).collect();
            let same: Vec<usize> = (0..4).map(|_| other.next(0).expect("a turn")).collect();
            assert_eq!(block, same, "threads change together");
            let mut sorted = block.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
            orders.insert(block);
        }
        assert!(orders.len() > 15, "{} of 24 orders", orders.len());
    }

    #[test]
    fn alternating_executions_meet_each_set() {
        let mut turns = SetOrder::new(0, 2);
        let mut met = [[0; 2]; 2];
        for execution in 0..1000 {
            met[execution % 2][turns.next(0).expect("a turn")] += 1;
        }
        assert!(met.iter().flatten().all(|&times| times > 200), "{met:?}");
    }

    #[test]
    fn changes_take_a_hundredth_of_the_time_in_the_end() {
        let mut turns = SetOrder::new(1, 2);
        assert!(turns.next(10).is_some() && turns.next(10).is_some(), "the first block");
        let mut changes = |executions: u64| -> u64 {
            let mut changes = 0;
            for _ in 0..executions {
                changes += u64::from(turns.next(10).is_some());
                turns.ended(7);
            }
            changes
        };
        assert_eq!(changes(19), 1, "18 executions take as long as 12 changes");
        changes(10_000);
        assert_eq!(changes(14_300), 100, "143 executions take 1001 ticks");
        turns.ended(1000);
        assert!(turns.next(10).is_some());
        assert_eq!(turns.next(10), None);
    }
}
