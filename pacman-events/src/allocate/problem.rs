//! Compiles demands and a core to bit masks over counter slots and register instances.

use super::division::Grant;
use super::matching::Slots;
use super::pmu::MAX_CONTEXTS;
use super::{Alternative, Claim, Counter, CounterUse, EventConstraints, Pmu, Register};
use crate::CounterSet;

/// An item to place: an event of a thread, or a reserved event from outside of the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'a> {
    pub(crate) demand: &'a EventConstraints,
    /// Contexts that may host it.
    pub(crate) contexts: u8,
    pub(crate) reserved: bool,
}

/// Rules that an explanation drops, to find the one that prevents a placement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Relax {
    pub(crate) reservations: bool,
    pub(crate) erratum: bool,
    /// Events that must count alone.
    pub(crate) alone: bool,
    /// A bit per [`RegisterKind`](super::RegisterKind).
    pub(crate) registers: u32,
}

/// One candidate of an item, as masks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Exactly one of these slots is taken; the matching chooses it.
    pub(super) any_of: Slots,
    /// All of these slots are taken.
    pub(super) all_of: Slots,
    /// These slots are closed to all other items, because of the sibling erratum.
    pub(super) closes: Slots,
    /// Range of [`Problem::claims`].
    claims: (u32, u32),
    /// The index of the demand's alternative.
    alternative: u16,
    context: u8,
    /// The counter that counts, if the matching has no choice.
    counter: Option<Counter>,
}

/// The masks that decide whether two items, or groups of them, can influence each
/// other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Footprint {
    slots: Slots,
    registers: u128,
}

impl Footprint {
    /// The resources that at least one of the two reaches.
    pub(crate) fn or(self, other: Self) -> Self {
        let registers = self.registers | other.registers;
        Footprint { slots: self.slots | other.slots, registers }
    }

    /// Whether both reach the same slot or register.
    pub(crate) fn touches(self, other: Self) -> bool {
        self.slots & other.slots != 0 || self.registers & other.registers != 0
    }
}

/// A placement problem over at most 128 counter slots and 128 register instances.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    pmu: &'a Pmu,
    items: Vec<Item<'a>>,
    ranges: Vec<(u32, u32)>,
    footprints: Vec<Footprint>,
    candidates: Vec<Candidate>,
    claims: Vec<(u8, u64)>,
    registers: Vec<(Register, u8)>,
    slots_per_context: u8,
    relax: Relax,
    asked: usize,
}

/// The placement of one item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) context: u8,
    pub(crate) alternative: usize,
    pub(crate) counter: Option<Counter>,
}

impl<'a> Problem<'a> {
    /// Compiles the items for a core divided by `grants`, one per context.
    ///
    /// # Panics
    /// If the core has more than 128 counters over all contexts, or the items need more than 128
    /// registers. No known machine comes near.
    pub(crate) fn new(pmu: &'a Pmu, grants: &[Grant], asked: &[Item<'a>], relax: Relax) -> Self {
        let slots_per_context = (pmu.general.len() + pmu.fixed.len()) as u8;
        let copies = if pmu.shares_counters() { 1 } else { u32::from(pmu.contexts) };
        assert!(u32::from(slots_per_context) * copies <= 128, "too many counters on one core");
        let mut problem = Problem {
            pmu,
            items: asked.to_vec(),
            ranges: Vec::with_capacity(asked.len()),
            footprints: Vec::with_capacity(asked.len()),
            candidates: Vec::with_capacity(asked.len() * 4),
            claims: Vec::new(),
            registers: Vec::new(),
            slots_per_context,
            relax,
            asked: asked.len(),
        };
        if !relax.reservations {
            problem.items.extend(pmu.reservations.iter().map(|held| Item {
                demand: &held.demand,
                contexts: 1 << held.context,
                reserved: true,
            }));
        }
        for index in 0..problem.items.len() {
            problem.compile(problem.items[index], grants);
        }
        problem
    }

    fn compile(&mut self, item: Item<'_>, grants: &[Grant]) {
        let start = self.candidates.len();
        for context in 0..self.pmu.contexts {
            let grant = &grants[usize::from(context)];
            if item.contexts >> context & 1 == 0 || !(grant.active || item.reserved) {
                continue;
            }
            // A reserved counter was taken before this partition.
            let (general, half) = if item.reserved {
                (self.pmu.general, None)
            } else {
                (self.pmu.general.minus(self.pmu.withheld).and(grant.general), grant.half)
            };
            for (number, alternative) in item.demand.alternatives.iter().enumerate() {
                let elsewhere = |claim: &Claim| {
                    half.is_some() && claim.register.half().is_some_and(|own| Some(own) != half)
                };
                if alternative.contexts >> context & 1 == 0
                    || alternative.claims.iter().any(elsewhere)
                {
                    continue;
                }
                let general = alternative.general.and(general);
                let fixed = alternative.fixed.and(self.pmu.fixed);
                if alternative.needs_counter() && general.is_empty() && fixed.is_empty() {
                    continue;
                }
                let claims = self.intern(&alternative.claims, context);
                let place = Place { context, alternative: number as u16, claims };
                self.expand(item.demand, alternative, general, fixed, place, start);
            }
        }
        let footprint = self.candidates[start..].iter().fold(Footprint::default(), |sum, alt| {
            let registers = self.claims_of(alt).iter().fold(0, |set, (at, _)| set | 1u128 << at);
            sum.or(Footprint { slots: alt.any_of | alt.all_of | alt.closes, registers })
        });
        self.footprints.push(footprint);
        self.ranges.push((start as u32, self.candidates.len() as u32));
    }

    /// Adds the candidates of one alternative on one context.
    fn expand(
        &mut self,
        demand: &EventConstraints,
        alternative: &Alternative,
        general: CounterSet,
        fixed: CounterSet,
        place: Place,
        start: usize,
    ) {
        let excludes = self.has_erratum() && demand.excludes_sibling;
        let any_fixed = self.fixed_slots(fixed, place.context);
        // Only the counter itself leaks into the sibling's. Counters merged with it do not.
        let closes = |problem: &Self, counter| {
            if excludes { problem.sibling_slots(counter, place.context) } else { 0 }
        };
        let counter_use = match alternative.counter_use {
            CounterUse::Alone if self.relax.alone => CounterUse::One,
            counter_use => counter_use,
        };
        match counter_use {
            // Without a counter there is no slot to take or to close.
            _ if !alternative.needs_counter() => self.add_choice(0, place, start),
            CounterUse::One if !excludes => {
                let any_of = self.general_slots(general, place.context) | any_fixed;
                self.add_choice(any_of, place, start);
                return;
            }
            CounterUse::One => {
                for counter in general.iter() {
                    let own = self.general_slots(CounterSet::only(counter), place.context);
                    self.add_exact(own, closes(self, counter), counter, place);
                }
            }
            CounterUse::Pair => {
                for counter in general.iter().filter(|n| n % 2 == 0) {
                    let both = CounterSet::only(counter).with(counter + 1);
                    if both.minus(self.pmu.general()).is_empty() {
                        let all_of = self.general_slots(both, place.context);
                        self.add_exact(all_of, closes(self, counter), counter, place);
                    }
                }
            }
            CounterUse::Alone => {
                let all_of = self.general_slots(self.pmu.general(), place.context);
                // The event takes all general counters. Its choice among them only decides
                // which slots an excluding event closes to the siblings.
                for counter in general.iter().take(if excludes { usize::MAX } else { 1 }) {
                    self.add_exact(all_of, closes(self, counter), counter, place);
                }
            }
        }
        if any_fixed != 0 {
            self.add_choice(any_fixed, place, start);
        }
    }

    /// Adds a candidate whose slot the matching chooses. If an earlier candidate differs only in
    /// that choice, it is widened instead.
    fn add_choice(&mut self, any_of: Slots, place: Place, start: usize) {
        let Place { context, alternative, claims } = place;
        if any_of != 0 {
            for at in start..self.candidates.len() {
                let other = self.candidates[at];
                let same_context = other.context == context || !self.pmu.shares_counters();
                if other.any_of != 0 && same_context && self.same_claims(other.claims, claims) {
                    self.candidates[at].any_of |= any_of;
                    return;
                }
            }
        }
        let (all_of, closes, counter) = (0, 0, None);
        self.candidates.push(Candidate {
            any_of,
            all_of,
            closes,
            claims,
            alternative,
            context,
            counter,
        });
    }

    /// Adds a candidate that takes exactly these slots and counts on `counter`.
    fn add_exact(&mut self, all_of: Slots, closes: Slots, counter: u8, place: Place) {
        let Place { context, alternative, claims } = place;
        let counter = Some(Counter::General(counter));
        self.candidates.push(Candidate {
            any_of: 0,
            all_of,
            closes,
            claims,
            alternative,
            context,
            counter,
        });
    }

    fn same_claims(&self, a: (u32, u32), b: (u32, u32)) -> bool {
        self.claims[a.0 as usize..a.1 as usize] == self.claims[b.0 as usize..b.1 as usize]
    }

    fn intern(&mut self, claims: &[Claim], context: u8) -> (u32, u32) {
        let start = self.claims.len() as u32;
        for claim in claims {
            if self.relax.registers >> claim.register.kind() as u32 & 1 == 1 {
                continue;
            }
            let owner = if claim.register.is_shared() { MAX_CONTEXTS } else { context };
            let key = (claim.register, owner);
            let at = match self.registers.iter().position(|known| *known == key) {
                Some(at) => at,
                None => {
                    self.registers.push(key);
                    self.registers.len() - 1
                }
            };
            assert!(at < 128, "too many registers in one plan");
            self.claims.push((at as u8, claim.value));
        }
        (start, self.claims.len() as u32)
    }

    /// The number of requested items, without reservations.
    pub(crate) fn len(&self) -> usize {
        self.asked
    }

    /// All items: the requested ones, then the reservations.
    pub(super) fn items(&self) -> &[Item<'a>] {
        &self.items
    }

    pub(super) fn candidates_of(&self, item: u16) -> &[Candidate] {
        let (from, to) = self.ranges[usize::from(item)];
        &self.candidates[from as usize..to as usize]
    }

    pub(super) fn claims_of(&self, candidate: &Candidate) -> &[(u8, u64)] {
        &self.claims[candidate.claims.0 as usize..candidate.claims.1 as usize]
    }

    /// The counters that the item can reach in any of its candidates.
    pub(super) fn footprint(&self, item: u16) -> Footprint {
        self.footprints[usize::from(item)]
    }

    pub(super) fn has_erratum(&self) -> bool {
        self.pmu.erratum.is_some() && self.pmu.contexts > 1 && !self.relax.erratum
    }

    /// The budget of general counters per context while an excluding event runs.
    pub(super) fn erratum_budget(&self) -> Option<u8> {
        if self.has_erratum() { self.pmu.erratum.and_then(|erratum| erratum.budget) } else { None }
    }

    /// The slots of all general counters of a context.
    pub(super) fn general_of(&self, context: u8) -> Slots {
        self.general_slots(self.pmu.general, context)
    }

    pub(super) fn contexts(&self) -> u8 {
        self.pmu.contexts
    }

    /// The alternative, context and counter of a candidate and its slot.
    pub(super) fn spot(&self, item: u16, candidate: &Candidate, slot: Option<u8>) -> Spot {
        let alternative = usize::from(candidate.alternative);
        let Some(slot) = slot else {
            return Spot { context: candidate.context, alternative, counter: candidate.counter };
        };
        let (context, counter) = self.slot(slot, candidate.context);
        // A candidate may represent several alternatives that differ only in counters.
        let demand = self.items[usize::from(item)].demand;
        let fits = |other: &Alternative| {
            let reaches = match counter {
                Counter::General(n) => {
                    other.general.contains(n) && other.counter_use == CounterUse::One
                }
                Counter::Fixed(n) => other.fixed.contains(n),
            };
            reaches
                && other.claims == demand.alternatives[alternative].claims
                && other.contexts >> context & 1 == 1
        };
        let alternative = demand.alternatives.iter().position(fits).unwrap_or(alternative);
        Spot { context, alternative, counter: Some(counter) }
    }

    /// Fixed counters come first, so that they are preferred.
    fn fixed_slots(&self, fixed: CounterSet, context: u8) -> Slots {
        Slots::from(compress(fixed, self.pmu.fixed)) << self.first_slot(context)
    }

    fn general_slots(&self, general: CounterSet, context: u8) -> Slots {
        let base = self.first_slot(context) + self.pmu.fixed.len();
        Slots::from(compress(general, self.pmu.general)) << base
    }

    fn sibling_slots(&self, counter: u8, context: u8) -> Slots {
        (0..self.pmu.contexts)
            .filter(|other| *other != context)
            .fold(0, |set, other| set | self.general_slots(CounterSet::only(counter), other))
    }

    fn first_slot(&self, context: u8) -> u32 {
        if self.pmu.shares_counters() {
            0
        } else {
            u32::from(context) * u32::from(self.slots_per_context)
        }
    }

    fn slot(&self, slot: u8, hosted_by: u8) -> (u8, Counter) {
        let (context, rest) = if self.pmu.shares_counters() {
            (hosted_by, u32::from(slot))
        } else {
            (slot / self.slots_per_context, u32::from(slot % self.slots_per_context))
        };
        let fixed = self.pmu.fixed.len();
        let nth = |set: CounterSet, n: u32| set.iter().nth(n as usize).unwrap_or_default();
        if rest < fixed {
            (context, Counter::Fixed(nth(self.pmu.fixed, rest)))
        } else {
            (context, Counter::General(nth(self.pmu.general, rest - fixed)))
        }
    }
}

/// The origin of a candidate.
#[derive(Clone, Copy)]
struct Place {
    context: u8,
    alternative: u16,
    claims: (u32, u32),
}

/// The positions of `set`'s members within `universe`, as a mask.
fn compress(set: CounterSet, universe: CounterSet) -> u64 {
    // All real machines except for the small cores of hybrids number their counters without gaps.
    if universe.bits() & universe.bits().wrapping_add(1) == 0 {
        return set.and(universe).bits();
    }
    let mask = |(at, counter)| if set.contains(counter) { 1u64 << at } else { 0 };
    universe.iter().enumerate().map(mask).fold(0, |sum, bit| sum | bit)
}
