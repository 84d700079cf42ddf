//! Exact search: propagation over registers, matching over counters, then backtracking.
//!
//! Events that compete for no resource form components, and each component is solved
//! separately. So the search does not retry one component's dead end for every
//! arrangement of another. On NetBurst the counter groups BPU, MS, FLAME and IQ are such
//! components: no event reaches two of them. Within a component, each step
//!
//! 1. drops candidates whose registers hold another value or whose counters are taken,
//!    and settles events with one candidate left, until nothing changes;
//! 2. asks the matching whether the counters suffice if every open event may use all
//!    counters of its candidates: a "no" ends the branch;
//! 3. tries the candidates of the most constrained open event in turn.
//!
//! A "no" at the top level proves that there is no placement. The search never branches on
//! events whose candidates differ only in the counter: the matching places them.

use super::matching::{Budget, Matching, Slots};
use super::pmu::MAX_CONTEXTS;
use super::problem::{Candidate, Problem, Spot};
use crate::few;

/// Storage of one search, reused between calls on the same problem.
#[derive(Debug)]
pub(crate) struct Search<'p, 'a> {
    problem: &'p Problem<'a>,
    matching: Matching,
    /// Candidate of each item; `OPEN` while undecided.
    chosen: Vec<u32>,
    slots: Vec<Option<u8>>,
    /// Values of the register instances that are set in [`State::held`].
    values: [u64; 128],
    trail: Vec<u16>,
    masks: Vec<Slots>,
    matched: Vec<u16>,
    all: Vec<u16>,
    component: Vec<u16>,
    budget: Option<u8>,
}

const OPEN: u32 = u32::MAX;

/// The resources that the decisions so far have taken.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Register instances that hold a value.
    held: u128,
    /// Slots taken by candidates that leave the matching no choice.
    taken: Slots,
    /// Slots of siblings that an excluding event has closed.
    closed: Slots,
}

impl<'p, 'a> Search<'p, 'a> {
    pub(crate) fn new(problem: &'p Problem<'a>) -> Self {
        let items = problem.items().len();
        Search {
            problem,
            matching: Matching::new(),
            chosen: vec![OPEN; items],
            slots: vec![None; items],
            values: [0; 128],
            trail: Vec::with_capacity(items),
            masks: Vec::with_capacity(items),
            matched: Vec::with_capacity(items),
            all: Vec::with_capacity(items),
            component: Vec::with_capacity(items),
            budget: None,
        }
    }

    /// Whether all requested items fit together.
    pub(crate) fn fits_all(&mut self) -> bool {
        let everything: Vec<u16> = (0..self.problem.len() as u16).collect();
        self.fits(&everything)
    }

    /// Whether these items and all reserved ones fit together.
    pub(crate) fn fits(&mut self, items: &[u16]) -> bool {
        let problem = self.problem;
        self.all.clear();
        self.all.extend_from_slice(items);
        self.all.extend(problem.len() as u16..problem.items().len() as u16);
        let excludes = |item: &u16| problem.items()[usize::from(*item)].demand.excludes_sibling;
        self.budget = problem.erratum_budget().filter(|_| self.all.iter().any(excludes));
        for &item in &self.all {
            self.chosen[usize::from(item)] = OPEN;
            self.slots[usize::from(item)] = None;
        }
        while let Some(first) = self.all.pop() {
            self.component.clear();
            self.component.push(first);
            let mut grown = 0;
            while grown < self.component.len() {
                let member = self.component[grown];
                grown += 1;
                let mut at = 0;
                while at < self.all.len() {
                    if self.related(member, self.all[at]) {
                        let next = self.all.swap_remove(at);
                        self.component.push(next);
                    } else {
                        at += 1;
                    }
                }
            }
            few::sort(&mut self.component);
            if !self.descend(State::default()) {
                return false;
            }
        }
        true
    }

    /// The placement of an item by the last successful [`Self::fits`].
    pub(crate) fn spot(&self, item: u16) -> Spot {
        let at = usize::from(item);
        let candidate = &self.problem.candidates_of(item)[self.chosen[at] as usize];
        self.problem.spot(item, candidate, self.slots[at])
    }

    fn related(&self, a: u16, b: u16) -> bool {
        // A budget ties all general counters of a context together.
        self.budget.is_some() || self.problem.footprint(a).touches(self.problem.footprint(b))
    }

    fn descend(&mut self, mut state: State) -> bool {
        let mark = self.trail.len();
        let Some(branch) = self.propagate(&mut state) else {
            self.undo(mark);
            return false;
        };
        if !self.counters_suffice(&state) {
            self.undo(mark);
            return false;
        }
        let Some(item) = branch else {
            for (position, slot) in self.matching.pairs() {
                self.slots[usize::from(self.matched[position])] = Some(slot);
            }
            return true;
        };
        for number in 0..self.problem.candidates_of(item).len() {
            let candidate = self.problem.candidates_of(item)[number];
            if self.viable(&candidate, &state) {
                let inner = self.trail.len();
                let mut next = state;
                self.settle(item, number as u32, &candidate, &mut next);
                if self.descend(next) {
                    return true;
                }
                self.undo(inner);
            }
        }
        self.undo(mark);
        false
    }

    /// Settles every item with one candidate left.
    ///
    /// Returns the most constrained open item, or `Some(None)` if no item is open. `None`
    /// means that an item has no candidate left.
    fn propagate(&mut self, state: &mut State) -> Option<Option<u16>> {
        loop {
            let mut changed = false;
            let mut tightest: Option<(usize, u16)> = None;
            for at in 0..self.component.len() {
                let item = self.component[at];
                if self.chosen[usize::from(item)] != OPEN {
                    continue;
                }
                let mut viable = 0;
                let mut only = None;
                for (number, candidate) in self.problem.candidates_of(item).iter().enumerate() {
                    if self.viable(candidate, state) {
                        viable += 1;
                        only = Some((number as u32, *candidate));
                    }
                }
                let (number, candidate) = only?;
                if viable == 1 {
                    self.settle(item, number, &candidate, state);
                    changed = true;
                } else if tightest.is_none_or(|(fewest, _)| viable < fewest) {
                    tightest = Some((viable, item));
                }
            }
            if !changed {
                return Some(tightest.map(|(_, item)| item));
            }
        }
    }

    fn viable(&self, candidate: &Candidate, state: &State) -> bool {
        let gone = state.taken | state.closed;
        let counters = if candidate.any_of != 0 {
            candidate.any_of & !gone != 0
        } else {
            candidate.all_of & gone == 0 && candidate.closes & state.taken == 0
        };
        counters
            && self.problem.claims_of(candidate).iter().all(|&(register, value)| {
                state.held >> register & 1 == 0 || self.values[usize::from(register)] == value
            })
    }

    fn settle(&mut self, item: u16, number: u32, candidate: &Candidate, state: &mut State) {
        self.chosen[usize::from(item)] = number;
        self.trail.push(item);
        for &(register, value) in self.problem.claims_of(candidate) {
            state.held |= 1 << register;
            self.values[usize::from(register)] = value;
        }
        state.taken |= candidate.all_of;
        state.closed |= candidate.closes;
    }

    fn undo(&mut self, mark: usize) {
        for item in self.trail.drain(mark..) {
            self.chosen[usize::from(item)] = OPEN;
        }
    }

    /// Whether the counters suffice if every open item may use all counters that it reaches.
    fn counters_suffice(&mut self, state: &State) -> bool {
        let gone = state.taken | state.closed;
        self.masks.clear();
        self.matched.clear();
        for &item in &self.component {
            let all = self.problem.candidates_of(item);
            let mask = match self.chosen[usize::from(item)] {
                OPEN => {
                    let open = all.iter().filter(|candidate| self.viable(candidate, state));
                    let mut reach = 0;
                    let mut uncounted = false;
                    for candidate in open {
                        let slots = candidate.any_of | candidate.all_of;
                        uncounted |= slots == 0;
                        reach |= slots & !gone;
                    }
                    if uncounted {
                        continue;
                    }
                    reach
                }
                number => {
                    let any_of = all[number as usize].any_of;
                    if any_of == 0 {
                        continue;
                    }
                    any_of & !gone
                }
            };
            self.masks.push(mask);
            self.matched.push(item);
        }
        let mut budgets = [Budget::default(); MAX_CONTEXTS as usize];
        let mut count = 0;
        if let Some(budget) = self.budget {
            for context in 0..self.problem.contexts() {
                let slots = self.problem.general_of(context);
                // An event counts once, however many slots it takes.
                let spends = |item: &&u16| {
                    let chosen = self.chosen[usize::from(**item)];
                    chosen != OPEN
                        && self.problem.candidates_of(**item)[chosen as usize].all_of & slots != 0
                };
                let spent = self.component.iter().filter(spends).count() as u8;
                let Some(left) = budget.checked_sub(spent) else { return false };
                budgets[usize::from(context)] = Budget { slots, left };
                count += 1;
            }
        }
        self.matching.find(&self.masks, &budgets[..count])
    }
}
