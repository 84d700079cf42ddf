//! The events of each generation, and the use of their counts.

use pacman_core::Event;
use pacman_events::CpuModel;
use pacman_metrics::ErrorKind;
use pacman_metrics::smt::{Clocks, ContextReading, Crystal, Method, Recipe};

const CRYSTAL: Option<Crystal> = Some(Crystal { numerator: 168, denominator: 2 });

fn recipes(cpu: &str, base_hz: f64) -> Vec<Recipe> {
    let clocks = Clocks { base_hz, crystal: CRYSTAL };
    Recipe::all(CpuModel::named(cpu).unwrap(), clocks).unwrap()
}

fn contexts(end: u64, counts: &[u64]) -> Vec<ContextReading> {
    let context = |&reference| ContextReading { begin: 0, end, slack: 0, reference };
    counts.iter().map(context).collect()
}

#[test]
fn every_generation_has_its_events() {
    let own = "REF_CYCLES:uk";
    for (cpu, method, first, others) in [
        ("nhm-ep", Method::AnyThread, "REF_CYCLES:uk,CPU_CLK_UNHALTED.REF_P:uk:any", own),
        ("hsw", Method::AnyThread, "REF_CYCLES:uk,CPU_CLK_THREAD_UNHALTED.REF_XCLK_ANY:uk", own),
        ("skx", Method::AnyThread, "REF_CYCLES:uk,CPU_CLK_UNHALTED.REF_XCLK_ANY:uk", own),
        ("knl", Method::AnyThread, "CPU_CLK_UNHALTED.REF:uk,CPU_CLK_UNHALTED.REF_TSC:uk:any", own),
        (
            "icx",
            Method::Distributed,
            "REF_CYCLES:uk,CPU_CLK_UNHALTED.REF_DISTRIBUTED:uk",
            "REF_CYCLES:uk,CPU_CLK_UNHALTED.REF_DISTRIBUTED:uk",
        ),
    ] {
        let recipes = recipes(cpu, 2.1e9);
        let events = [0, 1].map(|context| recipes[0].events(context));
        assert_eq!((recipes[0].method(), events), (method, [first, others].map(String::from)));
        let second = recipes.get(1).map(|recipe| (recipe.method(), recipe.events(1)));
        // Sandy Bridge has it first, and Knights Landing's cores have no one sibling.
        let alone = "REF_CYCLES:uk,CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE:uk".to_string();
        let has = !["nhm-ep", "knl"].contains(&cpu);
        assert_eq!(second, has.then_some((Method::OneThreadActive, alone)), "{cpu}");
    }
}

/// Each event of each recipe exists on its model, both rings included.
#[test]
fn every_event_of_every_recipe_can_be_counted() {
    let mut found = 0;
    for cpu in CpuModel::all() {
        let Ok(recipes) = Recipe::all(cpu, Clocks { base_hz: 2.1e9, crystal: CRYSTAL }) else {
            continue;
        };
        for recipe in &recipes {
            for context in 0..usize::from(cpu.facts().smt_ways) {
                let events = Event::parse_list_on(cpu, &recipe.events(context));
                let events = events.unwrap_or_else(|error| panic!("{cpu}: {error}"));
                assert_eq!(events.len(), 1 + usize::from(recipe.tells_of_core(context)), "{cpu}");
            }
            found += 1;
        }
    }
    assert!(found >= 40, "{found} recipes");
}

/// A second on Knights Landing at 1.4 GHz: a half none, a quarter the first alone, an eighth
/// the second alone, an eighth both. The first counts ticks of the bus, 14 of the TSC each.
#[test]
fn the_first_of_knights_landing_counts_another_clock() {
    let recipe = &recipes("knl", 1.4e9)[0];
    assert_eq!((recipe.own_ticks(0), recipe.own_ticks(1)), (14.0, 1.0));
    let read = contexts(1_400_000_000, &[37_500_000, 350_000_000, 0, 0]);
    let split = recipe.split(&read, &[700_000_000]).unwrap();
    assert_eq!((split.idle, split.only[2], split.only[3]), (7e8, 0.0, 0.0));
    assert_eq!((split.only[0], split.only[1], split.shared), (3.5e8, 1.75e8, 1.75e8));
    assert_eq!(split.uncertainty, 4.0 * (14.0 + 1.0));
}

#[test]
fn every_method_gives_the_same_split() {
    // A second at 2.1 GHz: only the first for 0.3, only the second for 0.1, both for 0.2.
    let read = contexts(2_100_000_000, &[1_050_000_000, 630_000_000]);
    let [any, alone] = &recipes("skx", 2.1e9)[..] else { panic!("two methods") };
    let by_any = any.split(&read, &[15_000_000]).unwrap();
    let by_alone = alone.split(&read, &[7_500_000, 2_500_000]).unwrap();
    let by_share = recipes("icx", 2.1e9)[0].split(&read, &[10_000_000, 5_000_000]).unwrap();
    for split in [by_any, by_alone, by_share] {
        let states = [split.idle, split.only[0], split.only[1], split.shared];
        let shares = states.map(|state| (split.share(state) * 1e9).round() / 1e9);
        assert_eq!(shares, [0.4, 0.3, 0.1, 0.2], "{}", split.method);
    }
}

#[test]
fn counts_that_do_not_fit_are_refused() {
    let read = contexts(2_100_000_000, &[1, 1]);
    let recipes = recipes("skx", 2.1e9);
    for (recipe, core) in [(&recipes[0], &[1, 2][..]), (&recipes[0], &[]), (&recipes[1], &[1])] {
        let error = recipe.split(&read, core).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotComputable);
        assert!(error.to_string().contains("counts do not make"), "{error}");
    }
    // All bits of a count that ran backwards.
    let error = recipes[0].split(&contexts(2_100_000_000, &[u64::MAX, 1]), &[1]).unwrap_err();
    assert!(error.to_string().contains("the counter wrapped"), "{error}");
}
