//! Explains a refusal: the contested resource, its holder, and the remedies.
//!
//! The explanation is exact. The resource is found by dropping one rule after the other until the
//! events fit. A remedy is named only if the events fit with it.

use std::sync::Arc;

use super::conflict::{Conflict, ConflictingEvent, Details, Holder, Resource, minimal};
use super::division::{Division, Grant};
use super::problem::{Item, Problem, Relax, Spot};
use super::search::Search;
use super::{Alternative, CounterUse, Pmu, Register, RegisterKind};
use crate::CounterSet;
use crate::few;

/// No rule is dropped.
const ALL_RULES: Relax = Relax { reservations: false, erratum: false, alone: false, registers: 0 };

/// A placement that failed.
pub(crate) struct PlacementError<'r, 'a> {
    pub(crate) pmu: &'a Pmu,
    pub(crate) division: &'r Division,
    /// The requested events of all threads.
    pub(crate) items: &'r [Item<'a>],
    /// Thread and position of each event.
    pub(crate) asked: &'r [(u8, usize)],
}

impl<'a> PlacementError<'_, 'a> {
    /// Finds a minimal conflict and explains it.
    ///
    /// # Panics
    /// If the events fit.
    #[cold]
    pub(crate) fn explain(&self) -> Conflict {
        let problem = Problem::new(self.pmu, &self.division.grants, self.items, Relax::default());
        let set = minimal(&problem);
        let items: Vec<Item<'a>> = set.iter().map(|at| self.items[usize::from(*at)]).collect();
        let events = set
            .iter()
            .map(|at| {
                let (thread, event) = self.asked[usize::from(*at)];
                let name = Arc::clone(&self.items[usize::from(*at)].demand.name);
                ConflictingEvent { thread, event, name }
            })
            .collect();
        explain(self, &items, events)
    }

    /// Whether these events fit with other rules or another division.
    fn fits(&self, items: &[Item<'_>], relax: Relax, grants: &[Grant]) -> bool {
        let problem = Problem::new(self.pmu, grants, items, relax);
        Search::new(&problem).fits_all()
    }
}

fn explain(
    refusal: &PlacementError<'_, '_>,
    items: &[Item<'_>],
    events: Vec<ConflictingEvent>,
) -> Conflict {
    let resource = if let [item] = items {
        resource_of_one(refusal, item)
    } else {
        resource_of_many(refusal, items)
    };
    let holders = holders(refusal, items, &events, &resource);
    let cause = cause(refusal.pmu, items, &events, &resource);
    let reason = match taken(&events, &holders) {
        Some(taken) if items.len() > 1 || matches!(resource, Resource::Reserved { .. }) => {
            format!("{cause}: {taken}")
        }
        _ => cause.clone(),
    };
    let remedy = remedies(refusal, items, &events, &resource).join("; or ");
    Conflict(Box::new(Details { events, resource, holders, cause, reason, remedy }))
}

/// The reason why one event alone cannot be placed.
fn resource_of_one(refusal: &PlacementError<'_, '_>, item: &Item<'_>) -> Resource {
    let pmu = refusal.pmu;
    let alone = std::slice::from_ref(item);
    let free = Relax { reservations: true, ..Relax::default() };
    if item.contexts == 0 {
        return Resource::Context;
    }
    if fits_wider(refusal, alone) {
        let grant = refusal
            .division
            .grants
            .iter()
            .enumerate()
            .find(|(context, _)| item.contexts >> context & 1 == 1)
            .map(|(_, grant)| *grant);
        let half = grant.filter(|grant| grant.active).and_then(|grant| grant.half);
        return Resource::Half { half };
    }
    if refusal.fits(alone, free, &refusal.division.grants) {
        return reserved(refusal, alone);
    }
    if fits_with_withheld(refusal, alone) {
        return Resource::Withheld { general: pmu.withheld };
    }
    if fits_smt_off(refusal, alone) {
        return Resource::SmtOff { general: item.demand.smt_off.and(pmu.general_smt_off) };
    }
    Resource::Nothing
}

/// The reason why events that fit one by one do not fit together.
fn resource_of_many(refusal: &PlacementError<'_, '_>, items: &[Item<'_>]) -> Resource {
    // The contested resource is not a withheld counter, unless that counter would help.
    let mut pmu = refusal.pmu.clone();
    if !fits_with_withheld(refusal, items) {
        pmu = pmu.allowing_all_counters();
    }
    let fits = |relax| {
        let problem = Problem::new(&pmu, &refusal.division.grants, items, relax);
        Search::new(&problem).fits_all()
    };
    let Some(dropped) = fewest_dropped(fits) else {
        return counters(refusal, items);
    };
    if dropped.registers == 0 {
        return match pmu.erratum {
            Some(erratum) if dropped.erratum => Resource::Erratum { name: erratum.name },
            _ if dropped.reservations => reserved(refusal, items),
            _ => Resource::Alone { general: pmu.general() },
        };
    }
    let mut kinds: Vec<RegisterKind> = claimed(items).iter().map(|(it, _)| it.kind()).collect();
    few::sort(&mut kinds);
    kinds.dedup();
    let enough = |kind: &&RegisterKind| fits(Relax { registers: 1 << **kind as u32, ..dropped });
    let kinds = match kinds.iter().find(enough) {
        Some(kind) => vec![*kind],
        None => kinds,
    };
    // A register is not contested if all events need the same value in it. A register that only one
    // event claims is contested: the event could have used it.
    let claims = claimed(items);
    let contested = |register: &Register| {
        let mut values = claims.iter().filter(|(it, _)| it == register).map(|(_, value)| value);
        let first = values.next();
        values.any(|value| Some(value) != first) || claimants(items, *register) == 1
    };
    let mut registers: Vec<Register> = claims
        .iter()
        .map(|(register, _)| *register)
        .filter(|register| kinds.contains(&register.kind()) && contested(register))
        .filter(|register| is_granted(&refusal.division.grants, items, *register))
        .collect();
    few::sort(&mut registers);
    registers.dedup();
    Resource::Registers { registers }
}

/// The fewest rules without which the events fit; `None` if they lack counters under no rule, either.
///
/// Events that share a register often must count alone, too. Then neither rule is the whole reason, and
/// both are dropped.
fn fewest_dropped(fits: impl Fn(Relax) -> bool) -> Option<Relax> {
    let single = [
        Relax { reservations: true, ..ALL_RULES },
        Relax { erratum: true, ..ALL_RULES },
        Relax { registers: u32::MAX, ..ALL_RULES },
        Relax { alone: true, ..ALL_RULES },
    ];
    if let Some(one) = single.into_iter().find(|relax| fits(*relax)) {
        return Some(one);
    }
    let mut dropped = Relax { reservations: true, erratum: true, alone: true, registers: u32::MAX };
    if !fits(dropped) {
        return None;
    }
    let restored: [fn(Relax) -> Relax; 4] = [
        |relax| Relax { alone: false, ..relax },
        |relax| Relax { reservations: false, ..relax },
        |relax| Relax { erratum: false, ..relax },
        |relax| Relax { registers: 0, ..relax },
    ];
    for restored in restored {
        if fits(restored(dropped)) {
            dropped = restored(dropped);
        }
    }
    Some(dropped)
}

/// Whether any of the events may use the register under this division.
fn is_granted(grants: &[Grant], items: &[Item<'_>], register: Register) -> bool {
    let own = |(context, grant): (usize, &Grant)| {
        let half =
            grant.half.is_none() || register.half().is_none() || grant.half == register.half();
        grant.active && half && is_near(context as u8, items)
    };
    grants.iter().enumerate().any(own)
}

fn claimants(items: &[Item<'_>], register: Register) -> usize {
    let claims = |item: &&Item<'_>| {
        let mut all = item.demand.alternatives.iter().flat_map(|alternative| &alternative.claims);
        all.any(|claim| claim.register == register)
    };
    items.iter().filter(claims).count()
}

fn claimed(items: &[Item<'_>]) -> Vec<(Register, u64)> {
    let alternatives = items.iter().flat_map(|item| &item.demand.alternatives);
    alternatives
        .flat_map(|alternative| &alternative.claims)
        .map(|claim| (claim.register, claim.value))
        .collect()
}

fn counters(refusal: &PlacementError<'_, '_>, items: &[Item<'_>]) -> Resource {
    let (mut general, mut fixed) = (CounterSet::EMPTY, CounterSet::EMPTY);
    for item in items {
        let granted = refusal
            .division
            .grants
            .iter()
            .enumerate()
            .filter(|(context, grant)| item.contexts >> context & 1 == 1 && grant.active)
            .fold(CounterSet::EMPTY, |set, (_, grant)| set.or(grant.general));
        for alternative in &item.demand.alternatives {
            general = general.or(alternative.general.and(granted).and(refusal.pmu.general()));
            fixed = fixed.or(alternative.fixed.and(refusal.pmu.fixed()));
        }
    }
    Resource::Counters { general, fixed }
}

fn reserved(refusal: &PlacementError<'_, '_>, items: &[Item<'_>]) -> Resource {
    let reservations = &refusal.pmu.reservations;
    let holder = reservations
        .iter()
        .find(|held| is_near(held.context, items))
        .or(reservations.first())
        .map_or_else(String::new, |held| held.holder.clone());
    Resource::Reserved { holder }
}

/// Whether a context's own counters matter to these events.
fn is_near(context: u8, items: &[Item<'_>]) -> bool {
    items.iter().any(|item| item.contexts >> context & 1 == 1)
}

/// The holder of each resource after all events but the last are placed.
fn holders(
    refusal: &PlacementError<'_, '_>,
    items: &[Item<'_>],
    events: &[ConflictingEvent],
    resource: &Resource,
) -> Vec<Holder> {
    let placed = &items[..items.len() - 1];
    let problem = Problem::new(refusal.pmu, &refusal.division.grants, placed, Relax::default());
    let mut search = Search::new(&problem);
    if !search.fits_all() {
        return Vec::new();
    }
    let mut holders = Vec::new();
    let mut hold = |item: &Item<'_>, spot: Spot, who: String| {
        if let Resource::Registers { registers } = resource {
            for claim in &item.demand.alternatives[spot.alternative].claims {
                if registers.contains(&claim.register) {
                    holders.push(Holder { what: claim.register.to_string(), who: who.clone() });
                }
            }
        } else if let Some(counter) = spot.counter {
            holders.push(Holder { what: counter.to_string(), who });
        }
    };
    for (at, item) in placed.iter().enumerate() {
        hold(item, search.spot(at as u16), whose(&events[at]));
    }
    for (held, at) in refusal.pmu.reservations.iter().zip(placed.len()..) {
        if refusal.pmu.shares_counters() || is_near(held.context, items) {
            let item = Item { demand: &held.demand, contexts: 1 << held.context, reserved: true };
            hold(&item, search.spot(at as u16), held.holder.clone());
        }
    }
    holders
}

fn whose(event: &ConflictingEvent) -> String {
    format!("{} of thread {}", event.name, event.thread)
}

/// Names the holders, and says that no resource is left for the last event.
fn taken(events: &[ConflictingEvent], holders: &[Holder]) -> Option<String> {
    let last = whose(events.last()?);
    let parts: Vec<String> =
        holders.iter().map(|held| format!("{} has {}, ", held.who, held.what)).collect();
    let join = if parts.is_empty() { "" } else { "and " };
    Some(format!("{}{join}nothing is left for {last}", parts.concat()))
}

fn cause(
    pmu: &Pmu,
    items: &[Item<'_>],
    events: &[ConflictingEvent],
    resource: &Resource,
) -> String {
    let last = events.last().map(whose).unwrap_or_default();
    let count = events.len();
    match resource {
        Resource::Context => format!(
            "thread {} has no hardware context: a core of {} has {}",
            events[0].thread, pmu.name, pmu.contexts
        ),
        Resource::Alone { general } => {
            let is_alone = |item: &&Item<'_>| item.demand.alternatives.iter().any(is_taken_alone);
            let alone = items.iter().find(is_alone).map_or("", |item| &item.demand.name);
            format!("{alone} must count alone, so it takes all of counters {general}")
        }
        Resource::Counters { .. } => {
            format!("{count} events need {resource}, which are not enough")
        }
        Resource::Erratum { name } => {
            let budget = match pmu.erratum.and_then(|erratum| erratum.budget) {
                Some(budget) => format!(", and each context may use {budget} general counters"),
                None => String::new(),
            };
            format!(
                "by erratum {name} a memory-retired event (D0 to D3) closes its counter to the \
                 sibling{budget} while it runs"
            )
        }
        Resource::Half { half: Some(half) } => format!(
            "{last} needs a counter or register of the other half: the even split gives \
             thread {} half {half} of the core only",
            events[0].thread
        ),
        Resource::Half { half: None } => {
            format!("the split gives thread {} no counters at all", events[0].thread)
        }
        Resource::Nothing => format!("no counter of {} can count {}", pmu.name, events[0].name),
        Resource::Registers { registers } => {
            let whose = if registers.iter().any(|it| it.is_shared()) { "core" } else { "thread" };
            format!(
                "each wants its own setting in {resource}, and a register of the {whose} holds \
                 one value at a time"
            )
        }
        Resource::Reserved { holder } => {
            format!("{holder} counts already and cannot be moved")
        }
        Resource::SmtOff { general } => format!(
            "{} is counted by counters {general} only, which a context has only with SMT off \
             since reset",
            events[0].name
        ),
        Resource::Withheld { general } => format!(
            "{} needs counter {general}, which is not used by default: {}",
            events[0].name, pmu.withheld_because
        ),
    }
}

fn is_taken_alone(alternative: &Alternative) -> bool {
    alternative.counter_use == CounterUse::Alone
}

fn remedies(
    refusal: &PlacementError<'_, '_>,
    items: &[Item<'_>],
    events: &[ConflictingEvent],
    resource: &Resource,
) -> Vec<String> {
    let mut list = Vec::new();
    if let (Resource::Reserved { .. }, Some(held)) =
        (resource, refusal.pmu.reservations.iter().find(|held| !held.remedy.is_empty()))
    {
        list.push(held.remedy.clone());
    }
    if let Some((how, _)) = refusal.division.wider.as_ref().filter(|_| fits_wider(refusal, items)) {
        list.push((*how).to_owned());
    }
    if fits_with_withheld(refusal, items) {
        list.push(format!("allow counter {}, at your own risk", refusal.pmu.withheld));
    }
    if fits_smt_off(refusal, items) {
        let general = refusal.pmu.general_smt_off;
        list.push(format!(
            "turn SMT off in the firmware, which gives a context {} general counters",
            general.len()
        ));
    }
    if let Some(last) = events.last().filter(|_| events.len() > 1) {
        let others = if events.len() == 2 { "the other" } else { "the others" };
        list.push(format!(
            "rotate event sets: {} in one execution, {others} in the next",
            whose(last)
        ));
    }
    if list.is_empty() {
        list.push(match resource {
            Resource::Context => "run fewer threads on this core".to_owned(),
            _ => format!("ask for another event; {} cannot count this one", refusal.pmu.name),
        });
    }
    list
}

fn fits_wider(refusal: &PlacementError<'_, '_>, items: &[Item<'_>]) -> bool {
    let wider: Option<&[Grant]> =
        refusal.division.wider.as_ref().map(|(_, grants)| grants.as_slice());
    wider.is_some_and(|grants| refusal.fits(items, Relax::default(), grants))
}

fn fits_with_withheld(refusal: &PlacementError<'_, '_>, items: &[Item<'_>]) -> bool {
    if refusal.pmu.withheld.is_empty() {
        return false;
    }
    let pmu = refusal.pmu.clone().allowing_all_counters();
    let problem = Problem::new(&pmu, &refusal.division.grants, items, Relax::default());
    Search::new(&problem).fits_all()
}

/// Whether one thread's events would fit on the counters of a core without SMT.
fn fits_smt_off(refusal: &PlacementError<'_, '_>, items: &[Item<'_>]) -> bool {
    let pmu = refusal.pmu;
    let one_thread = items.windows(2).all(|pair| pair[0].contexts == pair[1].contexts);
    if pmu.general_smt_off == pmu.general || !one_thread {
        return false;
    }
    let mut alone = Pmu::per_context(pmu.name.clone(), 1, pmu.general_smt_off);
    alone.fixed = pmu.fixed;
    let demands: Vec<_> = items
        .iter()
        .map(|item| {
            let mut demand = item.demand.clone();
            for alternative in
                demand.alternatives.iter_mut().filter(|alternative| !alternative.general.is_empty())
            {
                alternative.general = demand.smt_off;
            }
            if demand.alternatives.is_empty() && !demand.smt_off.is_empty() {
                demand.alternatives.push(Alternative::general(demand.smt_off));
            }
            demand
        })
        .collect();
    let items: Vec<Item<'_>> =
        demands.iter().map(|demand| Item { demand, contexts: 1, reserved: false }).collect();
    let grants = [Grant { general: pmu.general_smt_off, half: None, active: true }];
    let problem = Problem::new(&alone, &grants, &items, Relax::default());
    Search::new(&problem).fits_all()
}
