//! The allocator against an independent checker and against trying everything.

#[path = "allocation/checker.rs"]
mod checker;

use checker::{Rules, Wanted, fewest_sets, first, is_feasible, is_legal, puts_of};
use pacman_events::CounterSet;
use pacman_events::allocate::{
    Alternative, Claim, Conflict, CounterUse, EventConstraints, Pmu, Register, RegisterKind,
    SiblingErratum,
};
use pacman_events::encode::Scope;
use pacman_events::partition::Partition;
use proptest::prelude::*;

/// A random core and random lists of events for its contexts.
#[derive(Clone, Debug)]
struct Case {
    pmu: Pmu,
    rules: Rules,
    partition: Partition,
    lists: Vec<Vec<EventConstraints>>,
    excludes: Vec<Vec<bool>>,
}

impl Case {
    fn wanted(&self) -> Vec<(u8, usize, Wanted<'_>)> {
        let mut all = Vec::new();
        for (thread, list) in self.lists.iter().enumerate() {
            for (event, demand) in list.iter().enumerate() {
                let excludes = self.excludes[thread][event];
                let wanted = Wanted { demand, contexts: 1 << thread, excludes };
                all.push((thread as u8, event, wanted));
            }
        }
        all
    }

    fn feasible(&self, wanted: &[Wanted<'_>]) -> bool {
        is_feasible(&self.pmu, &self.rules, self.partition, wanted)
    }

    fn check_conflict(&self, conflict: &Conflict) {
        let of = |at: usize| {
            let event = &conflict.events()[at];
            let (thread, position) = (usize::from(event.thread()), event.event());
            assert_eq!(event.name(), self.lists[thread][position].name());
            let excludes = self.excludes[thread][position];
            let demand = &self.lists[thread][position];
            Wanted { demand, contexts: 1 << thread, excludes }
        };
        let set: Vec<Wanted<'_>> = (0..conflict.events().len()).map(of).collect();
        assert!(!self.feasible(&set), "the conflict's events fit: {conflict}");
        for left_out in 0..set.len() {
            let mut rest = set.clone();
            rest.remove(left_out);
            assert!(self.feasible(&rest), "not minimal: {conflict}");
        }
        // Small conflicts are the smallest: whatever is smaller fits.
        let all: Vec<Wanted<'_>> = self.wanted().into_iter().map(|(.., it)| it).collect();
        for a in 0..all.len() {
            assert!(set.len() < 2 || self.feasible(&[all[a]]), "{conflict}");
            for b in a + 1..all.len() {
                assert!(set.len() < 3 || self.feasible(&[all[a], all[b]]), "{conflict}");
            }
        }
        assert!(!conflict.reason().is_empty() && !conflict.remedy().is_empty());
    }
}

/// A handful of registers of every scope: four ESCRs in two halves, a register of the
/// core and one of the thread.
fn registers() -> [Register; 6] {
    [
        Register::escr(0x3a0, 0),
        Register::escr(0x3a1, 1),
        Register::escr(0x3a2, 0),
        Register::escr(0x3a3, 1),
        Register::msr(RegisterKind::OffcoreResponse, 0x1a6, Scope::Core),
        Register::msr(RegisterKind::Frontend, 0x3f7, Scope::Thread),
    ]
}

fn claims(shared: bool) -> impl Strategy<Value = Vec<Claim>> {
    let range = if shared { 0..6usize } else { 4..6usize };
    let most = if shared { 3 } else { 2 };
    proptest::collection::vec((range, 0..2u64), 0..most).prop_map(|list| {
        let mut claims: Vec<Claim> = Vec::new();
        for (at, value) in list {
            let register = registers()[at];
            // One way never wants two values of one register.
            if claims.iter().all(|claim| claim.register != register) {
                claims.push(Claim { register, value });
            }
        }
        claims
    })
}

fn alternative(shared: bool, contexts: u8) -> impl Strategy<Value = Alternative> {
    let general = 0..if shared { 64u64 } else { 16 };
    let fixed = prop_oneof![3 => Just(0u64), 1 => 1..4u64];
    let take = prop_oneof![8 => Just(CounterUse::One), 1 => Just(CounterUse::Pair), 1 => Just(CounterUse::Alone)];
    let on = prop_oneof![3 => Just(u8::MAX), 1 => 1..1u8 << contexts];
    (general, fixed, take, on, claims(shared)).prop_map(
        move |(general, fixed, take, contexts, claims)| Alternative {
            general: CounterSet::from_bits(general),
            fixed: CounterSet::from_bits(if shared { 0 } else { fixed }),
            counter_use: if shared { CounterUse::One } else { take },
            claims,
            contexts,
            ..Alternative::default()
        },
    )
}

fn demand(shared: bool, contexts: u8) -> impl Strategy<Value = (EventConstraints, bool)> {
    let alternatives = proptest::collection::vec(alternative(shared, contexts), 1..4);
    (alternatives, proptest::bool::weighted(0.3)).prop_map(|(alternatives, excludes)| {
        let demand = EventConstraints::new("event", alternatives);
        (if excludes { demand.excluding_sibling() } else { demand }, excludes)
    })
}

fn case(most: usize) -> impl Strategy<Value = Case> {
    let machine = (any::<bool>(), 1..3u8, 1..5u32, any::<Option<Option<bool>>>(), 0..4u8, 0..3u8);
    machine.prop_flat_map(move |(shared, contexts, general, erratum, reserved, partition)| {
        let pmu = if shared {
            let halves = [CounterSet::from_bits(0b010011), CounterSet::from_bits(0b101100)];
            Pmu::per_core("shared", contexts, halves)
        } else {
            Pmu::per_context("private", contexts, first(general)).with_fixed(first(2))
        };
        let erratum = if shared { None } else { erratum };
        let budget = erratum.map(|budget| budget.map(|_| (general / 2) as u8));
        let mut rules = Rules { erratum: budget, reserved: Vec::new() };
        let mut pmu = match budget {
            Some(budget) => pmu.with_erratum(SiblingErratum { name: "BJ122", budget }),
            None => pmu,
        };
        if reserved == 0 {
            let held = EventConstraints::new("the watchdog", [Alternative::general(pmu.general())]);
            rules.reserved.push((contexts - 1, held.clone()));
            pmu = pmu.reserving(contexts - 1, held, "stop the watchdog");
        }
        let partition = match partition {
            0 => Partition::Even,
            1 => Partition::ByDemand,
            _ => Partition::Whole { owner: contexts - 1 },
        };
        let list = proptest::collection::vec(demand(shared, contexts), 0..most);
        proptest::collection::vec(list, usize::from(contexts)).prop_map(move |lists| {
            let mut case = Case {
                pmu: pmu.clone(),
                rules: rules.clone(),
                partition,
                lists: Vec::new(),
                excludes: Vec::new(),
            };
            for list in lists {
                let (demands, excludes) = list.into_iter().unzip();
                case.lists.push(demands);
                case.excludes.push(excludes);
            }
            case
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_is_legal_and_a_refusal_is_right_and_minimal(case in case(5)) {
        let wanted: Vec<_> = case.wanted().into_iter().map(|(_, _, wanted)| wanted).collect();
        match case.partition.plan(&case.pmu, &case.lists) {
            Ok(plan) => {
                let placed: usize =
                    plan.contexts().iter().map(|own| own.placements().len()).sum();
                prop_assert_eq!(placed, wanted.len());
                let answers = puts_of(plan.contexts(), &case.lists, &case.rules, false, |t, e| {
                    case.excludes[t][e]
                });
                let legal = |puts: &Vec<_>| is_legal(&case.pmu, &case.rules, case.partition, puts);
                prop_assert!(answers.iter().any(legal), "{}", plan.contexts()[0]);
            }
            Err(conflict) => {
                prop_assert!(!case.feasible(&wanted), "refused although it fits: {}", conflict);
                case.check_conflict(&conflict);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sets_are_legal_complete_and_as_few_as_trying_everything_finds(case in case(4)) {
        let wanted: Vec<_> = case.wanted().into_iter().map(|(_, _, wanted)| wanted).collect();
        match case.partition.sets(&case.pmu, &case.lists) {
            Ok(schedule) => {
                prop_assert!(schedule.is_fewest());
                let least = fewest_sets(&case.pmu, &case.rules, case.partition, &wanted);
                prop_assert_eq!(schedule.sets().len(), least);
                let mut seen = Vec::new();
                for set in schedule.sets() {
                    let answers = puts_of(set.contexts(), &case.lists, &case.rules, false, |t, e| {
                        case.excludes[t][e]
                    });
                    let legal =
                        |puts: &Vec<_>| is_legal(&case.pmu, &case.rules, case.partition, puts);
                    prop_assert!(answers.iter().any(legal));
                    for own in set.contexts() {
                        seen.extend(own.placements().iter().map(|it| (own.context(), it.event())));
                    }
                }
                seen.sort_unstable();
                let asked: Vec<_> =
                    case.wanted().iter().map(|(thread, event, _)| (*thread, *event)).collect();
                prop_assert_eq!(seen, asked);
            }
            Err(conflict) => {
                prop_assert_eq!(conflict.events().len(), 1);
                case.check_conflict(&conflict);
            }
        }
    }

    #[test]
    fn spread_events_use_the_fewest_sets_over_all_contexts(case in case(6)) {
        let events = &case.lists[0];
        let anywhere = (1u8 << case.pmu.contexts()) - 1;
        let wanted: Vec<_> = events
            .iter()
            .zip(&case.excludes[0])
            .map(|(demand, excludes)| Wanted { demand, contexts: anywhere, excludes: *excludes })
            .collect();
        match case.partition.spread(&case.pmu, events) {
            Ok(schedule) => {
                let least = fewest_sets(&case.pmu, &case.rules, case.partition, &wanted);
                prop_assert!(schedule.is_fewest());
                prop_assert_eq!(schedule.sets().len(), least);
                let mut seen = Vec::new();
                for set in schedule.sets() {
                    let answers = puts_of(set.contexts(), &case.lists, &case.rules, true, |_, e| {
                        case.excludes[0][e]
                    });
                    let legal =
                        |puts: &Vec<_>| is_legal(&case.pmu, &case.rules, case.partition, puts);
                    prop_assert!(answers.iter().any(legal));
                    let own = set.contexts().iter().flat_map(|own| own.placements());
                    seen.extend(own.map(|placement| placement.event()));
                }
                seen.sort_unstable();
                prop_assert_eq!(seen, (0..events.len()).collect::<Vec<_>>());
            }
            Err(conflict) => {
                prop_assert_eq!(conflict.events().len(), 1);
                let only = [wanted[conflict.events()[0].event()]];
                prop_assert!(!case.feasible(&only));
            }
        }
    }
}

/// The generators must not drift into cases that are all feasible or all refused.
#[test]
fn random_cases_are_of_both_kinds() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let strategy = case(5);
    let (mut planned, mut refused, mut many) = (0, 0, 0);
    for _ in 0..400 {
        let case = strategy.new_tree(&mut runner).unwrap().current();
        match case.partition.plan(&case.pmu, &case.lists) {
            Ok(plan) => {
                let events: usize = plan.contexts().iter().map(|it| it.placements().len()).sum();
                planned += usize::from(events > 2);
            }
            Err(conflict) => {
                refused += 1;
                many += usize::from(conflict.events().len() > 1);
            }
        }
    }
    assert!(planned > 40 && refused > 100 && many > 40, "{planned} {refused} {many}");
}
