//! Bipartite matching of events to counter slots, with a budget per group of slots.
//!
//! The method is Kuhn's augmenting paths on bit masks. A budget turns a group of slots into a node
//! of limited capacity in the flow network. So an augmenting path may also end by moving another
//! event out of the group.

/// Sets of counter slots; slot numbers are dense over all contexts of a core.
pub(super) type Slots = u128;

/// The limit on the slots of a group that are in use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Budget {
    pub(super) slots: Slots,
    /// The counters that are left for the matching.
    pub(super) left: u8,
}

/// Storage of one matching, reused between calls.
#[derive(Debug)]
pub(super) struct Matching {
    used: Slots,
    owner: [u16; 128],
    budgets: Vec<Budget>,
}

impl Matching {
    pub(super) fn new() -> Self {
        Matching { used: 0, owner: [0; 128], budgets: Vec::new() }
    }

    /// Gives every mask a slot of its own; false if that is impossible.
    ///
    /// Exact: by Hall's theorem a failed augmentation proves that no matching exists.
    /// Lower slots are preferred.
    pub(super) fn find(&mut self, masks: &[Slots], budgets: &[Budget]) -> bool {
        self.used = 0;
        self.budgets.clear();
        self.budgets.extend_from_slice(budgets);
        (0..masks.len()).all(|event| {
            let mut visit = Visit { slots: 0, budgets: 0 };
            self.augment(event, masks, &mut visit)
        })
    }

    /// The event that each used slot was given to, after a successful [`Self::find`].
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, u8)> + '_ {
        bits(self.used).map(|slot| (usize::from(self.owner[usize::from(slot)]), slot))
    }

    fn augment(&mut self, event: usize, masks: &[Slots], visit: &mut Visit) -> bool {
        let reach = masks[event] & !visit.slots;
        let free = reach & !self.used;
        for slot in bits(free) {
            match self.budget_of(slot) {
                Some(group) if self.budgets[group].left == 0 => {
                    if self.make_room(group, masks, visit) {
                        self.take(event, slot);
                        return true;
                    }
                }
                _ => {
                    self.take(event, slot);
                    return true;
                }
            }
        }
        for slot in bits(reach & self.used) {
            if visit.slots >> slot & 1 == 1 {
                continue;
            }
            visit.slots |= 1 << slot;
            let holder = usize::from(self.owner[usize::from(slot)]);
            if self.augment(holder, masks, visit) {
                self.owner[usize::from(slot)] = event as u16;
                return true;
            }
        }
        false
    }

    /// Moves one event out of a group whose budget is spent.
    fn make_room(&mut self, group: usize, masks: &[Slots], visit: &mut Visit) -> bool {
        if visit.budgets >> group & 1 == 1 {
            return false;
        }
        visit.budgets |= 1 << group;
        for slot in bits(self.budgets[group].slots & self.used) {
            if visit.slots >> slot & 1 == 1 {
                continue;
            }
            visit.slots |= 1 << slot;
            let holder = usize::from(self.owner[usize::from(slot)]);
            if self.augment(holder, masks, visit) {
                // The holder has moved away; if the path came back to this slot for
                // another event, that event's own visit has already been recorded.
                self.used &= !(1 << slot);
                self.budgets[group].left += 1;
                return true;
            }
        }
        false
    }

    fn take(&mut self, event: usize, slot: u8) {
        if let Some(group) = self.budget_of(slot) {
            self.budgets[group].left -= 1;
        }
        self.used |= 1 << slot;
        self.owner[usize::from(slot)] = event as u16;
    }

    fn budget_of(&self, slot: u8) -> Option<usize> {
        self.budgets.iter().position(|budget| budget.slots >> slot & 1 == 1)
    }
}

/// Slots and budgets that the current augmenting path has already tried.
struct Visit {
    slots: Slots,
    budgets: u8,
}

/// The slots of a set, lowest first.
pub(super) fn bits(mut set: Slots) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        if set == 0 {
            return None;
        }
        let slot = set.trailing_zeros() as u8;
        set &= set - 1;
        Some(slot)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(masks: &[Slots], budgets: &[Budget]) -> bool {
        let mut matching = Matching::new();
        let found = matching.find(masks, budgets);
        if found {
            let mut pairs: Vec<_> = matching.pairs().collect();
            assert_eq!(pairs.len(), masks.len());
            for &(event, slot) in &pairs {
                assert_eq!(masks[event] >> slot & 1, 1);
            }
            for budget in budgets {
                let used = pairs.iter().filter(|(_, slot)| budget.slots >> slot & 1 == 1).count();
                assert!(used <= usize::from(budget.left));
            }
            pairs.sort_unstable();
            pairs.dedup_by_key(|(event, _)| *event);
            assert_eq!(pairs.len(), masks.len());
        }
        found
    }

    #[test]
    fn a_greedy_first_choice_is_undone() {
        assert!(fits(&[0b11, 0b01], &[]));
        assert!(fits(&[0b111, 0b011, 0b001], &[]));
        assert!(!fits(&[0b11, 0b11, 0b11], &[]));
    }

    #[test]
    fn a_budget_pushes_events_to_other_slots() {
        let two_of_low = [Budget { slots: 0b1111, left: 2 }];
        assert!(fits(&[0b0_0011, 0b0_1100], &two_of_low));
        assert!(!fits(&[0b1111, 0b1111, 0b1111], &two_of_low));
        // The first two events sit in the group until the third needs its budget.
        assert!(fits(&[0b1_0001, 0b10_0010, 0b0100, 0b1000], &two_of_low));
    }

    /// Every assignment tried: the oracle for the budgeted matching.
    fn brute(masks: &[Slots], used: Slots, budgets: &[Budget]) -> bool {
        let Some((first, rest)) = masks.split_first() else { return true };
        bits(first & !used).any(|slot| {
            let used = used | 1 << slot;
            budgets.iter().all(|b| (used & b.slots).count_ones() <= u32::from(b.left))
                && brute(rest, used, budgets)
        })
    }

    #[test]
    fn agrees_with_trying_everything() {
        let mut seed = 0x9e37_79b9_u64;
        let mut next = |bound: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % bound
        };
        let mut feasible = 0;
        for _ in 0..20_000 {
            let masks: Vec<Slots> = (0..next(6) + 1).map(|_| Slots::from(next(255) + 1)).collect();
            let budgets = [
                Budget { slots: 0b0000_1111, left: next(4) as u8 },
                Budget { slots: 0b0111_0000, left: next(4) as u8 },
            ];
            let expected = brute(&masks, 0, &budgets);
            feasible += u32::from(expected);
            assert_eq!(fits(&masks, &budgets), expected, "{masks:x?} {budgets:?}");
        }
        assert!(feasible > 1_000 && feasible < 19_000, "{feasible} of 20000 feasible");
    }
}
