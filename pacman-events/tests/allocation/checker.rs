//! The rules of allocation, written a second time from the rules and by trying everything; it
//! shares no code with the allocator.

use std::collections::HashMap;

use pacman_events::CounterSet;
use pacman_events::allocate::{
    Alternative, Assignment, Counter, CounterUse, EventConstraints, Pmu, Register,
};
use pacman_events::partition::Partition;

/// The rules that a [`Pmu`] does not contain.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    /// `Some` with the erratum; inside, the budget of general counters per context.
    pub(crate) erratum: Option<Option<u8>>,
    /// The events of others, by context.
    pub(crate) reserved: Vec<(u8, EventConstraints)>,
}

/// One event that was put somewhere.
#[derive(Clone, Debug)]
pub(crate) struct Put<'a> {
    pub(crate) context: u8,
    pub(crate) alternative: &'a Alternative,
    pub(crate) counter: Option<Counter>,
    pub(crate) reserved: bool,
    pub(crate) excludes: bool,
}

/// Whether everything may run at once.
pub(crate) fn is_legal(pmu: &Pmu, rules: &Rules, partition: Partition, puts: &[Put<'_>]) -> bool {
    let own = |put: &Put<'_>| is_allowed(pmu, partition, put);
    puts.iter().all(own)
        && counters_are_distinct(pmu, puts)
        && registers_agree(puts)
        && erratum_is_kept(pmu, rules, puts)
}

/// The rules that concern one event alone.
fn is_allowed(pmu: &Pmu, partition: Partition, put: &Put<'_>) -> bool {
    let Put { alternative, context, .. } = put;
    if alternative.contexts >> context & 1 == 0 {
        return false;
    }
    let counter = match put.counter {
        None => alternative.general.is_empty() && alternative.fixed.is_empty(),
        Some(Counter::General(n)) => alternative.general.contains(n) && pmu.general().contains(n),
        Some(Counter::Fixed(n)) => alternative.fixed.contains(n) && pmu.fixed().contains(n),
    };
    let pair = match (alternative.counter_use, put.counter) {
        (CounterUse::Pair, Some(Counter::General(n))) => {
            n % 2 == 0 && pmu.general().contains(n + 1)
        }
        _ => true,
    };
    let share = put.reserved
        || match (partition, pmu.halves()) {
            (Partition::Whole { owner }, _) => owner == *context,
            (Partition::Even, Some(halves)) if pmu.contexts() > 1 => {
                let half = halves[usize::from(*context)];
                let general = match put.counter {
                    Some(Counter::General(n)) => half.contains(n),
                    _ => true,
                };
                general
                    && alternative
                        .claims
                        .iter()
                        .all(|it| it.register.half().is_none_or(|h| h == *context))
            }
            _ => true,
        };
    counter && pair && share
}

fn slots_of(pmu: &Pmu, put: &Put<'_>) -> Vec<Counter> {
    match (put.alternative.counter_use, put.counter) {
        (_, None) => vec![],
        (CounterUse::Pair, Some(Counter::General(n))) => {
            vec![Counter::General(n), Counter::General(n + 1)]
        }
        (CounterUse::Alone, Some(Counter::General(_))) => {
            pmu.general().iter().map(Counter::General).collect()
        }
        (_, Some(counter)) => vec![counter],
    }
}

fn counters_are_distinct(pmu: &Pmu, puts: &[Put<'_>]) -> bool {
    let mut seen = Vec::new();
    puts.iter().all(|put| {
        let owner = if pmu.shares_counters() { 0 } else { put.context };
        slots_of(pmu, put).into_iter().all(|counter| {
            let fresh = !seen.contains(&(owner, counter));
            seen.push((owner, counter));
            fresh
        })
    })
}

fn registers_agree(puts: &[Put<'_>]) -> bool {
    let mut values: HashMap<(Register, Option<u8>), u64> = HashMap::new();
    puts.iter().all(|put| {
        put.alternative.claims.iter().all(|claim| {
            let owner = if claim.register.is_shared() { None } else { Some(put.context) };
            *values.entry((claim.register, owner)).or_insert(claim.value) == claim.value
        })
    })
}

fn erratum_is_kept(pmu: &Pmu, rules: &Rules, puts: &[Put<'_>]) -> bool {
    let Some(budget) = rules.erratum else { return true };
    if pmu.contexts() == 1 || !puts.iter().any(|put| put.excludes) {
        return true;
    }
    let general = |put: &Put<'_>| matches!(put.counter, Some(Counter::General(_)));
    let closed = puts.iter().filter(|put| put.excludes && general(put)).all(|put| {
        puts.iter()
            .filter(|other| other.context != put.context)
            .all(|other| !slots_of(pmu, other).contains(&put.counter.unwrap()))
    });
    let within = budget.is_none_or(|budget| {
        (0..pmu.contexts()).all(|context| {
            let used = puts.iter().filter(|put| put.context == context && general(put)).count();
            used <= usize::from(budget)
        })
    });
    closed && within
}

/// An event with the contexts that may host it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) demand: &'a EventConstraints,
    pub(crate) contexts: u8,
    pub(crate) excludes: bool,
}

/// Tries every way, context and counter of every event.
pub(crate) fn is_feasible(
    pmu: &Pmu,
    rules: &Rules,
    partition: Partition,
    wanted: &[Wanted<'_>],
) -> bool {
    let mut all: Vec<(Wanted<'_>, bool)> = rules
        .reserved
        .iter()
        .map(|(context, demand)| (Wanted { demand, contexts: 1 << context, excludes: false }, true))
        .collect();
    all.extend(wanted.iter().map(|it| (*it, false)));
    search(pmu, rules, partition, &all, &mut Vec::new())
}

fn search<'a>(
    pmu: &Pmu,
    rules: &Rules,
    partition: Partition,
    open: &[(Wanted<'a>, bool)],
    puts: &mut Vec<Put<'a>>,
) -> bool {
    let Some(((wanted, reserved), rest)) = open.split_first() else { return true };
    for context in (0..pmu.contexts()).filter(|context| wanted.contexts >> context & 1 == 1) {
        for alternative in wanted.demand.alternatives() {
            for counter in candidates(alternative) {
                puts.push(Put {
                    context,
                    alternative,
                    counter,
                    reserved: *reserved,
                    excludes: wanted.excludes,
                });
                // A partial placement that is illegal stays so, except that the
                // budget starts to bind only with an excluding event; it only tightens.
                if is_legal(pmu, rules, partition, puts)
                    && search(pmu, rules, partition, rest, puts)
                {
                    puts.pop();
                    return true;
                }
                puts.pop();
            }
        }
    }
    false
}

fn candidates(alternative: &Alternative) -> Vec<Option<Counter>> {
    if alternative.general.is_empty() && alternative.fixed.is_empty() {
        return vec![None];
    }
    let general = alternative.general.iter().map(|n| Some(Counter::General(n)));
    general.chain(alternative.fixed.iter().map(|n| Some(Counter::Fixed(n)))).collect()
}

/// The fewest feasible classes that the events divide into.
pub(crate) fn fewest_sets(
    pmu: &Pmu,
    rules: &Rules,
    partition: Partition,
    wanted: &[Wanted<'_>],
) -> usize {
    let count = wanted.len();
    let fits: Vec<bool> = (0..1usize << count)
        .map(|set| {
            let members: Vec<Wanted<'_>> =
                (0..count).filter(|at| set >> at & 1 == 1).map(|at| wanted[at]).collect();
            is_feasible(pmu, rules, partition, &members)
        })
        .collect();
    let mut least = vec![usize::MAX; 1 << count];
    least[0] = 0;
    for set in 1..1usize << count {
        let mut part = set;
        while part != 0 {
            if fits[part] && least[set & !part] != usize::MAX {
                least[set] = least[set].min(least[set & !part] + 1);
            }
            part = (part - 1) & set;
        }
    }
    least[(1 << count) - 1]
}

/// An allocator's result, in the checker's terms. `excludes` is a predicate of an
/// event's thread and position.
pub(crate) fn puts_of<'a>(
    contexts: &[Assignment],
    lists: &'a [Vec<EventConstraints>],
    rules: &'a Rules,
    shared_list: bool,
    excludes: impl Fn(usize, usize) -> bool,
) -> Vec<Vec<Put<'a>>> {
    let mut answers = vec![Vec::new()];
    for assignment in contexts {
        for placement in assignment.placements() {
            let thread = if shared_list { 0 } else { usize::from(assignment.context()) };
            let demand = &lists[thread][placement.event()];
            answers[0].push(Put {
                context: assignment.context(),
                alternative: &demand.alternatives()[placement.alternative()],
                counter: placement.counter(),
                reserved: false,
                excludes: excludes(thread, placement.event()),
            });
            assert_eq!(placement.claims(), demand.alternatives()[placement.alternative()].claims);
        }
    }
    // The result leaves the places of reserved events open: any valid places will do.
    for (context, demand) in &rules.reserved {
        let mut more = Vec::new();
        for answer in &answers {
            for alternative in demand.alternatives() {
                for counter in candidates(alternative) {
                    let mut longer = answer.clone();
                    longer.push(Put {
                        context: *context,
                        alternative,
                        counter,
                        reserved: true,
                        excludes: false,
                    });
                    more.push(longer);
                }
            }
        }
        answers = more;
    }
    answers
}

/// All counters below `n`, for short.
pub(crate) fn first(n: u32) -> CounterSet {
    CounterSet::first(n)
}
