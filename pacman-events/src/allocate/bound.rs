//! Counting arguments: the most events that can share a set in any arrangement, and equivalent
//! events.

use super::matching::Slots;
use super::problem::{Footprint, Problem};
use super::{Alternative, Claim};

impl Problem<'_> {
    /// The reserved items, which are part of every set.
    pub(crate) fn reserved(&self) -> impl Iterator<Item = u16> + use<> {
        self.len() as u16..self.items().len() as u16
    }

    /// Whether the erratum's budget connects all events on the core.
    pub(crate) fn is_tied(&self) -> bool {
        let mut asked = self.items()[..self.len()].iter();
        self.erratum_budget().is_some() && asked.any(|item| item.demand.excludes_sibling)
    }

    /// The counters that a group of items can reach.
    pub(crate) fn reach(&self, items: &[u16]) -> Footprint {
        items.iter().fold(Footprint::default(), |sum, item| sum.or(self.footprint(*item)))
    }

    /// The slots of an item that needs exactly one slot and no other resource.
    pub(crate) fn plain(&self, item: u16) -> Option<Slots> {
        self.candidates_of(item).iter().try_fold(0, |slots, it| {
            let plain = it.any_of != 0 && it.closes == 0 && self.claims_of(it).is_empty();
            plain.then_some(slots | it.any_of)
        })
    }

    /// The pools of general counters under the erratum, for each context and for all together. A
    /// pool has the units that take a general counter there, and the units among them that invoke
    /// the erratum. It also has the number of counters that a set offers without and with such a
    /// unit. Empty if the erratum has no budget.
    pub(crate) fn erratum_pools(
        &self,
        units: &[&[u16]],
    ) -> Vec<(Vec<usize>, Vec<usize>, [u32; 2])> {
        let Some(budget) = self.erratum_budget() else { return Vec::new() };
        let reaches: Vec<Slots> = units.iter().map(|unit| self.reach_of(unit)).collect();
        let excludes = |at: &usize| {
            units[*at].iter().any(|item| self.items()[usize::from(*item)].demand.excludes_sibling)
        };
        let mut pools: Vec<(Slots, u32)> = (0..self.contexts())
            .map(|context| (self.general_of(context), u32::from(budget)))
            .collect();
        let all = pools.iter().fold((0, 0), |sum, pool| (sum.0 | pool.0, sum.1 + pool.1));
        pools.push(all);
        let describe = |(slots, budget): (Slots, u32)| {
            let inside = |at: &usize| reaches[*at] != 0 && reaches[*at] & !slots == 0;
            let members: Vec<usize> = (0..units.len()).filter(inside).collect();
            let excluding = members.iter().copied().filter(excludes).collect();
            (members, excluding, [slots.count_ones(), budget])
        };
        pools.into_iter().map(describe).collect()
    }

    /// Slots of which the unit's first counted item takes one; 0 without a bound.
    pub(crate) fn reach_of(&self, unit: &[u16]) -> Slots {
        let reach = |item: &u16| {
            let all = self.candidates_of(*item);
            let uncounted = all.iter().any(|it| it.any_of | it.all_of == 0);
            let reach = all.iter().fold(0, |set, it| set | it.any_of | it.all_of);
            if uncounted { 0 } else { reach }
        };
        unit.iter().map(reach).find(|reach| *reach != 0).unwrap_or(0)
    }

    /// Registers of which a unit's first item takes one with a value that no other item wants. That
    /// holds for every candidate; 0 without a bound.
    pub(crate) fn own_registers(&self, unit: &[u16]) -> u128 {
        let Some(&item) = unit.first() else { return 0 };
        let mut own = 0;
        for candidate in self.candidates_of(item) {
            let mine = self
                .claims_of(candidate)
                .iter()
                .filter(|(register, value)| !self.wanted_by_others(item, *register, *value))
                .fold(0u128, |set, (register, _)| set | 1 << register);
            if mine == 0 {
                return 0;
            }
            own |= mine;
        }
        own
    }

    fn wanted_by_others(&self, item: u16, register: u8, value: u64) -> bool {
        (0..self.items().len() as u16).filter(|other| *other != item).any(|other| {
            let mut all = self.candidates_of(other).iter();
            all.any(|candidate| self.claims_of(candidate).contains(&(register, value)))
        })
    }

    /// Whether two units can replace each other in every set. They are single events of the same
    /// contexts, and their alternatives differ only in register values that no other item wants.
    pub(crate) fn alike(&self, a: &[u16], b: &[u16]) -> bool {
        let ([a], [b]) = (a, b) else { return false };
        let (one, two) = (&self.items()[usize::from(*a)], &self.items()[usize::from(*b)]);
        let same = |(one, two): (&Alternative, &Alternative)| {
            one.general == two.general
                && one.fixed == two.fixed
                && one.counter_use == two.counter_use
                && one.contexts == two.contexts
                && one.claims.len() == two.claims.len()
                && one.claims.iter().zip(&two.claims).all(|(one, two)| {
                    one == two || self.is_own(*a, one, two) && self.is_own(*b, two, one)
                })
        };
        one.contexts == two.contexts
            && one.demand.excludes_sibling == two.demand.excludes_sibling
            && one.demand.alternatives.len() == two.demand.alternatives.len()
            && one.demand.alternatives.iter().zip(&two.demand.alternatives).all(same)
    }

    /// Whether no other item wants this claim's value, and whether the twin's claim is on the same
    /// register.
    fn is_own(&self, item: u16, claim: &Claim, twin: &Claim) -> bool {
        let wants = |alternative: &Alternative| alternative.claims.contains(claim);
        claim.register == twin.register
            && (0..self.items().len() as u16).filter(|other| *other != item).all(|other| {
                !self.items()[usize::from(other)].demand.alternatives.iter().any(wants)
            })
    }
}
