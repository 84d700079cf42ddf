//! The proof that events fit, and their placements.

use std::fmt;
use std::sync::Arc;

use super::problem::{Item, Spot};
use super::{Claim, Counter, CounterUse, Pmu, RegisterKind};
use crate::CounterSet;
use crate::few;

/// A legal placement of one context's events.
///
/// Only the allocator makes one. So an `Assignment` proves that the placement is legal
/// together with the others of its plan, and backends choose no counter themselves.
///
/// ```compile_fail,E0451
/// use pacman_events::allocate::Assignment;
/// let forged = Assignment { context: 0, placements: Vec::new() };
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    context: u8,
    placements: Vec<Placement>,
}

/// The placement of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    event: usize,
    name: Arc<str>,
    alternative: usize,
    counter: Option<Counter>,
    counter_use: CounterUse,
    claims: Vec<Claim>,
    awake: Option<Counter>,
    counts_core: bool,
}

impl Assignment {
    /// The hardware context that the events are counted on, from 0.
    pub fn context(&self) -> u8 {
        self.context
    }

    /// The placements, in the order of the requested events.
    ///
    /// They are fewer than requested only if a schedule puts some events into another set. Use
    /// [`Placement::event`] to find each placement's event.
    pub fn placements(&self) -> &[Placement] {
        &self.placements
    }

    /// The general counters that the events take, including merged ones. Counters that only stay
    /// [awake](Placement::awake) are not among them.
    pub fn general(&self) -> CounterSet {
        let taken = self.placements.iter().map(Placement::taken);
        taken.fold(CounterSet::EMPTY, CounterSet::or)
    }
}

impl Placement {
    /// The event's position in the requested list.
    pub fn event(&self) -> usize {
        self.event
    }

    /// The event's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The index of the chosen one of
    /// [`EventConstraints::alternatives`](super::EventConstraints::alternatives).
    pub fn alternative(&self) -> usize {
        self.alternative
    }

    /// The counter that counts it; `None` for an event that only tags, or that the
    /// operating system counts.
    pub fn counter(&self) -> Option<Counter> {
        self.counter
    }

    /// The number of counters that it takes.
    pub fn counter_use(&self) -> CounterUse {
        self.counter_use
    }

    /// Every register that must hold a value while the event counts. On NetBurst its own ESCR comes
    /// first. Tag bits and the like have no number.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// The ESCR that selects the event (NetBurst): register and value, including T bits.
    pub fn escr(&self) -> Option<Claim> {
        self.claims.iter().copied().find(|claim| claim.register.kind() == RegisterKind::Escr)
    }

    /// The registers to write, each with its value: ESCRs, replay tagging, or the chosen one of
    /// twin extra registers. The choice of a twin also decides the event select, see
    /// [`ExtraReg::choices`](crate::encode::ExtraReg::choices).
    pub fn registers(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let numbered = |claim: &Claim| claim.register.number().map(|msr| (msr, claim.value));
        self.claims.iter().filter_map(numbered)
    }

    /// A counter to enable although this event does not count on it. A tagging ESCR works only
    /// while a counter wired to it is enabled (SDM Vol. 3, "Tagging mechanism for front-end,
    /// execution and replay events").
    ///
    /// Another event may count on this counter, even a sibling's event.
    pub fn awake(&self) -> Option<Counter> {
        self.awake
    }

    /// Whether the count covers the whole core, so that siblings' counts must not be
    /// added.
    pub fn counts_core(&self) -> bool {
        self.counts_core
    }

    /// The general counters that it takes.
    fn taken(&self) -> CounterSet {
        match (self.counter, self.counter_use) {
            (Some(Counter::General(n)), CounterUse::Pair) => CounterSet::only(n).with(n + 1),
            (Some(Counter::General(n)), _) => CounterSet::only(n),
            _ => CounterSet::EMPTY,
        }
    }
}

/// One placement a line: event, counter, ESCR.
impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for placement in &self.placements {
            writeln!(f, "context {}: {placement}", self.context)?;
        }
        Ok(())
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.counter {
            Some(counter) => write!(f, " on {counter}")?,
            None => f.write_str(" without a counter")?,
        }
        if let Some(escr) = self.escr() {
            write!(f, " through {}", escr.register)?;
        }
        Ok(())
    }
}

/// Converts the spots of a successful search into one assignment per context.
///
/// `asked` has the position of each spot's event in its thread's list.
pub(crate) fn assignments(
    pmu: &Pmu,
    items: &[Item<'_>],
    spots: &[Spot],
    asked: &[usize],
) -> Vec<Assignment> {
    let mut result: Vec<Assignment> =
        (0..pmu.contexts).map(|context| Assignment { context, placements: Vec::new() }).collect();
    for ((item, spot), &event) in items.iter().zip(spots).zip(asked) {
        let alternative = &item.demand.alternatives[spot.alternative];
        result[usize::from(spot.context)].placements.push(Placement {
            event,
            name: Arc::clone(&item.demand.name),
            alternative: spot.alternative,
            counter: spot.counter,
            counter_use: if let Some(Counter::Fixed(_)) = spot.counter {
                CounterUse::One
            } else {
                alternative.counter_use
            },
            claims: alternative.claims.clone(),
            awake: None,
            counts_core: item.demand.counts_core,
        });
    }
    if pmu.shares_counters() && items.iter().any(|item| tags(item)) {
        keep_awake(pmu, items, spots, &mut result);
    }
    for assignment in &mut result {
        few::sort_by_key(&mut assignment.placements, |placement| placement.event);
    }
    result
}

fn tags(item: &Item<'_>) -> bool {
    item.demand.alternatives.iter().any(|alternative| !alternative.awake.is_empty())
}

/// Picks the counter that keeps each tagging ESCR working.
///
/// It prefers a counter that the same context enables for another event, then a free one, then a
/// sibling's. One of the three exists, because a counter that is not free is enabled.
fn keep_awake(pmu: &Pmu, items: &[Item<'_>], spots: &[Spot], result: &mut [Assignment]) {
    let mut enabled: Vec<CounterSet> = result.iter().map(Assignment::general).collect();
    for (item, spot) in items.iter().zip(spots) {
        let wanted = item.demand.alternatives[spot.alternative].awake;
        if wanted.is_empty() {
            continue;
        }
        let context = usize::from(spot.context);
        let taken = enabled.iter().copied().fold(CounterSet::EMPTY, CounterSet::or);
        let own = wanted.and(enabled[context]).lowest();
        let free = || wanted.minus(taken).and(pmu.general()).lowest();
        let Some(counter) = own.or_else(free).or(wanted.and(taken).lowest()) else { continue };
        if !taken.contains(counter) {
            enabled[context] = enabled[context].with(counter);
        }
        let tagging = |placement: &&mut Placement| {
            Arc::ptr_eq(&placement.name, &item.demand.name) && placement.awake.is_none()
        };
        if let Some(placement) = result[context].placements.iter_mut().find(tagging) {
            placement.awake = Some(Counter::General(counter));
        }
    }
}
