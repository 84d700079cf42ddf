//! The fewest sets that cover all events: exact up to 24 events that compete.
//!
//! A subset of a set that fits also fits, so a cover by maximal sets can be thinned
//! out to a partition. Events that compete for no resource form separate parts. Each part
//! gets a cover of its own, and set *n* of the result joins the sets *n* of all parts. On
//! NetBurst each group of counters is such a part.
//!
//! If each event of a part needs one counter and nothing else, [`deal`] solves the part as
//! a flow, exactly for any number of events. For other parts greedy covers give an upper
//! bound; flows and counting arguments give a lower one. If the bounds differ, the search
//! tries the numbers of sets between them in turn. It takes an uncovered event, tries each
//! maximal set with that event, and remembers remainders that failed. Of equivalent events
//! it tries only the first uncovered one.

use std::collections::HashMap;

use super::capacity::{deal, share_out};
use crate::allocate::{Footprint, Problem, Search};
use crate::few;

/// The most units of one part that the search covers exactly.
const EXACT: usize = 24;

/// The number of questions to the allocator before the exact search gives up on a number of sets.
///
/// The limit is deterministic. No random case of 24 events in `benches/allocate.rs` reaches it.
const PATIENCE: u32 = 1_000_000;

/// Sets of items.
pub(super) struct Cover {
    pub(super) sets: Vec<Vec<u16>>,
    /// Whether it is proved that fewer sets do not suffice.
    pub(super) fewest: bool,
}

/// Covers all units; each unit is a list of items that stay together and fit alone.
pub(super) fn fewest(
    problem: &Problem<'_>,
    search: &mut Search<'_, '_>,
    units: &[Vec<u16>],
) -> Cover {
    let mut cover = Cover { sets: Vec::new(), fewest: true };
    let mut longest = 0;
    for part in parts(problem, units) {
        let (sets, exact) = match plain(problem, &part) {
            Some(sets) => (sets, true),
            None => Part::new(problem, search, &part).cover(),
        };
        // An unproved part does not matter if another part is proved to need more sets.
        if sets.len() > longest {
            longest = sets.len();
            cover.fewest = exact;
        } else if sets.len() == longest {
            cover.fewest |= exact;
        }
        for (at, set) in sets.into_iter().enumerate() {
            if at == cover.sets.len() {
                cover.sets.push(Vec::new());
            }
            cover.sets[at].extend(set);
        }
    }
    cover
}

/// The fewest sets of a part whose events need one counter each and nothing else.
fn plain(problem: &Problem<'_>, units: &[&[u16]]) -> Option<Vec<Vec<u16>>> {
    let single = |unit: &&[u16]| if let [item] = **unit { problem.plain(item) } else { None };
    let masks = units.iter().map(single).collect::<Option<Vec<u128>>>()?;
    let reach = units.iter().fold(Footprint::default(), |sum, it| sum.or(problem.reach(it)));
    let mut beside = problem.reserved().filter(|item| problem.reach(&[*item]).touches(reach));
    let reserved = match (beside.next(), beside.next()) {
        (None, _) => None,
        (Some(item), None) => Some(problem.plain(item)?),
        _ => return None,
    };
    if problem.is_tied() {
        return None;
    }
    let (numbers, count) = deal(&masks, reserved);
    let mut sets = vec![Vec::new(); count];
    for (unit, number) in units.iter().zip(numbers) {
        sets[number].extend_from_slice(unit);
    }
    Some(sets)
}

/// Groups of units that do not compete with units of other groups.
fn parts<'u>(problem: &Problem<'_>, units: &'u [Vec<u16>]) -> Vec<Vec<&'u [u16]>> {
    let tied = problem.is_tied();
    // A reserved counter is taken in every set, so it may connect groups.
    let reserved = problem.reserved().map(|item| (problem.reach(&[item]), Vec::new()));
    let mut groups: Vec<(Footprint, Vec<usize>)> = reserved.collect();
    for (at, unit) in units.iter().enumerate() {
        let (mut reach, mut members) = (problem.reach(unit), vec![at]);
        groups.retain_mut(|(other, theirs)| {
            let joins = tied || reach.touches(*other);
            if joins {
                reach = reach.or(*other);
                members.append(theirs);
            }
            !joins
        });
        groups.push((reach, members));
    }
    let mut parts: Vec<Vec<usize>> = groups.into_iter().map(|(_, members)| members).collect();
    parts.retain(|members| !members.is_empty());
    for members in &mut parts {
        few::sort(members);
    }
    few::sort(&mut parts);
    let units = |part: Vec<usize>| part.into_iter().map(|at| units[at].as_slice()).collect();
    parts.into_iter().map(units).collect()
}

/// A set of units of one part.
type Units = u128;

/// Units that take general counters of a context.
///
/// A set offers `room` counters, but only `budget` if it contains an excluding unit.
struct Pool {
    members: Units,
    excluding: Units,
    room: u32,
    budget: u32,
}

impl Pool {
    /// The least number of sets: each set with an excluding unit loses `room - budget` counters.
    fn need(&self, open: Units) -> u32 {
        let tight = (open & self.excluding).count_ones().div_ceil(self.budget.max(1));
        ((open & self.members).count_ones() + tight * (self.room - self.budget)).div_ceil(self.room)
    }
}

/// One part, and the search's findings about it.
struct Part<'s, 'p, 'a, 'u> {
    search: &'s mut Search<'p, 'a>,
    units: &'u [&'u [u16]],
    /// For each unit, the slots of which it takes one; 0 if unknown.
    reaches: Vec<u128>,
    /// For each unit, the registers of which it takes one for itself; 0 if unknown.
    owns: Vec<u128>,
    /// Units that exclude each other in pairs.
    clique: Units,
    pools: Vec<Pool>,
    /// For each unit, the equivalent units before it.
    alike: Vec<Units>,
    known: HashMap<Units, bool>,
    failed: HashMap<Units, u32>,
    questions: u32,
    items: Vec<u16>,
}

impl<'s, 'p, 'a, 'u> Part<'s, 'p, 'a, 'u> {
    fn new(problem: &Problem<'_>, search: &'s mut Search<'p, 'a>, units: &'u [&'u [u16]]) -> Self {
        let mut part = Part {
            search,
            units,
            reaches: units.iter().map(|unit| problem.reach_of(unit)).collect(),
            owns: Vec::new(),
            clique: 0,
            pools: Vec::new(),
            alike: Vec::new(),
            known: HashMap::new(),
            failed: HashMap::new(),
            questions: 0,
            items: Vec::new(),
        };
        if units.len() <= Units::BITS as usize {
            part.owns = units.iter().map(|unit| problem.own_registers(unit)).collect();
            part.clique = part.find_clique();
            part.pools = problem
                .erratum_pools(units)
                .into_iter()
                .map(|(members, excluding, [room, budget])| {
                    let (members, excluding) = (to_set(members), to_set(excluding));
                    Pool { members, excluding, room, budget }
                })
                .collect();
            part.alike = (0..units.len())
                .map(|at| {
                    let like = |other: &usize| problem.alike(units[*other], units[at]);
                    (0..at).filter(like).fold(0, |set, other| set | 1 << other)
                })
                .collect();
        }
        part
    }

    /// The sets, and whether they are as few as possible.
    fn cover(mut self) -> (Vec<Vec<u16>>, bool) {
        let asked: Vec<usize> = (0..self.units.len()).collect();
        let mut best = self.first_fit(&asked);
        if self.units.len() > Units::BITS as usize {
            let exact = best.len() == 1;
            return (self.spell(&best), exact);
        }
        // Units that fit with few others come first, while those others are still free.
        let mut fewest_first = asked.clone();
        let compatible: Vec<usize> = asked
            .iter()
            .map(|a| asked.iter().filter(|b| self.fits(1 << *a | 1 << **b)).count())
            .collect();
        few::sort_by_key(&mut fewest_first, |at| (compatible[*at], *at));
        let other = self.first_fit(&fewest_first);
        if other.len() < best.len() {
            best = other;
        }
        let all = Units::MAX >> (Units::BITS as usize - self.units.len());
        let mut sets = 1;
        while self.is_too_few(all, sets) {
            sets += 1;
        }
        while sets < best.len() as u32 && self.units.len() <= EXACT {
            self.questions = 0;
            self.failed.clear();
            let mut chosen = Vec::new();
            match self.cover_in(all, sets, &fewest_first, &mut chosen) {
                Some(true) => {
                    best = chosen.into_iter().map(to_list).collect();
                    break;
                }
                Some(false) => sets += 1,
                None => break,
            }
        }
        let exact = best.len() as u32 == sets;
        (self.spell(&best), exact)
    }

    fn spell(&self, sets: &[Vec<usize>]) -> Vec<Vec<u16>> {
        let items = |at: &usize| self.units[*at].iter().copied();
        sets.iter().map(|set| set.iter().flat_map(items).collect()).collect()
    }

    /// Puts each unit in the first set where it fits.
    fn first_fit(&mut self, order: &[usize]) -> Vec<Vec<usize>> {
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for &unit in order {
            let place = (0..sets.len()).find(|at| {
                self.items.clear();
                for member in sets[*at].iter().chain([&unit]) {
                    self.items.extend(self.units[*member]);
                }
                self.search.fits(&self.items)
            });
            match place {
                Some(at) => sets[at].push(unit),
                None => sets.push(vec![unit]),
            }
        }
        sets
    }

    /// Whether the open units fit into `sets` sets; `None` if the search gave up.
    ///
    /// The sets are disjoint: each is maximal among the units that were open at its choice.
    fn cover_in(
        &mut self,
        open: Units,
        sets: u32,
        order: &[usize],
        chosen: &mut Vec<Units>,
    ) -> Option<bool> {
        let Some(&pivot) = order.iter().find(|at| open >> **at & 1 == 1) else {
            return Some(true);
        };
        if self.failed.get(&open).is_some_and(|tried| *tried >= sets) || self.is_too_few(open, sets)
        {
            return Some(false);
        }
        let mut candidates: Vec<usize> =
            order.iter().copied().filter(|at| open >> at & 1 == 1 && *at != pivot).collect();
        candidates.reverse();
        if self.extend(1 << pivot, candidates, open, sets, order, chosen)? {
            return Some(true);
        }
        self.failed.insert(open, sets);
        Some(false)
    }

    /// Extends `set` by candidates to each maximal set in turn, and covers the other units.
    fn extend(
        &mut self,
        set: Units,
        mut candidates: Vec<usize>,
        open: Units,
        sets: u32,
        order: &[usize],
        chosen: &mut Vec<Units>,
    ) -> Option<bool> {
        while let Some(next) = candidates.pop() {
            // Among equivalent units, the first open one is taken first.
            if self.alike[next] & open & !set != 0 {
                continue;
            }
            if !self.ask(set | 1 << next)? {
                continue;
            }
            if self.extend(set | 1 << next, candidates.clone(), open, sets, order, chosen)? {
                return Some(true);
            }
            // From here on the set leaves out `next`. The check below rejects the set if
            // `next` still fits, since the set is not maximal then.
        }
        for at in 0..self.units.len() {
            if (open & !set) >> at & 1 == 1 && self.ask(set | 1 << at)? {
                return Some(false);
            }
        }
        chosen.push(set);
        if self.cover_in(open & !set, sets - 1, order, chosen)? {
            return Some(true);
        }
        chosen.pop();
        Some(false)
    }

    fn ask(&mut self, set: Units) -> Option<bool> {
        if let Some(known) = self.known.get(&set) {
            return Some(*known);
        }
        self.questions += 1;
        if self.questions > PATIENCE { None } else { Some(self.fits(set)) }
    }

    fn fits(&mut self, set: Units) -> bool {
        if let Some(known) = self.known.get(&set) {
            return *known;
        }
        self.items.clear();
        for at in to_list(set) {
            self.items.extend(self.units[at]);
        }
        let fits = self.search.fits(&self.items);
        self.known.insert(set, fits);
        fits
    }

    /// Whether counting arguments show that the open units need more than `sets` sets.
    fn is_too_few(&self, open: Units, sets: u32) -> bool {
        let flows = |masks: &[u128]| {
            let open: Vec<u128> = to_list(open).into_iter().map(|at| masks[at]).collect();
            share_out(&open, sets as usize).is_some()
        };
        open != 0
            && (sets == 0
                || (open & self.clique).count_ones() > sets
                || self.pools.iter().any(|pool| pool.need(open) > sets)
                || !flows(&self.reaches)
                || !flows(&self.owns))
    }

    /// Units that exclude each other in pairs, found greedily.
    fn find_clique(&mut self) -> Units {
        let mut members: Units = 0;
        for at in 0..self.units.len() {
            if to_list(members).into_iter().all(|other| !self.fits(1 << at | 1 << other)) {
                members |= 1 << at;
            }
        }
        members
    }
}

fn to_set(list: Vec<usize>) -> Units {
    list.into_iter().fold(0, |set, at| set | 1 << at)
}

fn to_list(set: Units) -> Vec<usize> {
    (0..Units::BITS as usize).filter(|at| set >> at & 1 == 1).collect()
}
